package storedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/storedir/durable"
)

// ErrExists: the directory holds a store already.
var ErrExists = errors.New("directory holds a store already")

// Identity is what a store file says.
type Identity struct {
	Store     occ.StoreID
	BlockSize int // in bytes, 1 to MaxBlockSize
	Epoch     uint64
}

// Rescue makes what is in the directory at path, which exists, the store of
// this identity: a log and blocks that were made from those of another
// directory. It writes the store file, durably, and nothing else; before that
// the directory is none that Open takes. Nobody else may use the directory.
// Every error is an *Error.
func Rescue(path string, id Identity) error {
	if err := rescue(path, id); err != nil {
		return &Error{Dir: path, Cause: err}
	}
	return nil
}

func rescue(path string, id Identity) error {
	if id.BlockSize < 1 || id.BlockSize > MaxBlockSize {
		return &BlockSizeError{Want: id.BlockSize}
	}
	name := filepath.Join(path, storeName)
	if _, err := os.Lstat(name); err == nil {
		return ErrExists
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file := storeFile{store: id.Store, blockSize: id.BlockSize, epoch: id.Epoch}
	return errors.Join(durable.Replace(name, file.encode()), durable.SyncDir(filepath.Dir(path)))
}

// historyShift separates the two halves of an epoch.
const historyShift = 32

// NextHistory returns the epoch with which a store begins anew from an older
// state of itself, as it was last under epoch. The upper half of an epoch
// counts such beginnings, by which clients notice that what they know may
// never have happened; the lower half counts servers. chance, any number,
// keeps two beginnings from the same state apart.
func NextHistory(epoch uint64, chance uint16) uint64 {
	return (epoch>>historyShift + 1 + uint64(chance)) << historyShift
}
