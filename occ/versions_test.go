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
	pins    []Timestamp // some perhaps twice
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
	if at < tw.horizon && !slices.Contains(tw.pins, at) {
		return Interval{}, false
	}
	iv := Interval{From: tw.newest(b, min(at, tw.stable)), To: Open}
	for to := iv.From + 1; to <= tw.stable; to++ {
		if tw.commits[to-1][b] {
			iv.To = to
			break
		}
	}
	if iv.To <= tw.horizon {
		iv.To = tw.newestPin(iv) + 1
	}
	return iv, true
}

// newestPin is the newest pinned timestamp in iv; there is one.
func (tw *twinVersions) newestPin(iv Interval) (newest Timestamp) {
	for _, at := range tw.pins {
		if iv.Contains(at) {
			newest = max(newest, at)
		}
	}
	return newest
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
			switch rng.IntN(7) {
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
					v.Apply(tw.stable, pending[0], func(w Write) uint32 { return uint32(w.Block) + 7 })
					pending = pending[1:]
				}
			case 4:
				h := Timestamp(rng.IntN(int(tw.stable) + 3))
				v.SetHorizon(h)
				tw.horizon = max(tw.horizon, min(h, tw.stable))
				b := BlockID(rng.IntN(blocks))
				gone := v.Collect(b)
				for i, from := range gone {
					if slices.ContainsFunc(readable(tw), func(at Timestamp) bool { return tw.newest(b, at) == from }) {
						t.Fatalf("version %d of block %d was collected at horizon %d, and is reached", from, b, tw.horizon)
					}
					if from == 0 || i > 0 && from <= gone[i-1] {
						t.Fatalf("collected %v", gone)
					}
				}
			case 5:
				if at := Timestamp(rng.IntN(int(tw.stable) + 1)); v.Readable(at) {
					v.Pin(at)
					tw.pins = append(tw.pins, at)
				}
			case 6:
				if len(tw.pins) > 0 {
					i := rng.IntN(len(tw.pins))
					at := tw.pins[i]
					tw.pins = slices.Delete(tw.pins, i, i+1)
					if last := v.Unpin(at); last == slices.Contains(tw.pins, at) {
						t.Fatalf("unpinned %d, last %v, with %v left", at, last, tw.pins)
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
				if got := v.Weight(b); (got != 0) != (v.Current(b) > 0) || got != 0 && got != uint32(b)+7 {
					t.Fatalf("block %d weighs %d", b, got)
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

// readable are all timestamps that can be looked up.
func readable(tw *twinVersions) (all []Timestamp) {
	for at := range tw.stable + 1 {
		if _, ok := tw.lookup(0, at); ok {
			all = append(all, at)
		}
	}
	return all
}

// TestCollectKeepsWhatIsNeeded: after everything was collected, exactly those
// versions are kept that some readable timestamp reaches.
func TestCollectKeepsWhatIsNeeded(t *testing.T) {
	const blocks, commits = 4, 60
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 100 {
		v := NewVersions(Faults{})
		tw := &twinVersions{}
		for at := range Timestamp(commits) {
			b := BlockID(rng.IntN(blocks))
			tw.commits = append(tw.commits, map[BlockID]bool{b: true})
			tw.stable++
			v.Apply(at+1, []Write{{Block: b}}, func(Write) uint32 { return 0 })
		}
		for range rng.IntN(5) {
			at := Timestamp(rng.IntN(commits))
			v.Pin(at)
			tw.pins = append(tw.pins, at)
		}
		tw.horizon = Timestamp(rng.IntN(commits))
		v.SetHorizon(tw.horizon)
		kept := 0
		for b := range BlockID(blocks) {
			v.Collect(b)
			needed := map[Timestamp]bool{}
			for _, at := range readable(tw) {
				needed[tw.newest(b, at)] = true
			}
			delete(needed, 0)
			delete(needed, tw.newest(b, tw.stable))
			kept += len(needed)
		}
		if v.Retained() != kept {
			t.Fatalf("%d superseded versions are kept, %d are needed", v.Retained(), kept)
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
			NewVersions(Faults{}).Apply(at, nil, nil)
		}()
	}
}

func TestFaultsBreakValidation(t *testing.T) {
	pending := NewVersions(Faults{ForgetPending: true})
	pending.Assign([]Write{{Block: 1}})
	skip := NewVersions(Faults{SkipReadCheck: true})
	skip.Apply(1, []Write{{Block: 1}}, func(Write) uint32 { return 0 })
	stale := []Read{{Block: 1}}
	if pending.Validate(stale) != nil || skip.Validate(stale) != nil || skip.ValidateStable(stale) != nil {
		t.Error("a fault that is switched on breaks nothing")
	}
}

// TestBytes: Growth foretells what Assign adds to Bytes, and a lone block
// counts its whole page.
func TestBytes(t *testing.T) {
	v := NewVersions(Faults{})
	for i, blocks := range [][]BlockID{{1, 2, 3, 64, 65}, {1, 2}, {1 << 40, 1 << 50}, {66, 3}} {
		var writes []Write
		for _, b := range blocks {
			writes = append(writes, Write{Block: b})
		}
		want := v.Bytes() + v.Growth(writes)
		if v.Assign(writes); v.Bytes() != want {
			t.Errorf("%v: %d bytes, foretold %d", blocks, v.Bytes(), want)
		}
		v.Apply(Timestamp(i+1), writes, func(Write) uint32 { return 1 })
	}
	if want := int64(4*PageBytes + 3*OldVersionBytes); v.Bytes() != want || v.Blocks() != 8 || v.Retained() != 3 {
		t.Errorf("%d bytes, want %d; %d blocks, %d retained", v.Bytes(), want, v.Blocks(), v.Retained())
	}
}
