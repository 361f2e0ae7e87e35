package occ

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestInOrder(t *testing.T) {
	one := []byte{0}
	for _, c := range []struct {
		name   string
		ranges []Range
		want   bool
	}{
		{"none", nil, true},
		{"one", []Range{{5, one}}, true},
		{"apart", []Range{{0, one}, {2, one}}, true},
		{"touching", []Range{{0, one}, {1, one}}, false},
		{"overlapping", []Range{{0, []byte{1, 2, 3}}, {2, one}}, false},
		{"backwards", []Range{{4, one}, {0, one}}, false},
		{"empty", []Range{{4, nil}}, false},
	} {
		if got := InOrder(c.ranges); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestPatch(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 3000 {
		base := make([]byte, rng.IntN(30))
		for i := range base {
			base[i] = byte(rng.IntN(3))
		}
		kept := bytes.Clone(base)
		want := make([]byte, 60)
		copy(want, base)
		var ranges []Range
		for off := rng.IntN(8); len(ranges) < 4; off += 1 + rng.IntN(6) {
			data := make([]byte, 1+rng.IntN(5))
			for i := range data {
				data[i] = byte(rng.IntN(3))
				want[off+i] = data[i]
			}
			ranges = append(ranges, Range{uint32(off), data})
			off += len(data)
		}
		got := Patch(base, ranges)
		if want := bytes.TrimRight(want, "\x00"); !bytes.Equal(got, want) {
			t.Fatalf("%v on %v is %v, want %v", ranges, base, got, want)
		}
		if !bytes.Equal(base, kept) {
			t.Fatalf("%v changed its base", ranges)
		}
		if cap(got) > len(got) {
			t.Fatalf("zeros behind the end of %v", got)
		}
	}
	if got := Patch([]byte{1, 2}, nil); !bytes.Equal(got, []byte{1, 2}) {
		t.Errorf("no ranges give %v", got)
	}
}
