package storedir

import (
	"path/filepath"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/storedir/durable"
)

// Identity is what a store file says.
type Identity struct {
	Store     occ.StoreID
	BlockSize int // in bytes
	Epoch     uint64
}

// Create makes the directory at path a store, with an identity that it has
// from elsewhere. It writes the store file, which is the last thing that a
// directory needs, durably together with every other name in the directory:
// what is inside must be durable before. Every error is an *Error.
func Create(path string, id Identity) error {
	if id.BlockSize < 1 || id.BlockSize > MaxBlockSize {
		return &Error{Dir: path, Cause: &BlockSizeError{Want: id.BlockSize}}
	}
	s := storeFile{store: id.Store, blockSize: id.BlockSize, epoch: id.Epoch}
	if err := durable.Replace(filepath.Join(path, storeName), s.encode()); err != nil {
		return &Error{Dir: path, Cause: err}
	}
	return nil
}

// LogPath and BlocksPath return where the commit log and the block store are
// in the data directory at path.
func LogPath(path string) string { return filepath.Join(path, logName) }

// BlocksPath returns where the block store is. See LogPath.
func BlocksPath(path string) string { return filepath.Join(path, blocksName) }
