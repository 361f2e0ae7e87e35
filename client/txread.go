package client

import (
	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
)

// Read returns the content of a block: bytes of the block size that must not
// be changed and stay valid. A block never written reads as zeros.
//
// It fails with an *AbortError once the transaction is aborted, with ErrGone
// if a read-only transaction has outlived the retention window, with
// ErrDisconnected if the server is needed and out of reach.
func (tx *Tx) Read(id occ.BlockID) ([]byte, error) {
	db := tx.db
	db.mu.Lock()
	defer db.mu.Unlock()
	for {
		if tx.t.State() != core.Running {
			return nil, tx.failure()
		}
		if tx.t.Gone() {
			return nil, ErrGone
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
			return nil, ErrGone
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
	if err := db.offline(); err != nil {
		return err
	}
	tx.prepareWait()
	db.core.Ask(&tx.t, ids, db.clock())
	db.flush()
	return tx.wait()
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
		db.mu.Unlock()
		err := db.tr.Await(tx.ctx, tx.call, 0)
		db.mu.Lock()
		if err != nil && tx.t.Waiting() {
			db.core.Abort(&tx.t)
			return err
		}
	}
	return nil
}
