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
	managed bool // it belongs to View or Update, which end it
	call    Call
	user    *userContext
	onAbort func()
	one     [1]occ.BlockID
}

// userContext is what Context returns, made when it is first asked for.
type userContext struct {
	context.Context
	cancel context.CancelCauseFunc
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
	tx := &Tx{db: db, ctx: ctx, view: view}
	epsilon := db.opts.Freshness
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
	}
	local := view && db.opts.Mode == ReadOptimized
	var now time.Duration
	if db.opts.Recorder != nil || local && epsilon != Unbounded {
		now = db.clock()
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return nil, ErrClosed
	}
	if !local && db.lost != nil {
		return nil, db.offline()
	}
	if db.core.Running() >= MaxTransactions {
		return nil, &LimitError{Name: "running transactions", Limit: MaxTransactions, Value: MaxTransactions + 1}
	}
	db.core.Begin(&tx.t, local, epsilon, now)
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
	return checkLimit("freshness bound (ns)", uint64(epsilon), uint64(db.store.Limits.Freshness))
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
// once if it is aborted because of a conflict. Its parent is the one that the
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
		if tx.t.Reason() != occ.AbortByCaller {
			return &AbortError{Reason: tx.t.Reason(), Blocks: tx.t.Conflicts(), Refused: tx.t.Refusal()}
		}
	}
	return ErrTxDone
}

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
		if err := db.offline(); err != nil {
			return 0, err
		}
		tx.prepareWait()
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
	return tx.db.CreateRange(tx.ctx, n)
}

// Commit ends a transaction that was begun by hand. A read-only one commits
// without a message. For any other it returns nil when the server has made it
// durable, an *AbortError when it did not happen, and ErrOutcomeUnknown when
// the connection or the context ended between queueing and answer.
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
	if err := db.offline(); err != nil {
		db.core.Abort(&tx.t)
		return err
	}
	tx.prepareWait()
	db.core.Commit(&tx.t, db.clock())
	db.flush()
	for tx.t.Waiting() {
		db.mu.Unlock()
		err := db.tr.Await(tx.ctx, tx.call, 0)
		db.mu.Lock()
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
	l := tx.db.store.Limits
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

// Err is nil while the transaction can go on, else the error that its next
// call would return.
func (tx *Tx) Err() error {
	tx.db.mu.Lock()
	defer tx.db.mu.Unlock()
	if tx.t.Gone() {
		return ErrGone
	}
	return tx.failure()
}

// Restart begins a read-only transaction anew after ErrGone, at the newest
// state the DB knows.
func (tx *Tx) Restart() error {
	tx.db.mu.Lock()
	defer tx.db.mu.Unlock()
	if tx.t.State() != core.Running {
		return tx.failure()
	}
	if tx.t.Gone() {
		tx.db.core.Restart(&tx.t)
	}
	return nil
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
