package client

import (
	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
)

// Write replaces the content of a block when the transaction commits. data is
// copied; if it is shorter than a block the rest is zeros. The transaction
// itself reads what it wrote.
func (tx *Tx) Write(id occ.BlockID, data []byte) error {
	size := tx.db.BlockSize()
	if len(data) > size {
		return &LimitError{Name: "block data", Limit: uint64(size), Value: uint64(len(data))}
	}
	var own []byte
	if len(data) > 0 {
		own = make([]byte, size)
		copy(own, data)
	}
	return tx.write(id, own)
}

// Free gives a block's content up: it reads as zeros from then on. Its id is
// not used again.
func (tx *Tx) Free(id occ.BlockID) error { return tx.write(id, nil) }

func (tx *Tx) write(id occ.BlockID, own []byte) error {
	if tx.view {
		return ErrReadOnly
	}
	db := tx.db
	db.mu.Lock()
	defer db.mu.Unlock()
	if tx.t.State() != core.Running {
		return tx.failure()
	}
	db.core.Write(&tx.t, id, own)
	return nil
}

// Create returns the id of a new block, whose content is zeros. Ids of
// transactions that do not commit are not used again.
func (tx *Tx) Create() (occ.BlockID, error) {
	if tx.view {
		return 0, ErrReadOnly
	}
	db := tx.db
	db.mu.Lock()
	defer db.mu.Unlock()
	for {
		if tx.t.State() != core.Running {
			return 0, tx.failure()
		}
		if id, ok := db.core.TakeID(); ok {
			return id, nil
		}
		tx.prepareWait()
		if online, err := tx.reach(); err != nil {
			return 0, err
		} else if !online {
			continue
		}
		if err := db.room(1); err != nil {
			return 0, err
		}
		db.core.AskIDs(&tx.t, db.clock())
		db.flush()
		if err := tx.wait(); err != nil {
			return 0, err
		}
	}
}

// CreateRange is DB.CreateRange with the transaction's context.
func (tx *Tx) CreateRange(n uint64) (occ.BlockID, error) {
	if tx.view {
		return 0, ErrReadOnly
	}
	return tx.db.createRange(tx.ctx, n, tx.noWait)
}
