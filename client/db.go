package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// DB is one client library instance: a connection, a cache and the
// transactions that run over them.
type DB struct {
	opts  Options
	tr    Transport
	clock func() time.Duration

	mu      sync.Mutex // guards what follows; never held across a wait
	core    *core.Core
	rng     *rand.Rand
	frame   []byte
	traffic Traffic
	lost    error // why the connection ended
	closed  bool
	store   wire.Welcome
}

// Dial opens a DB on the server at the TCP address addr.
func Dial(ctx context.Context, addr string, o Options) (*DB, error) {
	db, err := Open(ctx, dialTCP(addr), o)
	if err != nil {
		return nil, fmt.Errorf("connecting to a Tidemark server at %s: %w", addr, err)
	}
	return db, nil
}

// Local opens a DB on a server in this process.
func Local(b Backend, o Options) (*DB, error) {
	return Open(context.Background(), localPipe(b), o)
}

// Open opens a DB over a connection that connect makes, and returns when the
// server has welcomed it.
func Open(ctx context.Context, connect Connect, o Options) (*DB, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	seed := o.Seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	db := &DB{
		opts:  o,
		clock: o.Clock,
		rng:   rand.New(rand.NewPCG(seed, 0)),
		core: core.New(core.Config{
			CacheBytes: o.CacheBytes, NoActiveAborts: o.NoActiveAborts,
			Client: o.Client, Recorder: o.Recorder, Now: o.Clock, Faults: o.Faults,
		}),
	}
	tr, err := connect(ctx, db)
	if err != nil {
		return nil, err
	}
	db.tr = tr
	m, err := db.query(ctx, db.core.Hello)
	if err == nil && o.Freshness != Unbounded {
		err = checkLimit("freshness bound (ns)", uint64(o.Freshness), uint64(db.core.Limits().Freshness))
	}
	if err != nil {
		return nil, errors.Join(err, tr.Close())
	}
	db.store = *m.(*wire.Welcome)
	return db, nil
}

// Close gives up what is running and ends the connection. Transactions that
// are still waiting fail.
func (db *DB) Close() error {
	db.mu.Lock()
	again := db.closed
	db.closed = true
	db.mu.Unlock()
	if again {
		return nil
	}
	return db.tr.Close()
}

// BlockSize is the store's block size in bytes.
func (db *DB) BlockSize() int { return int(db.store.BlockSize) }

// Store is the id of the store.
func (db *DB) Store() occ.StoreID { return db.store.Store }

// Limits are the server's published limits.
func (db *DB) Limits() wire.Limits { return db.store.Limits }

// Receive implements Receiver; it is for transports.
func (db *DB) Receive(body []byte) error {
	// Nothing but Receive writes the block size, and it is not yet known
	// only while the welcome is awaited.
	m, err := wire.DecodeWith(body, db.core.BlockSize())
	if err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.traffic.count(&db.traffic.Received, m.Type(), len(body))
	return db.core.Receive(m)
}

// Lost implements Receiver; it is for transports.
func (db *DB) Lost(cause error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.lost == nil {
		db.lost = cause
		db.core.Disconnect()
	}
}

// flush sends what the core has queued. The caller holds mu, so that frames
// leave in the order in which they were decided.
func (db *DB) flush() {
	for _, m := range db.core.TakeMessages() {
		db.frame = wire.Append(db.frame[:0], m)
		db.traffic.count(&db.traffic.Sent, m.Type(), frameBody(len(db.frame)))
		db.tr.Send(db.frame)
	}
	if cap(db.frame) > keepBuffer {
		db.frame = nil
	}
}

// offline is the error of something that needs the server when there is no
// connection; nil while there is one. The caller holds mu.
func (db *DB) offline() error {
	switch {
	case db.closed:
		return ErrClosed
	case db.lost != nil:
		return fmt.Errorf("%w: %w", ErrDisconnected, db.lost)
	}
	return nil
}

// query sends a request outside any transaction and waits for its answer.
func (db *DB) query(ctx context.Context, ask func(core.Waker, time.Duration) *core.Query) (wire.Message, error) {
	call := db.tr.NewCall()
	db.mu.Lock()
	defer db.mu.Unlock()
	if err := db.offline(); err != nil {
		return nil, err
	}
	q := ask(call, db.clock())
	db.flush()
	for !q.Done() {
		db.mu.Unlock()
		err := db.tr.Await(ctx, call, 0)
		db.mu.Lock()
		if err != nil {
			return nil, err
		}
	}
	if errors.Is(q.Err, core.ErrOffline) {
		return nil, db.offline()
	}
	return q.Reply, q.Err
}

// Ping makes one round trip to the server.
func (db *DB) Ping(ctx context.Context) error {
	_, err := db.query(ctx, db.core.Ping)
	return err
}

// ServerStatus returns the server's counters by name.
func (db *DB) ServerStatus(ctx context.Context) (map[string]uint64, error) {
	m, err := db.query(ctx, db.core.Status)
	if err != nil {
		return nil, err
	}
	values := make(map[string]uint64)
	for _, c := range m.(*wire.StatusReply).Values {
		values[c.Name] = c.Value
	}
	return values, nil
}

// SetServerClock moves the retention clock of a server that was started with
// an external clock, for replays in trace time.
func (db *DB) SetServerClock(ctx context.Context, at time.Duration) error {
	_, err := db.query(ctx, func(w core.Waker, now time.Duration) *core.Query {
		return db.core.Clock(w, at, now)
	})
	return err
}

// CreateRange leases n consecutive block ids that nobody else gets, and
// returns the first. Their content is zeros until written.
func (db *DB) CreateRange(ctx context.Context, n uint64) (occ.BlockID, error) {
	if n == 0 {
		return 0, errors.New("a range of no blocks")
	}
	if err := checkLimit("block range", n, db.store.Limits.LeaseBlocks); err != nil {
		return 0, err
	}
	m, err := db.query(ctx, func(w core.Waker, now time.Duration) *core.Query {
		return db.core.Lease(w, n, now)
	})
	if err != nil {
		return 0, err
	}
	return m.(*wire.LeaseReply).First, nil
}
