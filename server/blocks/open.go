package blocks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/disk"
)

const (
	headerName  = "header"
	newName     = "header.new" // a header file that is not finished
	blocksName  = "blocks"
	indexPrefix = "index-"
)

func indexName(checkpoint uint64) string { return fmt.Sprintf("%s%016x", indexPrefix, checkpoint) }

// Loaded is the checkpoint with which a Store begins.
type Loaded struct {
	Moment
	// State is what Begin was given, read to its end.
	State []byte
	// Versions calls yield with every version of the checkpoint, in order of
	// blocks and for a block of from, and with its size in bytes; it ends
	// with the first error and returns it. It is to be called before the
	// first Put.
	Versions func(yield func(block occ.BlockID, from occ.Timestamp, size int) error) error
}

// Open opens the store on a disk with its last checkpoint, or creates a store
// if the disk has no file of one; loaded is nil if there is no checkpoint yet.
// Nobody else may use the disk. Files that a crash has left are removed.
//
// Errors: *OptionsError, *CorruptError, *VersionError, *OwnerError, *IOError, and
// that of Options.Accept. After an error other than *IOError nothing has been
// changed, and after that one nothing that a store needs.
func Open(d disk.Disk, o Options) (s *Store, loaded *Loaded, err error) {
	if o, err = o.withDefaults(); err != nil {
		return nil, nil, err
	}
	s = newStore(d, o)
	names, err := s.list()
	created := err == nil && !slices.Contains(names, headerName)
	if created {
		if err = s.create(names); err == nil {
			names, err = s.list()
		}
	}
	if err != nil {
		return nil, nil, err
	}
	header, state, err := s.load(names)
	err = s.placed(err)
	if err == nil && header.Checkpoint > 0 {
		loaded = &Loaded{Moment: Moment{LogIndex: header.LogIndex, Stable: header.Stable}, State: state, Versions: s.versions}
	}
	if err == nil && !created {
		err = s.accept(loaded, true)
	}
	if err == nil {
		err = s.takeOver(header, names)
	}
	if err != nil {
		s.closeFiles()
		return nil, nil, err
	}
	return s, loaded, nil
}

func (s *Store) versions(yield func(occ.BlockID, occ.Timestamp, int) error) error {
	return s.all(func(v layout.Version) error { return yield(v.Block, v.From, int(v.Size)) })
}

func (s *Store) list() ([]string, error) {
	names, err := s.disk.List()
	if err != nil {
		return nil, &IOError{Op: "list", File: "the directory", Cause: err}
	}
	return names, nil
}

// create makes the files of an empty store, which is there once the header
// file has its name; takeOver makes that durable. It begins with checkpoint 0,
// which is like any other, so that the loss of the first header is noticed like
// that of a later one.
func (s *Store) create(names []string) error {
	if err := s.vacant(names); err != nil {
		return s.placed(err)
	}
	if err := s.accept(nil, false); err != nil {
		return err
	}
	w := layout.NewIndexWriter(s.owner, 0)
	w.End()
	header := layout.Header{Owner: s.owner, IndexBytes: uint64(len(w.Bytes)), IndexCRC: layout.Checksum(0, w.Bytes)}
	for _, f := range []struct {
		name    string
		content []byte
	}{
		{indexName(0), w.Bytes},
		{blocksName, layout.EncodeBlocksPage(s.owner)},
		{newName, append(header.Encode(), make([]byte, layout.PageSize)...)},
	} {
		if err := s.createFile(f.name, f.content); err != nil {
			return err
		}
	}
	if err := s.syncDir(); err != nil {
		return err
	}
	if err := s.disk.Rename(newName, headerName); err != nil {
		return &IOError{Op: "rename", File: newName, Cause: err}
	}
	return nil
}

// accept asks the caller whether to go on with what was found.
func (s *Store) accept(found *Loaded, exists bool) error {
	if s.opts.Accept == nil {
		return nil
	}
	return s.opts.Accept(found, exists)
}

// vacant checks that what is there without a header file is no more than what a
// crash leaves of create.
func (s *Store) vacant(names []string) error {
	for _, name := range names {
		if strings.HasPrefix(name, indexPrefix) && name != indexName(0) {
			return &CorruptError{File: headerName, Reason: "the file is missing, but there is " + name}
		}
	}
	if !slices.Contains(names, blocksName) {
		return nil
	}
	f, size, err := s.openSized(blocksName)
	if err != nil {
		return err
	}
	defer f.Close()
	if size > layout.PageSize {
		return &CorruptError{File: headerName, Reason: fmt.Sprintf("the file is missing, but there is a block file of %d bytes", size)}
	}
	return nil
}

// createFile makes a file with this content, whatever there was.
func (s *Store) createFile(name string, content []byte) error {
	f, err := s.disk.Open(name)
	if err != nil {
		return &IOError{Op: "create", File: name, Cause: err}
	}
	defer f.Close()
	if err := f.Truncate(0); err != nil {
		return &IOError{Op: "truncate", File: name, Cause: err}
	}
	out := output{file: f, name: name}
	if err := out.write(content, 0); err != nil {
		return err
	}
	return out.sync()
}

// takeOver makes the checkpoint that was loaded the only one. The header is
// written again: it may have been read from the machine's memory although a
// sync of it has failed. It does not change, so a crash does it no harm.
func (s *Store) takeOver(h layout.Header, names []string) error {
	out := output{file: s.header, name: headerName}
	if err := out.write(h.Encode(), layout.HeaderOffset(h.Checkpoint)); err != nil {
		return err
	}
	if err := out.sync(); err != nil {
		return err
	}
	for _, name := range names {
		if name != newName && (!strings.HasPrefix(name, indexPrefix) || name == indexName(h.Checkpoint)) {
			continue
		}
		if err := s.disk.Remove(name); err != nil {
			return &IOError{Op: "remove", File: name, Cause: err}
		}
	}
	if err := s.syncDir(); err != nil {
		return err
	}
	if err := s.blocks.file.Truncate(s.owner.SlotOffset(s.mu.space.total)); err != nil {
		return &IOError{Op: "truncate", File: blocksName, Cause: err}
	}
	return nil
}

// closeFiles closes what is open after an error, which says enough.
func (s *Store) closeFiles() {
	for _, f := range []disk.File{s.header, s.blocks.file} {
		if f != nil {
			f.Close()
		}
	}
}
