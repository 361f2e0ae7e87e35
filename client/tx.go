package client

import (
	"context"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
)

// Tx is a transaction. It is used from one goroutine at a time.
type Tx struct {
	t       core.Tx
	db      *DB
	ctx     context.Context
	view    bool // writing is not allowed
	noWait  bool // do not wait for a connection
	managed bool // it belongs to View or Update, which end it
	call    Call
	user    *userContext
	onAbort func()
	one     [1]occ.BlockID
}

// BeginView begins a read-only transaction that does not fit a closure. The
// caller ends it with Commit or Abort. If a read answers ErrGone, the caller
// gives it up and begins anew, or calls Restart.
func (db *DB) BeginView(ctx context.Context, opts ...TxOption) (*Tx, error) {
	return db.begin(ctx, true, opts)
}

// Begin begins a read/write transaction that does not fit a closure. The
// caller ends it with Commit or Abort.
func (db *DB) Begin(ctx context.Context, opts ...TxOption) (*Tx, error) {
	return db.begin(ctx, false, opts)
}

func (db *DB) begin(ctx context.Context, view bool, opts []TxOption) (*Tx, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	tx := &Tx{db: db, ctx: ctx, view: view, noWait: db.opts.NoWait}
	epsilon := db.opts.Freshness
	var token *Token
	var where *place
	for i := range opts {
		if opts[i].hasFreshness {
			epsilon = opts[i].freshness
			if err := db.checkFreshness(epsilon); err != nil {
				return nil, err
			}
		}
		if opts[i].onAbort != nil {
			tx.onAbort = opts[i].onAbort
		}
		if opts[i].token != nil {
			token = opts[i].token
		}
		if opts[i].place != nil {
			where = opts[i].place
		}
		tx.noWait = tx.noWait || opts[i].noWait
	}
	var at occ.Timestamp
	if where != nil {
		if !view {
			return nil, errNotReadOnly
		}
		var err error
		if at, err = db.find(ctx, where, tx.noWait); err != nil {
			return nil, err
		}
		epsilon, token = Unbounded, nil
	}
	local := view && (db.opts.Mode == ReadOptimized || where != nil)
	var now time.Duration
	if db.opts.Recorder != nil || local && epsilon != Unbounded {
		now = db.clock()
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if token != nil {
		if err := db.reachToken(ctx, *token, tx.noWait); err != nil {
			return nil, err
		}
	}
	if db.closed {
		return nil, ErrClosed
	}
	if change := db.core.Changed(); change != nil {
		return nil, &StoreChangedError{*change}
	}
	if !local && db.opts.NoBackground && !db.core.Online() {
		return nil, db.disconnected()
	}
	if db.core.Running() >= MaxTransactions {
		return nil, &LimitError{Name: "running transactions", Limit: MaxTransactions, Value: MaxTransactions + 1}
	}
	switch {
	case where == nil:
		db.core.Begin(&tx.t, local, epsilon, now)
	case at > db.core.GLUB(): // the store has gone back since it was looked up
		return nil, &FutureError{At: at, Newest: db.core.GLUB()}
	default:
		db.core.BeginAt(&tx.t, at, now)
	}
	if token != nil {
		db.core.After(&tx.t, token.At)
	}
	if tx.onAbort != nil {
		tx.t.OnAbort(tx.aborted)
	}
	return tx, nil
}

func (db *DB) checkFreshness(epsilon time.Duration) error {
	if epsilon < 0 {
		return fmt.Errorf("a negative freshness bound (%v)", epsilon)
	}
	if epsilon == Unbounded {
		return nil
	}
	return checkLimit("freshness bound (ns)", uint64(epsilon), uint64(db.Limits().Freshness))
}

// Err is nil while the transaction can go on, else the error that its next
// call would return.
func (tx *Tx) Err() error {
	tx.db.mu.Lock()
	defer tx.db.mu.Unlock()
	if tx.t.Gone() {
		return tx.gone()
	}
	return tx.failure()
}

// CommitTimestamp is where in the commit order a committed read/write
// transaction stands, or what a validated one was validated against; 0 before
// that and for local read-only transactions.
func (tx *Tx) CommitTimestamp() occ.Timestamp {
	tx.db.mu.Lock()
	defer tx.db.mu.Unlock()
	return tx.t.CommitAt()
}

// Range is the range of timestamps at any of which a read-only transaction
// may be said to have run so far.
func (tx *Tx) Range() (lo, hi occ.Timestamp) {
	tx.db.mu.Lock()
	defer tx.db.mu.Unlock()
	return tx.t.Range()
}
