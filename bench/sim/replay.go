package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tidemark/tidemark/bench/exp"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/fsim"
	"github.com/tidemark/tidemark/fsim/replay"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/history"
	"github.com/tidemark/tidemark/traces/infer"
)

// Replay are the options of a replay in the simulator.
type Replay struct {
	Options
	CacheBytes  int64 // of each host, 0 for the client's default
	MaxAttempts int   // of each transaction
	// ClientFaults breaks rules of the clients on purpose.
	ClientFaults occ.Faults
	// Progress, if set, is told now and then how many operations of the
	// trace have begun.
	Progress func(operations int64)
	// Tree asks for the digest of the file tree, which reads every file.
	Tree bool
}

// builder is the number of the client that builds the image and checks it.
const builder = -1

// Run replays a load under a setting, in simulated time, and checks it. The
// result depends on nothing but the arguments. The figures are valid, and say
// what was found, also if err is a violation of the history or a problem of
// the file system; err is never nil then.
func Run(load *exp.Load, setting exp.Setting, o Replay) (*exp.Figures, error) {
	r := &run{load: load, setting: setting, o: o, w: NewWorld(), hosts: make(map[uint32]*client.DB)}
	defer r.w.Stop()
	r.figures.Setting, r.figures.Rounds = setting, 1
	r.check = history.New(history.Options{Window: 1 << 20})
	r.ledger.Size = func(b occ.BlockID, from occ.Timestamp) int { return r.s.ValueBytes(b, from) }
	r.ledger.Sent = func(b occ.BlockID, from occ.Timestamp) int { return r.s.SentBytes(b, from) }
	opt := o.Options
	opt.Applied = func(at time.Duration, stable occ.Timestamp) {
		r.check.Applied(at, stable)
		r.ledger.Applied(at, stable)
		if o.Applied != nil {
			o.Applied(at, stable)
		}
	}
	r.s = NewServer(r.w, opt)
	for _, step := range []func() error{r.prepare, r.replay, r.verify} {
		err := step()
		if err = errors.Join(err, r.s.Err()); err != nil {
			return &r.figures, fmt.Errorf("replaying %s under %s: %w", load.Name, setting, err)
		}
	}
	return &r.figures, r.figures.Err()
}

// run is one replay.
type run struct {
	load    *exp.Load
	setting exp.Setting
	o       Replay
	w       *World
	s       *Server
	figures exp.Figures
	check   *history.Checker
	ledger  exp.Ledger
	builder *client.DB
	hosts   map[uint32]*client.DB
	volume  *replay.Volume
	runner  *replay.Runner
	ro, rw  exp.Recorder
	start   time.Duration
	logged  uint64

	heartbeats client.Count // of the hosts
}

// Record implements history.Recorder for all clients.
func (r *run) Record(e history.Event) {
	r.check.Record(e)
	if e.Client != builder {
		r.ledger.Record(e)
	}
}

// do runs f as a coroutine and the world until it has ended.
func (r *run) do(f func() error) error {
	var err error
	ended := false
	r.w.Go(func() {
		err = f()
		ended = true
	})
	if stuck := r.w.RunUntil(func() bool { return ended }); stuck != nil {
		return stuck
	}
	return err
}

func (r *run) open(number int, o client.Options) (*client.DB, error) {
	o.Clock, o.Recorder, o.Client, o.Seed, o.NoBackground = r.w.Now, r, number, uint64(number+2), true
	connect := r.s.Connect // all traffic of the builder is setup, heartbeats too
	if number != builder {
		connect = r.s.connectCounting(&r.heartbeats)
	}
	return client.Open(context.Background(), connect, o)
}

// prepare builds the image and connects the hosts.
func (r *run) prepare() error {
	return r.do(func() (err error) {
		if r.builder, err = r.open(builder, client.Options{}); err != nil {
			return err
		}
		if r.volume, err = replay.Build(context.Background(), r.builder, r.load.Plan); err != nil {
			return err
		}
		for i, h := range r.load.Plan.Hosts {
			r.hosts[h], err = r.open(i, client.Options{
				Mode: r.setting.Mode, Freshness: r.setting.Epsilon, NoActiveAborts: r.setting.NoActiveAborts,
				CacheBytes: r.o.CacheBytes, Faults: r.o.ClientFaults,
			})
			if err != nil {
				return err
			}
		}
		r.logged = r.s.LogBytes()
		return nil
	})
}

// replay feeds the trace to a runner, each event at its time.
func (r *run) replay() error {
	events, err := r.load.Events()
	if err != nil {
		return err
	}
	defer events.Close()
	r.runner = replay.NewRunner(r.volume, r.hosts, exec{r.w}, replay.Options{
		MaxAttempts: r.o.MaxAttempts, Now: r.w.Now,
		Latency: func(class infer.Class, busy time.Duration) {
			if class == infer.ReadOnly {
				r.ro.Add(busy)
			} else {
				r.rw.Add(busy)
			}
		},
	})
	r.start = r.w.Now()
	var fed int64
	var next func()
	next = func() {
		var e infer.Event
		if e, err = events.Next(); err != nil {
			return
		}
		r.w.At(r.start+time.Duration(e.Time-r.load.Plan.First)*time.Microsecond, func() {
			if err = r.runner.Feed(e); err != nil {
				return
			}
			if e.Kind == infer.Do {
				if fed++; r.o.Progress != nil && fed%1024 == 0 {
					r.o.Progress(fed)
				}
			}
			next()
		})
	}
	next()
	stuck := r.w.Run()
	if err == io.EOF {
		err = nil
	}
	return errors.Join(err, r.runner.Err(), stuck)
}

// verify gathers the figures and checks history and file system.
func (r *run) verify() error {
	f := &r.figures
	f.Replay = r.runner.Counts()
	f.LogBytes = r.s.LogBytes() - r.logged
	for _, h := range r.load.Plan.Hosts {
		f.AddClient(r.hosts[h].Stats(), false)
	}
	f.AddClient(r.builder.Stats(), true)
	f.Traffic.Compulsory = r.ledger.Compulsory()
	f.Traffic.SetApart(r.heartbeats)
	f.Staleness = r.ledger.Staleness.Quantiles()
	f.ReadOnlyLatency, f.ReadWriteLatency = r.ro.Quantiles(), r.rw.Quantiles()
	f.VersionsKept = uint64(len(r.s.values))
	err := r.do(func() error {
		report, err := r.volume.Verify(context.Background(), r.builder)
		if report != nil {
			f.Problems = len(report.Problems)
		}
		if err != nil || !r.o.Tree {
			return err
		}
		nodes, err := r.volume.Tree(context.Background(), r.builder)
		f.Tree = fmt.Sprintf("%x", fsim.Digest(nodes))
		return err
	})
	f.History = r.check.Finish()
	return err
}

// exec runs transactions as coroutines.
type exec struct{ w *World }

func (e exec) Go(f func())               { e.w.Go(f) }
func (e exec) NewCall() client.Call      { return e.w.NewCall() }
func (e exec) Await(c client.Call) error { return e.w.wait(c.(*call), 0) }
