package client

import (
	"fmt"

	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
)

// WriteAt replaces the bytes of a block from byte off on by p when the
// transaction commits; the others stay as the transaction reads them. p is
// copied, and must end within the block; if it is empty nothing is written.
//
// WriteAt reads the block like Read, with the same errors, and counts as
// reading it: if another transaction changes the block first, in whatever
// bytes, this one does not commit. (After a Write in the same transaction
// nothing is read.)
//
// A commit sends of each block that its transaction read only the bytes that
// are no longer as they were read, if that is shorter. So it costs nothing to
// write the same bytes again, or to put several changes into one Write.
func (tx *Tx) WriteAt(id occ.BlockID, off int, p []byte) error {
	if tx.view {
		return ErrReadOnly
	}
	db := tx.db
	if off < 0 {
		return fmt.Errorf("a negative offset (%d) in a block", off)
	}
	if size := db.BlockSize(); off > size || len(p) > size-off {
		return &LimitError{Name: "block data", Limit: uint64(size), Value: uint64(off) + uint64(len(p))}
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	for {
		if tx.t.State() != core.Running {
			return tx.failure()
		}
		if len(p) == 0 || db.core.WriteAt(&tx.t, id, off, p) {
			return nil
		}
		tx.one[0] = id
		if err := tx.fetch(tx.one[:]); err != nil {
			return err
		}
	}
}
