package storedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/storedir/durable"
)

var (
	// ErrNoStore: the directory holds no store.
	ErrNoStore = errors.New("directory holds no store")
	// ErrNoFile: the directory holds a commit log or blocks, but no store file.
	ErrNoFile = errors.New("store file is missing")
)

// Inspection is a data directory that is being looked at: nothing in it is
// created or changed, and no server can use it meanwhile.
type Inspection struct {
	path string
	lock *os.File // nil if the directory has no lock file

	// Store, BlockSize and Epoch are what the store file says, zero if Damage
	// is set.
	Store     occ.StoreID
	BlockSize int
	Epoch     uint64
	// Damage says what is wrong with the store file: nil, or an error that is
	// or wraps ErrDamaged or ErrNoFile.
	Damage error
}

// Inspect locks the directory at path and reads its store file. Several
// inspections can go on at once. A directory without a lock file, in which no
// server has been since it was copied, stays without one. Every error is an
// *Error; a store file that is damaged or missing beside a log or blocks is none.
func Inspect(path string) (*Inspection, error) {
	i := &Inspection{path: path}
	if err := i.open(); err != nil {
		i.Close()
		return nil, &Error{Dir: path, Cause: err}
	}
	return i, nil
}

func (i *Inspection) open() error {
	files, err := os.ReadDir(i.path)
	if err != nil {
		return err
	}
	names := make(map[string]bool)
	for _, f := range files {
		names[f.Name()] = true
	}
	if !names[storeName] && !names[logName] && !names[blocksName] {
		return ErrNoStore
	}
	if names[lockName] {
		if err := i.share(); err != nil {
			return err
		}
	}
	b, err := durable.Read(i.StorePath(), fileLen)
	if errors.Is(err, fs.ErrNotExist) {
		i.Damage = ErrNoFile
		return nil
	}
	if err != nil {
		return err
	}
	s, err := decodeStoreFile(b)
	if errors.Is(err, ErrDamaged) {
		i.Damage = err
		return nil
	}
	i.Store, i.BlockSize, i.Epoch = s.store, s.blockSize, s.epoch
	return err
}

// share locks the directory against servers, but not against inspections.
func (i *Inspection) share() (err error) {
	path := filepath.Join(i.path, lockName)
	if i.lock, err = os.Open(path); err != nil {
		return err
	}
	info, err := i.lock.Stat()
	if err != nil {
		return err
	}
	if info.IsDir() { // which can be locked, but not by a server
		return &os.PathError{Op: "lock", Path: path, Err: unix.EISDIR}
	}
	for {
		err = unix.Flock(int(i.lock.Fd()), unix.LOCK_SH|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EWOULDBLOCK):
		return ErrLocked
	}
	return &os.PathError{Op: "lock", Path: path, Err: err}
}

// StorePath returns the path of the store file.
func (i *Inspection) StorePath() string { return filepath.Join(i.path, storeName) }

// LogDir returns the directory of the commit log. It may not exist.
func (i *Inspection) LogDir() string { return filepath.Join(i.path, logName) }

// BlocksDir returns the directory of the block store. It may not exist.
func (i *Inspection) BlocksDir() string { return filepath.Join(i.path, blocksName) }

// Close lets servers use the directory again.
func (i *Inspection) Close() error {
	if i.lock == nil {
		return nil
	}
	return i.lock.Close()
}
