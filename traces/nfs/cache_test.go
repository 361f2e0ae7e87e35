package nfs

import (
	"math/rand/v2"
	"testing"
)

// TestCacheKeepsWhatIsUsed compares with a map of everything: what the cache
// has is right, it never has more than its limit, and what is used all the time
// stays.
func TestCacheKeepsWhatIsUsed(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 3))
		limit := 2 + rng.IntN(20)
		c := newCache[int, int](limit)
		all := make(map[int]int)
		for step := range 3000 {
			key := rng.IntN(60)
			switch rng.IntN(4) {
			case 0:
				c.remove(key)
				delete(all, key)
			default:
				*c.put(key) = step
				all[key] = step
			}
			*c.put(-1) = -1
			all[-1] = -1
			if len(c.index) > limit || len(c.slots) > limit || len(c.index)+len(c.free) != len(c.slots) {
				t.Fatalf("seed %d: %d keys and %d free in %d slots of %d", seed, len(c.index), len(c.free), len(c.slots), limit)
			}
			for key, slot := range c.index {
				if c.slots[slot].value != all[key] || c.slots[slot].key != key {
					t.Fatalf("seed %d: %d is %v, want %d", seed, key, c.slots[slot], all[key])
				}
			}
		}
	}
	c := newCache[int, int](10)
	for i := range 1000 {
		c.put(i)
		if _, ok := c.index[0]; ok {
			c.at(c.index[0])
		}
	}
	if _, ok := c.index[0]; !ok {
		t.Error("what was used before every new key has left")
	}
}
