package restore

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tidemark/tidemark/backup"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/storedir"
)

const dirPerm = 0o750

var (
	// ErrExists: there is something where the directory was to be.
	ErrExists = errors.New("it exists already; restore makes a new directory")
	// ErrEpoch: the epochs of the store are used up.
	ErrEpoch = errors.New("the store was restored too often: its epochs are used up")
)

// DirError says which directory could not be made and why. Its cause is one of
// the errors above, one of package backup about what was read, of blocks or
// storedir about what was written, or of the operating system.
type DirError struct {
	Dir   string
	Cause error
}

// Error returns one line.
func (e *DirError) Error() string { return fmt.Sprintf("restoring to %s: %v", e.Dir, e.Cause) }

// Unwrap returns the cause.
func (e *DirError) Unwrap() error { return e.Cause }

// Options of Directory; the zero value works.
type Options struct {
	// Progress is called every now and then with how much of the backups has
	// been read.
	Progress func(fileBytes int64)
	// Wrap, if set, stands between the block store and its disk.
	Wrap func(disk.Disk) disk.Disk
}

// Result is what was restored.
type Result struct {
	Store     occ.StoreID
	At        occ.Timestamp
	Epoch     uint64
	Blocks    uint64
	DataBytes uint64
}

// Directory makes the data directory at path, which must not exist, of what the
// backups say together. Until everything is durable it has another name
// beside it, under which it is no store either; that is removed when Directory
// fails, but stays behind when the process or the machine fails. Only if the last
// step fails, which makes its name durable, there is a directory after an error:
// a whole one. Every error is a *DirError.
func Directory(ctx context.Context, path string, chain *backup.Chain, o Options) (Result, error) {
	r, err := directory(ctx, filepath.Clean(path), chain, o, osSteps())
	if err != nil {
		return Result{}, &DirError{path, err}
	}
	return r, nil
}

func directory(ctx context.Context, path string, chain *backup.Chain, o Options, do steps) (Result, error) {
	h := chain.Header()
	epoch, err := laterEpoch(h.Epoch)
	if err != nil {
		return Result{}, err
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = ErrExists
		}
		return Result{}, err
	}
	parent, name := filepath.Split(path)
	if parent == "" {
		parent = "."
	}
	temp, err := os.MkdirTemp(parent, name+".restore-*")
	if err != nil {
		return Result{}, err
	}
	r, err := fill(ctx, temp, epoch, chain, o, do)
	if err == nil {
		err = do.rename(temp, path)
	}
	if err != nil {
		return Result{}, errors.Join(err, os.RemoveAll(temp))
	}
	return r, do.syncDir(parent)
}

// laterEpoch returns the epoch of a store restored from one in that epoch.
func laterEpoch(epoch uint64) (uint64, error) {
	var b [2]byte
	rand.Read(b[:]) // never fails
	next, ok := occ.NextGeneration(epoch, binary.LittleEndian.Uint16(b[:]))
	if !ok {
		return 0, ErrEpoch
	}
	return next, nil
}

// fill makes a store of the empty directory at path. The store file comes last:
// what has none is no store.
func fill(ctx context.Context, path string, epoch uint64, chain *backup.Chain, o Options, do steps) (Result, error) {
	if err := os.Chmod(path, dirPerm); err != nil {
		return Result{}, err
	}
	if err := os.Mkdir(storedir.BlocksPath(path), dirPerm); err != nil {
		return Result{}, err
	}
	d := disk.OS(storedir.BlocksPath(path))
	if o.Wrap != nil {
		d = o.Wrap(d)
	}
	r, err := Blocks(ctx, d, epoch, chain, o)
	if err != nil {
		return Result{}, err
	}
	first := record.Append(nil, record.Group{Records: []record.Record{&record.Epoch{Epoch: epoch}}})
	if err := do.log(storedir.LogPath(path), r.Store, epoch, first); err != nil {
		return Result{}, err
	}
	return r, do.store(path, storedir.Identity{Store: r.Store, BlockSize: chain.Header().BlockSize, Epoch: epoch})
}
