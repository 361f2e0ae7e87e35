package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/tidemark/tidemark/bench/exp"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/fsim"
	"github.com/tidemark/tidemark/fsim/replay"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/history"
	"github.com/tidemark/tidemark/traces/infer"
)

// Options of a live replay.
type Options struct {
	// Command starts a server, such as {"tidemark", "serve"}.
	Command []string
	// ServerFlags are further flags for it.
	ServerFlags []string
	CacheBytes  int64 // of each host, 0 for the client's default
	MaxAttempts int   // of each transaction
	// Speed paces the replay at that many times trace speed; 0 is as fast as
	// the hosts keep up.
	Speed float64
	// MinCPU is how much CPU time, of both processes together, is gathered
	// by repeating the replay; at most MaxRounds times. 0 means one round.
	MinCPU    time.Duration
	MaxRounds int
	// Progress, if set, is told now and then how many operations of a round
	// have begun.
	Progress func(round int, operations int64)
	// Tree asks for the digest of the file tree, which reads every file.
	Tree bool
}

const (
	// batchEvents is how many events are read ahead at a time, while the CPU
	// meter is paused.
	batchEvents = 1 << 16
	// builder is the number of the client that builds the image.
	builder = -1
	// clockStep is how often the server's retention clock is moved, in
	// trace time.
	clockStep = time.Second
)

// Run replays a load under a setting, and checks each replay. The figures are
// those of all rounds together: means of CPU times, sums of everything else.
func Run(ctx context.Context, load *exp.Load, setting exp.Setting, o Options) (*exp.Figures, error) {
	f := &exp.Figures{Setting: setting}
	f.CPU.Hosts = len(load.Plan.Hosts)
	var clients, servers []float64
	var ro, rw exp.Recorder
	for gathered := time.Duration(0); f.Rounds == 0 || gathered < o.MinCPU && f.Rounds < max(o.MaxRounds, 1); {
		r := newRound(ctx, load, setting, o, f)
		r.number = f.Rounds
		if err := r.run(); err != nil {
			return f, fmt.Errorf("live replay of %s under %s, round %d: %w", load.Name, setting, f.Rounds+1, err)
		}
		f.Rounds++
		clients = append(clients, r.client.Seconds())
		servers = append(servers, r.server.Seconds())
		gathered += r.client + r.server
		f.CPU.Wall += r.wall
		ro.Merge(&r.ro)
		rw.Merge(&r.rw)
	}
	f.CPU.Wall /= time.Duration(f.Rounds)
	f.CPU.Client, f.CPU.Server = exp.Summarize(clients), exp.Summarize(servers)
	f.ReadOnlyLatency, f.ReadWriteLatency = ro.Quantiles(), rw.Quantiles()
	return f, f.Err()
}

// round is one replay on a fresh store.
type round struct {
	ctx     context.Context
	load    *exp.Load
	setting exp.Setting
	o       Options
	figures *exp.Figures
	number  int

	gate    *gate
	builder *client.DB
	hosts   map[uint32]*client.DB
	volume  *replay.Volume
	runner  *replay.Runner
	exec    *goroutines

	mu     sync.Mutex // guards what the hosts record
	events []history.Event
	ro, rw exp.Recorder

	check  *history.Checker
	acked  occ.Timestamp
	start  time.Time
	clock  time.Duration // what the server's clock was last set to
	meter  meter
	client time.Duration
	server time.Duration
	wall   time.Duration
}

func newRound(ctx context.Context, load *exp.Load, setting exp.Setting, o Options, f *exp.Figures) *round {
	return &round{
		ctx: ctx, load: load, setting: setting, o: o, figures: f, gate: newGate(),
		hosts: make(map[uint32]*client.DB), exec: &goroutines{}, start: time.Now(),
		check: history.New(history.Options{Window: 1 << 20}),
	}
}

// Record implements history.Recorder for all clients.
func (r *round) Record(e history.Event) {
	r.mu.Lock()
	r.events = append(r.events, e)
	r.mu.Unlock()
}

// judge hands what was recorded to the checker. Freshness is judged by when
// this process saw acknowledgements: an event that ends a commit shows that
// the server's stable timestamp had got there.
func (r *round) judge() {
	r.mu.Lock()
	events := r.events
	r.events = nil
	r.mu.Unlock()
	seen := time.Duration(0)
	for _, e := range events {
		if e.Kind == history.Committed && e.Commit > r.acked {
			r.acked = e.Commit
			seen = max(seen, e.End)
			r.check.Applied(seen, r.acked)
		}
		r.check.Record(e)
	}
}

func (r *round) run() (err error) {
	flags := append([]string{"--external-clock"}, r.o.ServerFlags...)
	p, err := Start(r.ctx, r.o.Command, flags...)
	if err != nil {
		return err
	}
	defer func() {
		for _, db := range r.hosts {
			err = errors.Join(err, db.Close())
		}
		if r.builder != nil {
			err = errors.Join(err, r.builder.Close())
		}
		err = errors.Join(err, p.Stop())
	}()
	if err := r.prepare(p.Addr); err != nil {
		return err
	}
	before, err := r.builder.ServerStatus(r.ctx)
	if err != nil {
		return err
	}
	runtime.GC() // what building left behind is not the replay's
	began := time.Now()
	if err := r.replay(); err != nil {
		return err
	}
	r.wall = time.Since(began)
	after, err := r.builder.ServerStatus(r.ctx)
	if err != nil {
		return err
	}
	r.client = r.meter.total
	r.server = time.Duration(after["cpu_us"]-before["cpu_us"]) * time.Microsecond
	return r.verify(before, after)
}

