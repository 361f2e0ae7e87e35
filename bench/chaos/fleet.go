package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/history"
)

// Options of a Fleet.
type Options struct {
	Addr    string // where clients connect
	Clients int    // that count
	Shared  int    // counters of all clients together
	// Bounds has the freshness bound of each reader.
	Bounds []time.Duration
	// Silence is the clients' Options.Silence.
	Silence time.Duration
	Seed    uint64
}

// stride lies between the blocks of the counters: they are spread over the
// store.
const stride = 4099

// Fleet is clients that count and clients that look on.
type Fleet struct {
	opts     Options
	counters []*counting
	readers  []*reading
	cancel   context.CancelFunc
	running  sync.WaitGroup

	mu      sync.Mutex // guards what follows and what the clients have reached
	moved   sync.Cond
	acked   int64
	stopped bool
	err     error // the first that a client got and should not have

	judging sync.Mutex
	check   *history.Checker
}

// NewFleet connects the clients, which begin to work at once. A connection
// that fails before it is of use is made again.
func NewFleet(ctx context.Context, o Options) (*Fleet, error) {
	work, cancel := context.WithCancel(ctx)
	f := &Fleet{opts: o, cancel: cancel, check: history.New(history.Options{})}
	f.moved.L = &f.mu
	for i := range o.Clients {
		db, err := f.dial(ctx, i, 0)
		if err != nil {
			return nil, errors.Join(err, f.end())
		}
		f.counters = append(f.counters, &counting{
			fleet: f, db: db, number: i, rng: rand.New(rand.NewPCG(o.Seed, uint64(i))), shared: make([]uint64, o.Shared),
		})
	}
	for i, bound := range o.Bounds {
		db, err := f.dial(ctx, o.Clients+i, bound)
		if err != nil {
			return nil, errors.Join(err, f.end())
		}
		f.readers = append(f.readers, &reading{fleet: f, db: db})
	}
	for _, c := range f.counters {
		f.running.Go(func() { f.work(work, c.step) })
	}
	for _, r := range f.readers {
		f.running.Go(func() { f.work(work, r.step) })
	}
	return f, nil
}

func (f *Fleet) dial(ctx context.Context, number int, bound time.Duration) (*client.DB, error) {
	for {
		db, err := client.Dial(ctx, f.opts.Addr, client.Options{
			Freshness: bound, Silence: f.opts.Silence, Recorder: f, Client: number,
			MaxAttempts: 1 << 30, // who counts does not give up
		})
		if err == nil || ctx.Err() != nil {
			return db, err
		}
	}
}

// Record implements history.Recorder for all clients. A commit that a client
// knows of has been applied: that is what freshness is judged by.
func (f *Fleet) Record(e history.Event) {
	f.judging.Lock()
	defer f.judging.Unlock()
	if e.Kind == history.Committed {
		f.check.Applied(e.End, e.Commit)
	}
	f.check.Record(e)
}

// work repeats a step until the fleet is stopped or one fails.
func (f *Fleet) work(ctx context.Context, step func(context.Context) error) {
	for f.going() {
		if err := step(ctx); err != nil {
			f.fail(err)
		}
	}
}

func (f *Fleet) going() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.stopped && f.err == nil
}

func (f *Fleet) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
		f.moved.Broadcast()
	}
}

// reached notes that a client has got further.
func (f *Fleet) reached(note func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	note()
	f.moved.Broadcast()
}

// Await waits until n more commits have been acknowledged than now.
func (f *Fleet) Await(ctx context.Context, n int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	until := f.acked + n
	return f.await(ctx, func() error {
		if f.acked < until {
			return fmt.Errorf("%d of %d commits were acknowledged", n-(until-f.acked), n)
		}
		return nil
	})
}

// AwaitAll waits until each client has got further: one that counts has had a
// commit acknowledged that it began after this call, one that reads has
// finished such a transaction.
func (f *Fleet) AwaitAll(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	counted, read := make([]int64, len(f.counters)), make([]int64, len(f.readers))
	for i, c := range f.counters {
		counted[i] = c.acked + 2 // the first of which may be under way
	}
	for i, r := range f.readers {
		read[i] = r.done + 2
	}
	return f.await(ctx, func() error {
		for i, c := range f.counters {
			if c.acked < counted[i] {
				return fmt.Errorf("client %d does not go on", i)
			}
		}
		for i, r := range f.readers {
			if r.done < read[i] {
				return fmt.Errorf("the reader with bound %v does not go on", f.opts.Bounds[i])
			}
		}
		return nil
	})
}

// await waits until lacks returns nil. The caller holds mu.
func (f *Fleet) await(ctx context.Context, lacks func() error) error {
	defer context.AfterFunc(ctx, func() { f.reached(func() {}) })()
	for {
		missing := lacks()
		if missing == nil || f.err != nil {
			return f.err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%w: %w", missing, context.Cause(ctx))
		}
		f.moved.Wait()
	}
}

// block is where a counter is: the shared ones come first.
func block(counter int) occ.BlockID { return occ.BlockID(1 + counter*stride) }
