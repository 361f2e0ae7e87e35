package blockdir

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks/layout"
)

// The names of the files; see package blocks.
const (
	headerName  = "header"
	newName     = "header.new"
	blocksName  = "blocks"
	indexPrefix = "index-"
)

// Damage says that something in a file is not as it was written.
type Damage struct {
	File   string // its path
	Offset int64
	// Block and From name the version whose data are damaged, From is 0 if the
	// damage is to no version's data.
	Block  occ.BlockID
	From   occ.Timestamp
	Reason string
}

// Error returns one line.
func (e *Damage) Error() string { return fmt.Sprintf("%s, offset %d: %s", e.File, e.Offset, e.Reason) }

// VersionError says that a file has a format version that this program does
// not know.
type VersionError struct {
	File    string // its path
	Version uint32
}

// Error returns one line.
func (e *VersionError) Error() string {
	return fmt.Sprintf("block store has format version %d, this program knows %d: %s", e.Version, layout.FormatVersion, e.File)
}

// HeaderSlot is one of the two slots of the header file.
type HeaderSlot struct {
	Offset int64
	// Header is what it says, if it is neither Empty nor damaged.
	Header layout.Header
	Empty  bool // it was never written
	Damage *Damage
	// Foreign says that the damage is that it belongs to somebody else.
	Foreign bool
}

// Whole says that the slot holds a header.
func (h *HeaderSlot) Whole() bool { return !h.Empty && h.Damage == nil }

// Dir is a directory that was looked at. Close it.
type Dir struct {
	path  string
	files fs.FS
	// Owner is whose files these are: the one asked for, or, if that was the
	// zero Owner, the one that the first whole head names, if any does.
	Owner layout.Owner
	// Headers are the slots of the header file, none if it is missing.
	Headers []HeaderSlot
	// Indexes are the numbers of the checkpoints that have an index file,
	// highest first.
	Indexes []uint64
	// BlocksBytes is the size of the block file, IndexBytes that of all index
	// files.
	BlocksBytes, IndexBytes int64
	// BlocksPage says what is wrong with the first page of the block file, or
	// that there is no such file. Foreign says that it is somebody else's: it
	// has no data of this store.
	BlocksPage *Damage
	Foreign    bool
	// Unfinished says that there is a header file that was not finished.
	Unfinished bool

	blocks file   // nil if it is missing
	buf    []byte // a slot
}

// file is what the files of an FS must be.
type file interface {
	fs.File
	io.ReaderAt
}

// files are those of a directory; unlike those of os.DirFS, errors about them
// have the whole path.
type files string

func (dir files) Open(name string) (fs.File, error) { return os.Open(filepath.Join(string(dir), name)) }

// Open looks at the directory at path. owner is whose it should be; files of
// somebody else are damaged; the zero Owner takes any. Errors are a
// *VersionError, fs.ErrNotExist for a missing directory, and others of the
// operating system.
func Open(path string, owner layout.Owner) (*Dir, error) {
	return OpenFS(files(path), path, owner)
}

// OpenFS is Open for the files at the root of fsys, each of which must be an
// io.ReaderAt. What is said of them says that they are at path.
func OpenFS(fsys fs.FS, path string, owner layout.Owner) (*Dir, error) {
	d := &Dir{path: path, files: fsys, Owner: owner}
	if err := d.open(); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// Close closes the block file.
func (d *Dir) Close() error {
	if d.blocks == nil {
		return nil
	}
	return d.blocks.Close()
}

func (d *Dir) open() error {
	entries, err := fs.ReadDir(d.files, ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		name := e.Name()
		number, ok := indexNumber(name)
		switch {
		case !info.Mode().IsRegular():
		case ok:
			d.Indexes = append(d.Indexes, number)
			d.IndexBytes += info.Size()
		case name == newName:
			d.Unfinished = true
		case name == headerName:
			err = d.readHeaders()
		case name == blocksName:
			d.BlocksBytes = info.Size()
			d.blocks, err = d.openFile(blocksName)
		}
		if err != nil {
			return err
		}
	}
	slices.SortFunc(d.Indexes, func(a, b uint64) int { return cmp.Compare(b, a) })
	return d.readBlocksPage()
}

func (d *Dir) openFile(name string) (file, error) {
	f, err := d.files.Open(name)
	if err != nil {
		return nil, err
	}
	return f.(file), nil
}

// indexNumber takes the number of a checkpoint from the name of its index file.
func indexNumber(name string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, indexPrefix)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	return n, err == nil && name == indexName(n)
}

