package client

import (
	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
)

// Read returns the content of a block: bytes of the block size that must not
// be changed and stay valid. A block never written reads as zeros.
//
// It fails with an *AbortError once the transaction is aborted, with ErrDamaged
// if the server cannot read the block's data, with ErrGone if a read-only
// transaction has outlived the retention window. While the server is needed and
// out of reach it waits, unless NoWait was asked for: then it fails with a
// *StaleError if nothing younger than the bound is known, else with
// ErrDisconnected if the block is not cached.
func (tx *Tx) Read(id occ.BlockID) ([]byte, error) {
	db := tx.db
	db.mu.Lock()
	defer db.mu.Unlock()
	for {
		if tx.t.State() != core.Running {
			return nil, tx.failure()
		}
		if tx.t.Gone() {
			return nil, tx.gone()
		}
		if data, ok := db.core.Read(&tx.t, id); ok {
			return data, nil
		}
		tx.one[0] = id
		if err := tx.fetch(tx.one[:]); err != nil {
			return nil, err
		}
	}
}

// ReadMany returns the contents of several blocks, like Read, and asks the
// server for all that are not cached in one request.
func (tx *Tx) ReadMany(ids []occ.BlockID) ([][]byte, error) {
	db := tx.db
	data := make([][]byte, len(ids))
	db.mu.Lock()
	defer db.mu.Unlock()
	for {
		if tx.t.State() != core.Running {
			return nil, tx.failure()
		}
		if tx.t.Gone() {
			return nil, tx.gone()
		}
		if db.core.ReadMany(&tx.t, ids, data) {
			return data, nil
		}
		if err := tx.fetch(ids); err != nil {
			return nil, err
		}
	}
}

// ReadInto copies the content of a block into dst and returns how many bytes
// were copied: the smaller of len(dst) and the block size.
func (tx *Tx) ReadInto(id occ.BlockID, dst []byte) (int, error) {
	data, err := tx.Read(id)
	if err != nil {
		return 0, err
	}
	return copy(dst, data), nil
}

// fetch asks for what is missing of ids and waits. The caller holds mu.
func (tx *Tx) fetch(ids []occ.BlockID) error {
	db := tx.db
	tx.prepareWait()
	if online, err := tx.reach(); err != nil || !online {
		return err
	}
	if err := db.room(1 + len(ids)/int(db.core.Limits().ReadBlocks)); err != nil {
		return err
	}
	db.core.Ask(&tx.t, ids, db.clock())
	db.flush()
	return tx.wait()
}

// reach makes sure that the server can be asked. If there is no connection it
// waits for one, or fails at once if that is what the caller wants; after a
// wait it returns false, for the transaction may no longer be what it was. The
// caller holds mu, which is released meanwhile.
func (tx *Tx) reach() (online bool, err error) {
	db := tx.db
	if db.core.Online() && db.core.Changed() == nil {
		return true, nil
	}
	if (tx.noWait || db.opts.NoBackground) && !db.closed && db.core.Changed() == nil {
		return false, tx.unreachable()
	}
	if err := db.awaitServer(tx.ctx, tx.call, tx.noWait); err != nil {
		if tx.ctx.Err() != nil {
			db.core.Abort(&tx.t)
		}
		return false, err
	}
	return false, nil
}

// unreachable is the error of a transaction that needs a server and will not
// wait for one.
func (tx *Tx) unreachable() error {
	db := tx.db
	if !tx.t.ReadOnly() || tx.t.LowerBoundKnown() {
		return db.disconnected()
	}
	age, known := db.core.SyncAge(db.clock())
	return &StaleError{Age: age, Known: known, Bound: tx.t.Epsilon(), Cause: db.disconnected()}
}

func (tx *Tx) prepareWait() {
	if tx.call == nil {
		tx.call = tx.db.tr.NewCall()
		tx.t.SetWaker(tx.call)
	}
}

// wait waits until nothing that the transaction asked for is under way. The
// caller holds mu, which is released meanwhile. A transaction whose context
// ends is given up.
func (tx *Tx) wait() error {
	db := tx.db
	for tx.t.Waiting() {
		err := db.await(tx.ctx, tx.call, 0)
		if err != nil && tx.t.Waiting() {
			db.core.Abort(&tx.t)
			return err
		}
	}
	return nil
}
