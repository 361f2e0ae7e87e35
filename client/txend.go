package client

import (
	"context"
	"fmt"

	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
)

// userContext is what Context returns, made when it is first asked for.
type userContext struct {
	context.Context
	cancel context.CancelCauseFunc
}

// aborted is called by the core, with mu held.
func (tx *Tx) aborted() {
	if tx.user != nil {
		tx.user.cancel(tx.failure())
	}
	if tx.onAbort != nil {
		tx.onAbort()
	}
}

// Context returns a context that is cancelled when the transaction ends, at
// once if it is aborted because of a conflict (which an urgent attempt of
// Update is when it commits). Its parent is the one that the
// transaction was begun with.
func (tx *Tx) Context() context.Context {
	tx.db.mu.Lock()
	defer tx.db.mu.Unlock()
	if tx.user == nil {
		ctx, cancel := context.WithCancelCause(tx.ctx)
		tx.user = &userContext{ctx, cancel}
		if tx.t.State() != core.Running {
			cancel(tx.failure())
		} else {
			tx.t.OnAbort(tx.aborted)
		}
	}
	return tx.user.Context
}

// failure is the error of a transaction that is not running. The caller holds
// mu.
func (tx *Tx) failure() error {
	switch tx.t.State() {
	case core.Running:
		return nil
	case core.InDoubt:
		return ErrOutcomeUnknown
	case core.Aborted:
		if change := tx.db.core.Changed(); change != nil && tx.t.Reason() == occ.AbortStoreChanged {
			return &StoreChangedError{*change}
		}
		if tx.t.Reason() != occ.AbortByCaller {
			return &AbortError{Reason: tx.t.Reason(), Blocks: tx.t.Conflicts(), Refused: tx.t.Refusal()}
		}
	}
	return ErrTxDone
}

// Commit ends a transaction that was begun by hand. A read-only one commits
// without a message. For any other it returns nil when the server has made it
// durable, an *AbortError when it did not happen, and ErrOutcomeUnknown when
// the context ended between queueing and answer, the DB was closed, or the
// server no longer knows. A connection that is lost meanwhile is replaced, and
// the commit sent again: it happens exactly once.
func (tx *Tx) Commit() error {
	if tx.managed {
		panic("client: Commit inside View or Update, which commit by themselves")
	}
	return tx.commit()
}

func (tx *Tx) commit() error {
	db := tx.db
	db.mu.Lock()
	defer db.mu.Unlock()
	defer tx.closeContext()
	if tx.t.State() != core.Running {
		return tx.failure()
	}
	if tx.t.ReadOnly() {
		db.core.Commit(&tx.t, 0)
		return nil
	}
	if err := tx.checkSize(); err != nil {
		db.core.Abort(&tx.t)
		return err
	}
	tx.prepareWait()
	for online := false; !online; {
		var err error
		if online, err = tx.reach(); err != nil {
			db.core.Abort(&tx.t)
			return err
		}
		if tx.t.State() != core.Running {
			return tx.failure()
		}
	}
	if err := db.room(1); err != nil {
		db.core.Abort(&tx.t)
		return err
	}
	db.core.Commit(&tx.t, db.clock())
	db.flush()
	for tx.t.Waiting() {
		err := db.await(tx.ctx, tx.call, 0)
		if err == nil && tx.noWait && !db.core.Online() {
			err = db.disconnected()
		}
		if err != nil && tx.t.State() == core.Running {
			db.core.Abort(&tx.t) // it was held back, and never sent
			return err
		}
		if err != nil && tx.t.Waiting() {
			return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
		}
	}
	if tx.t.State() == core.Committed {
		return nil
	}
	return tx.failure()
}

// checkSize checks a commit against the server's limits before it is queued.
func (tx *Tx) checkSize() error {
	reads, writes, bytes := tx.t.Size()
	l := tx.db.core.Limits()
	if err := checkLimit("read set", uint64(reads), l.CommitReads); err != nil {
		return err
	}
	if err := checkLimit("write set", uint64(writes), l.CommitWrites); err != nil {
		return err
	}
	return checkLimit("commit in bytes", uint64(bytes), l.CommitBytes)
}

// Abort gives the transaction up. It may be called at any time, also after
// Commit, when it does nothing.
func (tx *Tx) Abort() {
	if tx.managed {
		panic("client: Abort inside View or Update; return an error instead")
	}
	tx.abort()
}

func (tx *Tx) abort() {
	tx.db.mu.Lock()
	defer tx.db.mu.Unlock()
	tx.db.core.Abort(&tx.t)
	tx.closeContext()
}

// closeContext ends the context handed out by Context.
func (tx *Tx) closeContext() {
	if tx.user != nil {
		tx.user.cancel(ErrTxDone)
	}
}

// Restart begins a read-only transaction anew after ErrGone, at the newest
// state the DB knows. One at a chosen timestamp stays gone.
func (tx *Tx) Restart() error {
	tx.db.mu.Lock()
	defer tx.db.mu.Unlock()
	if tx.t.State() != core.Running {
		return tx.failure()
	}
	if tx.t.Gone() && tx.t.Fixed() {
		return tx.gone()
	}
	if tx.t.Gone() {
		tx.db.core.Restart(&tx.t)
	}
	return nil
}