func indexName(checkpoint uint64) string { return fmt.Sprintf("%s%016x", indexPrefix, checkpoint) }

// HeaderPath is the path of the header file.
func (d *Dir) HeaderPath() string { return filepath.Join(d.path, headerName) }

// BlocksPath is the path of the block file.
func (d *Dir) BlocksPath() string { return filepath.Join(d.path, blocksName) }

// IndexPath is the path of the index file of a checkpoint.
func (d *Dir) IndexPath(checkpoint uint64) string {
	return filepath.Join(d.path, indexName(checkpoint))
}

// Empty says that there is nothing yet, or what a crash leaves while a store
// is created: a server creates it.
func (d *Dir) Empty() bool {
	return d.Headers == nil && d.BlocksBytes <= layout.PageSize && (len(d.Indexes) == 0 || d.Indexes[0] == 0)
}

// readHeaders reads the two slots of the header file.
func (d *Dir) readHeaders() error {
	f, err := d.openFile(headerName)
	if err != nil {
		return err
	}
	defer f.Close()
	d.Headers = []HeaderSlot{} // there is the file
	page := make([]byte, layout.PageSize)
	for at := int64(0); at < layout.HeaderFileSize; at += layout.PageSize {
		slot := HeaderSlot{Offset: at}
		n, err := f.ReadAt(page, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if n == len(page) && bytes.Count(page, []byte{0}) == len(page) {
			slot.Empty = true
		} else if slot.Header, err = layout.DecodeHeader(page[:n]); err == nil {
			slot.Foreign = !d.owns(slot.Header.Owner)
			err = slot.misplaced(at)
		}
		if !slot.Empty && err != nil {
			if slot.Damage, err = located(d.HeaderPath(), at, err); err != nil {
				return err
			}
		}
		d.Headers = append(d.Headers, slot)
	}
	return nil
}

func (h *HeaderSlot) misplaced(at int64) error {
	switch {
	case h.Foreign:
		return foreign(h.Header.Owner)
	case layout.HeaderOffset(h.Header.Checkpoint) != at:
		return &layout.Damage{Reason: fmt.Sprintf("the place is not that of checkpoint %d", h.Header.Checkpoint)}
	}
	return nil
}

func foreign(o layout.Owner) error {
	return &layout.Damage{Reason: fmt.Sprintf("it belongs to store %v with blocks of %d bytes", o.Store, o.BlockSize)}
}

// owns reports whether a file of o belongs here.
func (d *Dir) owns(o layout.Owner) bool {
	if d.Owner == (layout.Owner{}) {
		d.Owner = o
	}
	return o == d.Owner
}

func (d *Dir) readBlocksPage() error {
	if d.blocks == nil {
		d.BlocksPage = &Damage{File: d.BlocksPath(), Reason: "the file is missing"}
		return nil
	}
	page := make([]byte, layout.PageSize)
	n, err := d.blocks.ReadAt(page, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	owner, err := layout.DecodeBlocksPage(page[:n])
	if err == nil && !d.owns(owner) {
		d.Foreign, err = true, foreign(owner)
	}
	if err != nil {
		d.BlocksPage, err = located(d.BlocksPath(), 0, err)
	}
	return err
}

// located gives an error of package layout its place, if it is damage. Any
// other error comes back as an error.
func located(path string, at int64, err error) (*Damage, error) {
	var damage *layout.Damage
	var version *layout.VersionError
	switch {
	case errors.As(err, &damage):
		return &Damage{File: path, Offset: at + damage.Offset, Reason: damage.Reason}, nil
	case errors.As(err, &version):
		return nil, &VersionError{File: path, Version: version.Version}
	}
	return nil, err
}
