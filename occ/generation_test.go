package occ

import "testing"

func TestNextGeneration(t *testing.T) {
	for _, c := range []struct {
		epoch  uint64
		chance uint16
		want   uint64
	}{{0, 0, 1 << 32}, {1<<32 - 1, 0, 1 << 32}, {1 << 32, 0, 2 << 32}, {7<<32 | 5, 3, 11 << 32}} {
		if got, ok := NextGeneration(c.epoch, c.chance); got != c.want || !ok {
			t.Errorf("after %x by %d: %x, %t", c.epoch, c.chance, got, ok)
		}
	}
	if got, ok := NextGeneration(1<<64-1, 7); ok {
		t.Errorf("after the last one: %x", got)
	}
}
