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
// transactions that run over them. A connection that is lost is replaced in
// the background.
type DB struct {
	opts    Options
	clock   func() time.Duration
	connect Connect

	life       context.Context // until Close
	end        context.CancelFunc
	background sync.WaitGroup

	mu      sync.Mutex // guards what follows; never held across a wait
	core    *core.Core
	tr      Transport // of the newest connection; never nil once open
	conn    *connection
	rng     *rand.Rand
	frame   []byte
	traffic Traffic
	lost    error // why there is no connection, nil while there is one
	closed  bool
	sent    bool // something, since the background last looked

	attempts int       // it took to make the newest connection
	welcomed time.Time // when that was; only for pauses between attempts
}

// Dial opens a DB on the server at the TCP address addr.
func Dial(ctx context.Context, addr string, o Options) (*DB, error) {
	db, err := Open(ctx, dialTCP(addr, o.silence()), o)
	if err != nil {
		return nil, fmt.Errorf("connecting to a Tidemark server at %s: %w", addr, err)
	}
	return db, nil
}

// Local opens a DB on a server in this process.
func Local(b Backend, o Options) (*DB, error) {
	return Open(context.Background(), localPipe(b, o.silence()), o)
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
		opts:    o,
		clock:   o.Clock,
		connect: connect,
		rng:     rand.New(rand.NewPCG(seed, 0)),
		core: core.New(core.Config{
			CacheBytes: o.CacheBytes, NoActiveAborts: o.NoActiveAborts,
			Client: o.Client, Recorder: o.Recorder, Now: o.Clock, Faults: o.Faults,
		}),
	}
	db.life, db.end = context.WithCancel(context.Background())
	err := db.open(ctx)
	if err == nil && o.Freshness != Unbounded {
		err = checkLimit("freshness bound (ns)", uint64(o.Freshness), uint64(db.Limits().Freshness))
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	db.startBackground()
	return db, nil
}

// Close gives up what is running and ends the connection. Transactions that
// are still waiting fail; commits that are not answered are of unknown
// outcome.
func (db *DB) Close() error {
	db.mu.Lock()
	again := db.closed
	db.closed = true
	db.mu.Unlock()
	if again {
		return nil
	}
	db.end()
	db.background.Wait() // no other connection is made from now on
	var err error
	if db.tr != nil {
		err = db.tr.Close()
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.core.Disconnect()
	db.core.GiveUp()
	return err
}

// BlockSize is the store's block size in bytes.
func (db *DB) BlockSize() int {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.core.BlockSize()
}

// Store is the id of the store.
func (db *DB) Store() occ.StoreID {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.core.Store()
}

// Epoch is the epoch of the server: how often one has opened the store, in the
// lower 32 bits; the upper ones change when the store is restored from a
// backup.
func (db *DB) Epoch() uint64 {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.core.Epoch()
}

// Limits are the server's published limits.
func (db *DB) Limits() wire.Limits {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.core.Limits()
}

// flush sends what the core has queued. The caller holds mu, so that frames
// leave in the order in which they were decided.
func (db *DB) flush() {
	for _, m := range db.core.TakeMessages() {
		db.sent = true
		db.frame = wire.Append(db.frame[:0], m)
		db.traffic.count(&db.traffic.Sent, m.Type(), frameBody(len(db.frame)))
		db.tr.Send(db.frame)
	}
	if cap(db.frame) > keepBuffer {
		db.frame = nil
	}
}

// MaxRequests is how many requests of one DB may be unanswered. Those of
// transactions that were given up count until their answers come, or the
// connection is lost.
const MaxRequests = 1 << 17

// room reports whether n more requests may be made.
func (db *DB) room(n int) error {
	return checkLimit("requests under way", uint64(db.core.Requests()+n), MaxRequests)
}

// query sends a request outside any transaction and waits for its answer, on
// the next connection if this one is lost.
func (db *DB) query(ctx context.Context, noWait bool, ask func(core.Waker, time.Duration) *core.Query) (wire.Message, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	call := db.tr.NewCall()
	for attempt := 1; ; {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := db.awaitServer(ctx, call, noWait); err != nil {
			return nil, err
		}
		if err := db.room(1); err != nil {
			return nil, err
		}
		q := ask(call, db.clock())
		m, err := db.answer(ctx, call, q)
		var refused *core.Refusal
		switch {
		case errors.Is(err, core.ErrOffline):
		case errors.As(err, &refused) && refused.Code == wire.CodeBusy && attempt < db.opts.MaxAttempts:
			if err := db.await(ctx, nil, busyPause(attempt, db.rng)); err != nil {
				return nil, err
			}
			attempt++
		default:
			return m, err
		}
	}
}

// answer sends what is queued and waits for the answer to q. The caller holds
// mu, which is released meanwhile.
func (db *DB) answer(ctx context.Context, call Call, q *core.Query) (wire.Message, error) {
	db.flush()
	for !q.Done() {
		if err := db.await(ctx, call, 0); err != nil && !q.Done() {
			return nil, err
		}
	}
	return q.Reply, q.Err
}

// await waits for call. The caller holds mu, which is released meanwhile.
func (db *DB) await(ctx context.Context, call Call, limit time.Duration) error {
	tr := db.tr
	db.mu.Unlock()
	defer db.mu.Lock()
	return tr.Await(ctx, call, limit)
}

// Ping makes one round trip to the server.
func (db *DB) Ping(ctx context.Context) error {
	_, err := db.query(ctx, db.opts.NoWait, db.core.Ping)
	return err
}

// ServerStatus returns the server's counters by name.
func (db *DB) ServerStatus(ctx context.Context) (map[string]uint64, error) {
	m, err := db.query(ctx, db.opts.NoWait, db.core.Status)
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
	_, err := db.query(ctx, db.opts.NoWait, func(w core.Waker, now time.Duration) *core.Query {
		return db.core.Clock(w, at, now)
	})
	return err
}

// CreateRange leases n consecutive block ids that nobody else gets, and
// returns the first. Their content is zeros until written.
func (db *DB) CreateRange(ctx context.Context, n uint64) (occ.BlockID, error) {
	return db.createRange(ctx, n, db.opts.NoWait)
}

func (db *DB) createRange(ctx context.Context, n uint64, noWait bool) (occ.BlockID, error) {
	if n == 0 {
		return 0, errors.New("a range of no blocks")
	}
	if err := checkLimit("block range", n, db.Limits().LeaseBlocks); err != nil {
		return 0, err
	}
	m, err := db.query(ctx, noWait, func(w core.Waker, now time.Duration) *core.Query {
		return db.core.Lease(w, n, now)
	})
	if err != nil {
		return 0, err
	}
	return m.(*wire.LeaseReply).First, nil
}
