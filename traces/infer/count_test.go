package infer

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/tidemark/tidemark/traces"
)

// Count counts what the events are.
func TestCountAgreesWithEvents(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		var ops []traces.Op
		for i := range rng.IntN(200) {
			op := traces.Op{
				Time: int64(i) * rng.Int64N(2_000_000), FID: traces.FID(rng.IntN(5)), Host: rng.Uint32N(3),
				Type: traces.Types[rng.IntN(len(traces.Types))], Size: rng.Int64N(4 << 20), Line: int64(i + 1),
			}
			if op.Type <= traces.Close && rng.IntN(2) == 0 || op.Type > traces.Lookup {
				op.Action = traces.Write
			}
			if op.Type == traces.Lookup || op.Type == traces.Link || op.Type == traces.Rename {
				op.Place = &traces.Place{Dir: 9, Name: "n"}
			}
			if op.Type == traces.Rename {
				op.Place.ToDir, op.Place.ToName = 9, "m"
			}
			ops = append(ops, op)
		}
		for _, opt := range []Options{{}, {PerOperation: true}} {
			events := NewEvents(traces.Slice(ops), opt)
			for _, err := range events.All() {
				if err != nil {
					t.Fatal(err)
				}
			}
			want := events.Counts()
			want.MaxBuffered = 0
			got, err := Count(traces.Slice(ops), opt)
			if err != nil || got != want {
				t.Fatalf("%+v: got %+v, %v\nwant %+v", opt, got, err, want)
			}
		}
	}
}

func TestCountIsBounded(t *testing.T) {
	var ops []traces.Op
	for i := range 11 {
		ops = append(ops, traces.Op{Time: int64(i), FID: traces.FID(i), Type: traces.Block, Line: int64(i + 1)})
	}
	var dense *LookaheadError
	if _, err := Count(traces.Slice(ops), Options{MaxBuffered: 10}); !errors.As(err, &dense) || dense.Line != 11 {
		t.Errorf("got %v", err)
	}
}

// An open that would write more than MaxWritten ends before, and the Block
// begins another one of the same origin.
func TestFullOpens(t *testing.T) {
	const piece = 1 << 20
	write := func(sec, off int64) traces.Op {
		return traces.Op{Time: sec * 1e6, FID: 1, Host: 1, Type: traces.Block, Action: traces.Write, Off: off, Size: piece}
	}
	for name, opened := range map[string]bool{"explicit": true, "implicit": false} {
		var ops []traces.Op
		if opened {
			ops = append(ops, traces.Op{FID: 1, Host: 1, Type: traces.Open})
		}
		for i := range int64(17) {
			ops = append(ops, write(i, i*piece))
		}
		c, err := Count(traces.Slice(ops), Options{})
		want := Counts{ImplicitOpens: 3}
		if opened {
			want = Counts{ExplicitOpens: 3}
		}
		if err != nil || c.Full != 2 || c.ReadWrite != 3 || c.ExplicitOpens != want.ExplicitOpens || c.ImplicitOpens != want.ImplicitOpens {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	// One Block is never divided, and pages that are touched count whole.
	big := traces.Op{FID: 1, Host: 1, Type: traces.Block, Action: traces.Write, Size: 2 * MaxWritten}
	if c, err := Count(traces.Slice([]traces.Op{big}), Options{}); err != nil || c.Full != 0 || c.ReadWrite != 1 {
		t.Errorf("one large Block: %+v, %v", c, err)
	}
	var small []traces.Op
	for i := range MaxWritten/(2*pageSize) + 1 { // each touches two pages
		small = append(small, traces.Op{Time: i, FID: 1, Host: 1, Type: traces.Block, Action: traces.Write, Off: pageSize - 1, Size: 2})
	}
	if c, err := Count(traces.Slice(small), Options{}); err != nil || c.Full != 1 {
		t.Errorf("small writes: %+v, %v", c, err)
	}
}
