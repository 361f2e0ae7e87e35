package storedir

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/storedir/durable"
)

const (
	storeName  = "tidemark.store"
	lockName   = "tidemark.lock"
	logName    = "log"
	blocksName = "blocks"

	filePerm = 0o640
	dirPerm  = 0o750

	// DefaultBlockSize is that of a store created with the zero Options.
	DefaultBlockSize = 4096
)

// Options of Open; the zero value works.
type Options struct {
	// BlockSize is that of a new store, and must be that of an existing one.
	// 0 means DefaultBlockSize for a new store, and any for an existing one.
	BlockSize int
}

// Dir is an open and locked data directory.
type Dir struct {
	path string
	lock *os.File

	mu struct {
		sync.Mutex
		file   storeFile
		closed bool
	}
}

// Open opens the store in the directory at path and locks it. If the
// directory is missing or empty, it creates a store there, with a new random
// id. A directory that holds something else is left untouched. Every error is
// an *Error.
func Open(path string, opts Options) (*Dir, error) {
	d, err := open(path, opts)
	if err != nil {
		return nil, &Error{Dir: path, Cause: err}
	}
	return d, nil
}

func open(path string, opts Options) (*Dir, error) {
	if opts.BlockSize < 0 || opts.BlockSize > MaxBlockSize {
		return nil, &BlockSizeError{Want: opts.BlockSize}
	}
	if err := makeDir(path); err != nil {
		return nil, err
	}
	if err := ours(path); err != nil {
		return nil, err
	}
	l, err := lock(filepath.Join(path, lockName))
	if err != nil {
		return nil, err
	}
	d := &Dir{path: path, lock: l}
	if d.mu.file, err = load(path, opts); err != nil {
		l.Close()
		return nil, err
	}
	return d, nil
}

// makeDir creates the directory durably, if it does not exist.
func makeDir(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(path, dirPerm); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}

// ours checks that the directory holds a store, or nothing but what a crash
// leaves while a store is created.
func ours(path string) error {
	files, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	foreign := false
	for _, f := range files {
		switch f.Name() {
		case storeName:
			return nil
		case lockName, storeName + durable.TempSuffix:
		default:
			foreign = true
		}
	}
	if foreign {
		return ErrForeign
	}
	return nil
}

// load reads the store file, or creates it. The directory is locked.
func load(path string, opts Options) (storeFile, error) {
	name := filepath.Join(path, storeName)
	b, err := durable.Read(name, fileLen)
	if errors.Is(err, fs.ErrNotExist) {
		s := storeFile{blockSize: opts.BlockSize}
		if s.blockSize == 0 {
			s.blockSize = DefaultBlockSize
		}
		if _, err := rand.Read(s.store[:]); err != nil {
			return storeFile{}, err
		}
		return s, durable.Replace(name, s.encode())
	}
	if err != nil {
		return storeFile{}, err
	}
	s, err := decodeStoreFile(b)
	if err == nil && opts.BlockSize != 0 && opts.BlockSize != s.blockSize {
		err = &BlockSizeError{Want: opts.BlockSize, Have: s.blockSize}
	}
	return s, err
}

// StoreID returns the id that the store got when it was created.
func (d *Dir) StoreID() occ.StoreID {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.mu.file.store
}

// BlockSize returns the block size of the store in bytes.
func (d *Dir) BlockSize() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.mu.file.blockSize
}

// Epoch returns the newest epoch, 0 before the first.
func (d *Dir) Epoch() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.mu.file.epoch
}

// WrittenUnder is told of an epoch under which something in the directory was
// written. An epoch is durable in the store file before anything is written
// under it: if it is above that of the store file, somebody has put an older
// file there, or the disk has lost the newer one, and the error is ErrOlder.
func (d *Dir) WrittenUnder(epoch uint64) error {
	have := d.Epoch()
	if epoch <= have {
		return nil
	}
	return &Error{Dir: d.path, Cause: fmt.Errorf("%w: %s has epoch %d, and something was written under epoch %d",
		ErrOlder, filepath.Join(d.path, storeName), have, epoch)}
}

// NextEpoch begins a new epoch and returns it. It is durable before NextEpoch
// returns; after an error the epoch may have moved on disk, but was handed to
// nobody.
func (d *Dir) NextEpoch() (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mu.closed {
		return 0, &Error{Dir: d.path, Cause: ErrClosed}
	}
	next := d.mu.file
	next.epoch++
	if err := durable.Replace(filepath.Join(d.path, storeName), next.encode()); err != nil {
		return 0, &Error{Dir: d.path, Cause: err}
	}
	d.mu.file = next
	return next.epoch, nil
}

// LogDir returns the directory of the commit log. It may not exist yet.
func (d *Dir) LogDir() string { return LogPath(d.path) }

// HasBlocks reports whether there is a directory of the block store.
func (d *Dir) HasBlocks() (bool, error) {
	_, err := os.Stat(BlocksPath(d.path))
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err == nil, nil
	}
	return false, &Error{Dir: d.path, Cause: err}
}

// BlocksDir returns the directory of the block store, which it creates
// durably if it is missing, as in a store of an older version.
func (d *Dir) BlocksDir() (string, error) {
	path := BlocksPath(d.path)
	if err := makeDir(path); err != nil {
		return "", &Error{Dir: d.path, Cause: err}
	}
	return path, nil
}

// Close releases the lock.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mu.closed {
		return &Error{Dir: d.path, Cause: ErrClosed}
	}
	d.mu.closed = true
	if err := d.lock.Close(); err != nil {
		return &Error{Dir: d.path, Cause: err}
	}
	return nil
}
