package replay_test

import (
	"context"
	"errors"
	"io"
	"path"
	"testing"
	"time"

	"github.com/tidemark/tidemark/bench/sim"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/fsim"
	"github.com/tidemark/tidemark/fsim/replay"
	"github.com/tidemark/tidemark/occ/history"
	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/infer"
)

const (
	blockSize = 4096
	begin     = int64(1_000_000_000) // time of the first operation, microseconds
)

// source returns operations as a trace. Their times are milliseconds after
// begin.
func source(ops []traces.Op) traces.Source {
	m := make(memory, len(ops))
	for i, op := range ops {
		op.Time, op.Line = begin+op.Time*1000, int64(i+1)
		m[i] = op
	}
	return m
}

// memory is a trace in memory.
type memory []traces.Op

func (m memory) Name() string                { return "test" }
func (m memory) Open() (traces.Input, error) { return memoryInput{traces.Slice(m)}, nil }
func (m memory) Close() error                { return nil }

type memoryInput struct{ traces.Stream }

func (memoryInput) Close() error                        { return nil }
func (memoryInput) Skipped() (int64, *traces.LineError) { return 0, nil }

func newPlan(t *testing.T, ops []traces.Op) *replay.Plan {
	t.Helper()
	plan, err := replay.NewPlan(source(ops), blockSize)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// rig is a simulated server with a client for each host of a trace.
type rig struct {
	t       *testing.T
	ops     []traces.Op
	w       *sim.World
	plan    *replay.Plan
	tr      client.Transport // of the last connection, to wait with
	builder *client.DB
	hosts   map[uint32]*client.DB
	volume  *replay.Volume
	runner  *replay.Runner
	start   time.Duration // of the replay

	// events are what the hosts recorded, by host and in order.
	events map[uint32][]history.Event
	told   map[int]int // how often each event of the trace was said to be finished
	fed    int
}

// newRig builds the volume that a trace needs.
func newRig(t *testing.T, ops []traces.Op, so sim.Options, co client.Options) *rig {
	t.Helper()
	r := &rig{
		t: t, ops: ops, w: sim.NewWorld(), plan: newPlan(t, ops), hosts: make(map[uint32]*client.DB),
		events: make(map[uint32][]history.Event), told: make(map[int]int),
	}
	t.Cleanup(r.w.Stop)
	s := sim.NewServer(r.w, so)
	connect := func(ctx context.Context, to client.Receiver) (tr client.Transport, err error) {
		r.tr, err = s.Connect(ctx, to)
		return r.tr, err
	}
	r.do(func() (err error) {
		if r.builder, err = client.Open(context.Background(), connect, client.Options{Clock: r.w.Now, Seed: 1, NoBackground: true}); err != nil {
			return err
		}
		if r.volume, err = replay.Build(context.Background(), r.builder, r.plan); err != nil {
			return err
		}
		co.Clock, co.Seed, co.Recorder, co.NoBackground = r.w.Now, 2, r, true
		for _, h := range r.plan.Hosts {
			co.Client = int(h)
			if r.hosts[h], err = client.Open(context.Background(), connect, co); err != nil {
				return err
			}
		}
		return nil
	})
	return r
}

// Record implements history.Recorder for the hosts.
func (r *rig) Record(e history.Event) {
	r.events[uint32(e.Client)] = append(r.events[uint32(e.Client)], e)
}

// do runs f as a coroutine to its end, and all that it causes.
func (r *rig) do(f func() error) {
	r.t.Helper()
	var err error
	r.w.Go(func() { err = f() })
	if err = errors.Join(r.w.Run(), err); err != nil {
		r.t.Fatal(err)
	}
}

// exec is the replay.Exec of a rig.
type exec struct{ r *rig }

func (e exec) Go(f func())               { e.r.w.Go(f) }
func (e exec) NewCall() client.Call      { return e.r.tr.NewCall() }
func (e exec) Await(c client.Call) error { return e.r.tr.Await(context.Background(), c, 0) }

// run replays the trace, each event at its time, and checks that every event
// was said to be finished exactly once.
func (r *rig) run(o replay.Options) replay.Counts {
	r.t.Helper()
	in, err := source(r.ops).Open()
	if err != nil {
		r.t.Fatal(err)
	}
	defer in.Close()
	o.Finished = func(n int) { r.told[n]++ }
	r.runner = replay.NewRunner(r.volume, r.hosts, exec{r}, o)
	r.start = r.w.Now()
	events := infer.NewEvents(in, infer.Options{})
	for {
		e, err := events.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			r.t.Fatal(err)
		}
		r.fed++
		r.w.At(r.at((e.Time-begin)/1000), func() {
			if err := r.runner.Feed(e); err != nil {
				r.t.Error(err)
			}
		})
	}
	if err := r.w.Run(); err != nil {
		r.t.Fatal(err)
	}
	if err := r.runner.Err(); err != nil {
		r.t.Fatal(err)
	}
	for n := range r.fed {
		if r.told[n] != 1 {
			r.t.Errorf("event %d was said to be finished %d times", n, r.told[n])
		}
	}
	if len(r.told) != r.fed {
		r.t.Errorf("%d events were said to be finished, %d were fed", len(r.told), r.fed)
	}
	r.do(func() error {
		_, err := r.volume.Verify(context.Background(), r.builder)
		return err
	})
	return r.runner.Counts()
}

// at is when in the simulation ms milliseconds of the trace have passed.
func (r *rig) at(ms int64) time.Duration { return r.start + time.Duration(ms)*time.Millisecond }

// committed returns the committed read/write transactions of a host.
func (r *rig) committed(host uint32) (list []history.Event) {
	for _, e := range r.events[host] {
		if e.Kind == history.Committed {
			list = append(list, e)
		}
	}
	return list
}

// view runs f on the newest state.
func (r *rig) view(f func(tx *client.Tx) error) {
	r.t.Helper()
	r.do(func() error {
		return r.builder.View(context.Background(), f, client.Freshness(0))
	})
}

// files returns the handles of the files and directories that are named after
// a file of the trace.
func (r *rig) files() map[traces.FID]fsim.Handle {
	r.t.Helper()
	found := make(map[traces.FID]fsim.Handle)
	r.view(func(tx *client.Tx) error {
		return r.volume.FS.Walk(tx, func(p string, info fsim.Info, h fsim.Handle) error {
			for _, op := range r.ops {
				if path.Base(p) == op.FID.String() {
					found[op.FID] = h
				}
			}
			return nil
		})
	})
	return found
}

// content returns the whole content of a file, nil if it does not exist.
func (r *rig) content(fid traces.FID) (data []byte) {
	r.t.Helper()
	h, exists := r.files()[fid]
	if !exists {
		return nil
	}
	r.view(func(tx *client.Tx) error {
		info, err := r.volume.FS.Stat(tx, h)
		if err != nil {
			return err
		}
		data = make([]byte, info.Size)
		_, err = r.volume.FS.Read(tx, h, 0, data)
		return err
	})
	return data
}

// want returns what a line, or the image, puts at a place of a file.
func want(fid traces.FID, off, size, line int64) []byte {
	p := make([]byte, size)
	replay.Content(p, fid, off, line)
	return p
}

// op makes an operation at ms milliseconds.
func op(ms int64, host uint32, typ traces.Type, a traces.Action, fid traces.FID, off, size int64) traces.Op {
	return traces.Op{Time: ms, Host: host, Type: typ, Action: a, FID: fid, Off: off, Size: size}
}
