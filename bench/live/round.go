package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/tidemark/tidemark/bench/exp"
	"github.com/tidemark/tidemark/bench/proc"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/fsim"
	"github.com/tidemark/tidemark/fsim/replay"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/history"
	"github.com/tidemark/tidemark/traces/infer"
)

// round is one replay on a fresh store.
type round struct {
	ctx     context.Context
	load    *exp.Load
	setting exp.Setting
	o       Options
	figures *exp.Figures
	number  int

	process *proc.Server
	kills   []time.Duration // the trace times at which the server will be killed
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
	start  time.Time     // zero of the clock that latency is measured with
	began  time.Time     // of the replay proper
	clock  time.Duration // what the server's clock was last set to
	meter  meter
	client time.Duration
	server time.Duration
	wall   time.Duration
}

func newRound(ctx context.Context, load *exp.Load, setting exp.Setting, o Options, f *exp.Figures) *round {
	return &round{
		ctx: ctx, load: load, setting: setting, o: o, figures: f, gate: newGate(),
		hosts: make(map[uint32]*client.DB), exec: newGoroutines(), start: time.Now(),
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
	dir, err := os.MkdirTemp("", "tidemark-live-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	command := slices.Concat(r.o.Command, []string{"--external-clock"}, r.o.ServerFlags)
	if r.process, err = proc.NewServer(r.ctx, filepath.Join(dir, "store"), command...); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	r.kills = chooseKills(r.o, r.number, time.Duration(r.load.Plan.Last-r.load.Plan.First)*time.Microsecond)
	if err := r.prepare(r.process.Addr); err != nil {
		return err
	}
	before, err := r.builder.ServerStatus(r.ctx)
	if err != nil {
		return err
	}
	runtime.GC() // what building left behind is not the replay's
	r.began = time.Now()
	if err := r.replay(); err != nil {
		return err
	}
	r.wall = time.Since(r.began)
	after, err := r.builder.ServerStatus(r.ctx)
	if err != nil {
		return err
	}
	r.client = r.meter.total
	if r.o.Kills == 0 {
		r.server = time.Duration(after["cpu_us"]-before["cpu_us"]) * time.Microsecond
		r.figures.LogBytes += after["group_bytes"] - before["group_bytes"]
	}
	return r.verify(after)
}

// close ends what run started: transactions that a replay which was given up
// has left waiting, the clients and the server. A server is only asked to stop
// if the round was not interrupted.
func (r *round) close() (err error) {
	r.exec.stop()
	for _, db := range r.hosts {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}
	r.exec.wg.Wait()
	if r.builder != nil {
		err = errors.Join(err, r.builder.Close())
	}
	if r.ctx.Err() != nil {
		r.process.Kill()
		return err
	}
	return errors.Join(err, r.process.Stop())
}

func (r *round) prepare(addr string) (err error) {
	options := client.Options{Clock: r.gate.clock, Recorder: r, Client: builder, NoWait: r.o.Kills == 0}
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

// verify checks the round and adds its counters to the figures.
func (r *round) verify(after map[string]uint64) error {
	f := r.figures
	f.Replay.Add(r.runner.Counts())
	for _, h := range r.load.Plan.Hosts {
		f.AddClient(r.hosts[h].Stats(), false)
	}
	f.AddClient(r.builder.Stats(), true)
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
	for kind, n := range f.History.Checked { // of the rounds before, which were clean
		result.Checked[kind] += n
	}
	f.History = result
	return errors.Join(err, result.Err())
}