func (r *round) prepare(addr string) (err error) {
	options := client.Options{Clock: r.gate.clock, Recorder: r, Client: builder}
	if r.builder, err = client.Dial(r.ctx, addr, options); err != nil {
		return err
	}
	if r.volume, err = replay.Build(r.ctx, r.builder, r.load.Plan); err != nil {
		return err
	}
	options.Mode, options.Freshness = r.setting.Mode, r.setting.Epsilon
	options.NoActiveAborts, options.CacheBytes = r.setting.NoActiveAborts, r.o.CacheBytes
	for i, h := range r.load.Plan.Hosts {
		options.Client = i
		if r.hosts[h], err = client.Dial(r.ctx, addr, options); err != nil {
			return err
		}
	}
	r.runner = replay.NewRunner(r.volume, r.hosts, r.exec, replay.Options{
		MaxAttempts: r.o.MaxAttempts, Finished: r.gate.finished,
		Now: func() time.Duration { return time.Since(r.start) },
		Latency: func(class infer.Class, busy time.Duration) {
			if class == infer.ReadOnly { // the runner serializes these calls
				r.ro.Add(busy)
			} else {
				r.rw.Add(busy)
			}
		},
	})
	return nil
}

// replay feeds the trace to the runner. Events are read and inferred in
// batches and what was recorded is checked between batches, both with the
// meter paused and nothing under way.
func (r *round) replay() error {
	events, err := r.load.Events()
	if err != nil {
		return err
	}
	defer events.Close()
	stop := context.AfterFunc(r.ctx, r.gate.open)
	defer stop()
	var fed int64
	for more := true; more; {
		batch := make([]infer.Event, 0, 1024)
		for len(batch) < batchEvents {
			e, err := events.Next()
			if err == io.EOF {
				more = false
				break
			}
			if err != nil {
				return err
			}
			batch = append(batch, e)
		}
		r.meter.start()
		err := r.feed(batch, &fed)
		r.gate.drain()
		if !more {
			r.exec.wg.Wait()
		}
		r.meter.pause()
		r.judge()
		if err = errors.Join(err, r.runner.Err(), r.meter.err, context.Cause(r.ctx)); err != nil {
			return err
		}
	}
	return nil
}

func (r *round) feed(batch []infer.Event, fed *int64) error {
	for _, e := range batch {
		at := time.Duration(e.Time-r.load.Plan.First) * time.Microsecond
		if err := r.pace(at); err != nil {
			return err
		}
		r.gate.enter(at)
		if err := r.runner.Feed(e); err != nil {
			return err
		}
		if at-r.clock >= clockStep {
			r.clock = at
			if err := r.builder.SetServerClock(r.ctx, at); err != nil {
				return err
			}
		}
		if e.Kind == infer.Do {
			if *fed++; r.o.Progress != nil && *fed%1024 == 0 {
				r.o.Progress(r.number, *fed)
			}
		}
	}
	return nil
}

// pace waits until an event's time has come in a replay at a given speed.
func (r *round) pace(at time.Duration) error {
	if r.o.Speed <= 0 {
		return context.Cause(r.ctx)
	}
	due := time.Duration(float64(at) / r.o.Speed)
	wait := time.NewTimer(due - time.Since(r.start))
	defer wait.Stop()
	select {
	case <-wait.C:
		return nil
	case <-r.ctx.Done():
		return context.Cause(r.ctx)
	}
}

// verify checks the round and adds its counters to the figures.
func (r *round) verify(before, after map[string]uint64) error {
	f := r.figures
	f.Replay.Add(r.runner.Counts())
	for _, h := range r.load.Plan.Hosts {
		f.AddClient(r.hosts[h].Stats(), false)
	}
	f.AddClient(r.builder.Stats(), true)
	f.LogBytes += after["group_bytes"] - before["group_bytes"]
	f.VersionsKept = after["blocks"] + after["versions_retained"]
	report, err := r.volume.Verify(r.ctx, r.builder)
	if report != nil {
		f.Problems += len(report.Problems)
	}
	if err == nil && r.o.Tree {
		var nodes []fsim.Node
		nodes, err = r.volume.Tree(r.ctx, r.builder)
		f.Tree = fmt.Sprintf("%x", fsim.Digest(nodes))
	}
	r.judge()
	result := r.check.Finish()
	f.History = result
	return errors.Join(err, result.Err())
}

// goroutines runs transactions on goroutines.
type goroutines struct{ wg sync.WaitGroup }

func (g *goroutines) Go(f func()) { g.wg.Go(f) }

func (g *goroutines) NewCall() client.Call { return make(signal, 1) }

func (g *goroutines) Await(c client.Call) error {
	<-c.(signal)
	return nil
}

// signal is the Call of a goroutine.
type signal chan struct{}

func (s signal) Wake() {
	select {
	case s <- struct{}{}:
	default:
	}
}
