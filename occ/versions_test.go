package occ

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// twinVersions is Versions as a list of commits: nothing is indexed and
// nothing is forgotten.
type twinVersions struct {
	commits []map[BlockID]bool // commits[i] wrote at timestamp i+1
	stable  Timestamp
	horizon Timestamp
}

// newest is the last commit up to through that wrote b.
func (tw *twinVersions) newest(b BlockID, through Timestamp) Timestamp {
	for at := through; at > 0; at-- {
		if tw.commits[at-1][b] {
			return at
		}
	}
	return 0
}

func (tw *twinVersions) lookup(b BlockID, at Timestamp) (Interval, bool) {
	if at < tw.horizon {
		return Interval{}, false
	}
	iv := Interval{From: tw.newest(b, min(at, tw.stable)), To: Open}
	for to := iv.From + 1; to <= tw.stable; to++ {
		if tw.commits[to-1][b] {
			iv.To = to
			break
		}
	}
	return iv, true
}

func (tw *twinVersions) validate(reads []Read, through Timestamp) (changed []Read) {
	for _, r := range reads {
		if n := tw.newest(r.Block, through); n != r.From {
			changed = append(changed, Read{r.Block, n})
		}
	}
	return changed
}

func TestVersionsAgainstTwin(t *testing.T) {
	const blocks = 5
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 30 {
		v := NewVersions(Faults{})
		tw := &twinVersions{}
		var pending [][]Write
		for range 150 {
			switch rng.IntN(5) {
			case 0, 1:
				var ws []Write
				wrote := map[BlockID]bool{}
				for range rng.IntN(4) {
					b := BlockID(rng.IntN(blocks)) // perhaps twice
					ws = append(ws, Write{Block: b})
					wrote[b] = true
				}
				tw.commits = append(tw.commits, wrote)
				pending = append(pending, ws)
				if at := v.Assign(ws); at != Timestamp(len(tw.commits)) {
					t.Fatalf("assigned %d after %d commits", at, len(tw.commits)-1)
				}
			case 2, 3:
				if len(pending) > 0 {
					tw.stable++
					v.Apply(tw.stable, pending[0])
					pending = pending[1:]
				}
			case 4:
				h := Timestamp(rng.IntN(int(tw.stable) + 3))
				v.SetHorizon(h)
				tw.horizon = max(tw.horizon, min(h, tw.stable))
				b := BlockID(rng.IntN(blocks))
				gone := v.Collect(b)
				for i, from := range gone {
					if iv, ok := tw.lookup(b, max(from, tw.horizon)); ok && iv.From == from {
						t.Fatalf("version %d of block %d was collected at horizon %d, and is reached by it", from, b, tw.horizon)
					}
					if i > 0 && from <= gone[i-1] {
						t.Fatalf("collected %v", gone)
					}
				}
			}
			if v.Stable() != tw.stable || v.Assigned() != Timestamp(len(tw.commits)) || v.Horizon() != tw.horizon {
				t.Fatalf("heads %d %d %d, want %d %d %d", v.Stable(), v.Assigned(), v.Horizon(), tw.stable, len(tw.commits), tw.horizon)
			}
			var reads []Read
			for b := range BlockID(blocks) {
				if got, want := v.Newest(b), tw.newest(b, Timestamp(len(tw.commits))); got != want {
					t.Fatalf("newest of block %d is %d, want %d", b, got, want)
				}
				if got, want := v.Current(b), tw.newest(b, tw.stable); got != want {
					t.Fatalf("current of block %d is %d, want %d", b, got, want)
				}
				for _, at := range slices.Concat([]Timestamp{Latest}, upTo(tw.stable)) {
					got, ok := v.Lookup(b, at)
					want, known := tw.lookup(b, at)
					if got != want || ok != known {
						t.Fatalf("block %d at %d: %v %v, want %v %v (horizon %d)", b, at, got, ok, want, known, tw.horizon)
					}
				}
				reads = append(reads, Read{b, Timestamp(rng.IntN(len(tw.commits) + 1))})
			}
			if got, want := v.Validate(reads), tw.validate(reads, Timestamp(len(tw.commits))); !reflect.DeepEqual(got, want) {
				t.Fatalf("validating %v: %v, want %v", reads, got, want)
			}
			if got, want := v.ValidateStable(reads), tw.validate(reads, tw.stable); !reflect.DeepEqual(got, want) {
				t.Fatalf("validating %v against the stable state: %v, want %v", reads, got, want)
			}
		}
	}
}

func upTo(last Timestamp) (all []Timestamp) {
	for at := range last + 1 {
		all = append(all, at)
	}
	return all
}

func TestApplyOutOfOrderPanics(t *testing.T) {
	for _, at := range []Timestamp{0, 2} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("applied %d first", at)
				}
			}()
			NewVersions(Faults{}).Apply(at, nil)
		}()
	}
}

func TestFaultsBreakValidation(t *testing.T) {
	pending := NewVersions(Faults{ForgetPending: true})
	pending.Assign([]Write{{Block: 1}})
	skip := NewVersions(Faults{SkipReadCheck: true})
	skip.Apply(1, []Write{{Block: 1}})
	stale := []Read{{Block: 1}}
	if pending.Validate(stale) != nil || skip.Validate(stale) != nil || skip.ValidateStable(stale) != nil {
		t.Error("a fault that is switched on breaks nothing")
	}
}
