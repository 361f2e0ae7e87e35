package sim_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/bench/exp"
	"github.com/tidemark/tidemark/bench/sim"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/gen"
	"github.com/tidemark/tidemark/traces/sample"
)

func load(t testing.TB, src traces.Source) *exp.Load {
	t.Helper()
	l, err := exp.NewLoad("test", src, 4096, false)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// contended is a short load with few files that everybody writes.
func contended() gen.Dense {
	p := gen.DefaultDense()
	p.Hosts, p.Duration = 6, 5*time.Second
	p.Idle, p.Gap = 200*time.Millisecond, 6*time.Millisecond
	p.ReadOnly = 0.7
	p.Group, p.OwnFiles, p.SharedFiles, p.FileBlocks = 6, 2, 3, 2
	p.SharedReads, p.SharedWrites = 0.8, 0.8
	return p
}

// run replays and fails the test unless every check is clean.
func run(t *testing.T, l *exp.Load, s exp.Setting, o sim.Replay) *exp.Figures {
	t.Helper()
	f, err := sim.Run(l, s, o)
	if err != nil {
		for _, v := range f.History.Violations {
			t.Log(v)
		}
		t.Fatal(err)
	}
	return f
}

func TestBundledSample(t *testing.T) {
	l := load(t, sample.Source())
	for _, s := range exp.Standard() {
		f := run(t, l, s, sim.Replay{})
		if f.Replay.ReadOnly != 3803 || f.Replay.ReadWrite != 6 || f.Replay.Operations != 7372 || len(l.Plan.Hosts) != 56 {
			t.Errorf("%s: %+v, %d hosts", s, f.Replay, len(l.Plan.Hosts))
		}
		if f.Replay.Absent != 0 || f.Replay.Odd != 0 || f.Replay.Failed != 0 {
			t.Errorf("%s: %+v", s, f.Replay)
		}
		if f.Traffic.Bytes < f.Traffic.Compulsory {
			t.Errorf("%s: %d bytes are less than the compulsory %d", s, f.Traffic.Bytes, f.Traffic.Compulsory)
		}
	}
}

// TestHeartbeatsStandApart: in an idle hour every client gets heartbeats, the
// one that built the image too; none of them is traffic of the hosts.
func TestHeartbeatsStandApart(t *testing.T) {
	const text = "1000.000000 Attr READ FID: 1 OFF: 0 SIZE: 0 HOST: 1\n" +
		"4600.000000 Attr READ FID: 1 OFF: 0 SIZE: 0 HOST: 1\n"
	l := load(t, traces.Bytes("idle", []byte(text), traces.Options{}))
	f := run(t, l, exp.Setting{Epsilon: 2 * time.Second}, sim.Replay{})
	if n := f.Traffic.Heartbeats.Messages; n < 300 || n > 400 {
		t.Errorf("%d heartbeats in an hour", n)
	}
	var sum exp.Count
	for _, c := range f.Traffic.ByType {
		sum.Messages += c.Messages
		sum.Bytes += c.Bytes
	}
	if tr := f.Traffic; tr.Messages != 2*tr.RoundTrips || sum.Messages != tr.Messages || sum.Bytes != tr.Bytes {
		t.Errorf("%+v", tr)
	}
}

func TestSameInputsSameFigures(t *testing.T) {
	l := load(t, contended().Source())
	for _, s := range exp.Standard() {
		var runs [2][]byte
		for i := range runs {
			f := run(t, l, s, sim.Replay{Tree: true})
			var err error
			if runs[i], err = json.Marshal(f); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(runs[0], runs[1]) {
			t.Errorf("%s: two runs differ:\n%s\n%s", s, runs[0], runs[1])
		}
	}
}

func TestContendedLoadIsCorrectUnderEverySetting(t *testing.T) {
	l := load(t, contended().Source())
	for _, name := range []string{"occ", "occ-passive", "inf", "2s", "100ms", "0s", "0s-passive"} {
		s, err := exp.ParseSetting(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []sim.Replay{
			{},
			{Options: sim.Options{LogSync: 5 * time.Millisecond, Latency: time.Millisecond}},
			{CacheBytes: 1}, // every version is evicted at once
			{CacheBytes: 60 << 10, Options: sim.Options{Bandwidth: 2e6, Retention: 5 * time.Second}},
		} {
			f := run(t, l, s, o)
			if f.Replay.ReadOnly+f.Replay.ReadWrite == 0 || f.Replay.Failed > 0 {
				t.Errorf("%s: %+v", s, f.Replay)
			}
			if !strings.Contains(name, "passive") && f.Clients.Aborts[occ.AbortActive] == 0 {
				t.Errorf("%s: no active abort on a contended load", s)
			}
			if strings.Contains(name, "passive") && f.Clients.Aborts[occ.AbortActive] > 0 {
				t.Errorf("%s: active aborts although they are switched off", s)
			}
		}
	}
}

func TestRetentionRestartsOldReaders(t *testing.T) {
	// ε = ∞ readers of a store that keeps nothing for long must meet "gone".
	// Hosts that hardly write keep old snapshots.
	p := contended()
	p.ReadOnly, p.Duration = 0.97, 10*time.Second
	l := load(t, p.Source())
	f := run(t, l, exp.Setting{Epsilon: client.Unbounded}, sim.Replay{
		CacheBytes: 40 << 10, Options: sim.Options{Retention: 10 * time.Millisecond},
	})
	if f.Clients.Restarts == 0 {
		t.Error("no restart, although versions are collected after 10 ms")
	}
}

func TestSingleClientTraceLeavesTheSameTree(t *testing.T) {
	p := contended()
	p.Hosts = 1
	ops := p.Ops()
	// Files that come and go, grow, and are touched.
	for i := range 200 {
		at := ops[len(ops)-1].Time + int64(i)*3000
		fid := traces.FID(9000 + i%7)
		op := traces.Op{Time: at, FID: fid, Host: 1000, Type: traces.Block, Action: traces.Write, Off: int64(i) * 1500, Size: 5000}
		switch i % 9 {
		case 4:
			op.Type, op.Off, op.Size = traces.Attr, 0, 0
		case 8:
			op.Type, op.Off, op.Size = traces.Delete, 0, 0
		}
		ops = append(ops, op)
	}
	var text []byte
	for _, op := range ops {
		text = append(traces.AppendAuspex(text, op), '\n')
	}
	leavesOneTree(t, load(t, traces.Bytes("single", text, traces.Options{})), "occ", "inf", "2s", "100ms", "0s")
}

// leavesOneTree checks that a load leaves the same tree under all settings,
// with hardly any cache and with much.
func leavesOneTree(t *testing.T, l *exp.Load, settings ...string) {
	t.Helper()
	trees := make(map[string][]string)
	for _, name := range settings {
		for _, cache := range []int64{1, 64 << 20} {
			s, err := exp.ParseSetting(name)
			if err != nil {
				t.Fatal(err)
			}
			f := run(t, l, s, sim.Replay{Tree: true, CacheBytes: cache})
			trees[f.Tree] = append(trees[f.Tree], name)
		}
	}
	if len(trees) != 1 {
		t.Errorf("the settings leave different trees: %v", trees)
	}
}

// TestFaultsAreNoticed breaks one rule at a time and expects the history
// checker to find it. A fault that goes unnoticed fails the test. (Stable
// ahead of a deprecation is scripted, in client/core.)
func TestFaultsAreNoticed(t *testing.T) {
	l := load(t, contended().Source())
	// Slow logs and links leave room between validation, durability and
	// delivery.
	slow := sim.Options{LogSync: 4 * time.Millisecond, Latency: time.Millisecond}
	for _, c := range []struct {
		name    string
		setting exp.Setting
		server  occ.Faults
		client  occ.Faults
	}{
		{"validation forgets pending transactions", exp.Setting{Epsilon: 0}, occ.Faults{ForgetPending: true}, occ.Faults{}},
		{"read check skipped", exp.Setting{Epsilon: 0, NoActiveAborts: true}, occ.Faults{SkipReadCheck: true}, occ.Faults{}},
		{"read check skipped, conventional", exp.Setting{Mode: client.Conventional}, occ.Faults{SkipReadCheck: true}, occ.Faults{}},
		{"deprecations lost", exp.Setting{Epsilon: 2 * time.Second}, occ.Faults{LoseDeprecation: true}, occ.Faults{}},
		{"floor not raised", exp.Setting{Epsilon: 2 * time.Second}, occ.Faults{}, occ.Faults{FloorNotRaised: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := sim.Replay{Options: slow, ClientFaults: c.client}
			run(t, l, c.setting, sim.Replay{Options: slow}) // without the fault all is well
			o.Options.Faults = c.server
			f, err := sim.Run(l, c.setting, o)
			if err == nil {
				t.Fatal("the fault was not noticed")
			}
			if f.History.Total == 0 {
				t.Fatalf("something else went wrong: %v", err)
			}
			t.Logf("%d violations, such as: %v", f.History.Total, f.History.Violations[0])
		})
	}
}
