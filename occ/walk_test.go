package occ

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestWalk visits every block that was written, once and in order, however it
// is divided.
func TestWalk(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	v := NewVersions(Faults{})
	var written []BlockID
	for at := Timestamp(1); at <= 500; at++ {
		b := BlockID(rng.Uint64() >> (40 + rng.IntN(24)))
		if at == 1 {
			b = math.MaxUint64
		}
		v.Apply(at, []Write{{Block: b}}, func(Write) uint32 { return 0 })
		written = append(written, b)
	}
	slices.Sort(written)
	written = slices.Compact(written)
	for _, limit := range []int{1, pageBlocks, 1000, math.MaxInt} {
		for _, most := range []int{1, 7, math.MaxInt} {
			var got []BlockID
			for first, more := BlockID(0), true; more; {
				n := 0
				from := first
				first, more = v.Walk(first, limit, func(b BlockID, current Timestamp) bool {
					if n++; n > most {
						return false
					}
					if current != v.Current(b) {
						t.Fatalf("block %d is at %d, not %d", b, v.Current(b), current)
					}
					got = append(got, b)
					return true
				})
				if more && first <= from {
					t.Fatalf("no progress from block %d", from)
				}
			}
			if !slices.Equal(got, written) {
				t.Fatalf("limit %d, %d at a time: %d blocks, want %d", limit, most, len(got), len(written))
			}
		}
	}
	if _, more := v.Walk(0, math.MaxInt, func(BlockID, Timestamp) bool { return true }); more {
		t.Error("there is more behind everything")
	}
}
