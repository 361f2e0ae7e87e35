package nfs

// cache holds at most limit values by key. The one that leaves for a new one was
// not used since the hand passed it last: the clock algorithm, an approximation
// of least recently used that needs no list.
type cache[K comparable, V any] struct {
	limit int
	index map[K]int32
	slots []cached[K, V]
	free  []int32 // slots that were deleted
	hand  int
}

type cached[K comparable, V any] struct {
	key   K
	value V
	used  bool
}

func newCache[K comparable, V any](limit int) cache[K, V] {
	return cache[K, V]{limit: limit, index: make(map[K]int32)}
}

// at returns the value in a slot found by index, which counts as a use.
func (c *cache[K, V]) at(slot int32) *V {
	c.slots[slot].used = true
	return &c.slots[slot].value
}

// put returns the value of a key for the caller to set, valid until the next
// put; it is zero if the key is new.
func (c *cache[K, V]) put(key K) *V {
	if slot, ok := c.index[key]; ok {
		return c.at(slot)
	}
	slot := c.room()
	c.slots[slot] = cached[K, V]{key: key}
	c.index[key] = slot
	return &c.slots[slot].value
}

// room returns a slot without a key.
func (c *cache[K, V]) room() int32 {
	if n := len(c.free); n > 0 {
		slot := c.free[n-1]
		c.free = c.free[:n-1]
		return slot
	}
	if len(c.slots) < c.limit {
		c.slots = append(c.slots, cached[K, V]{})
		return int32(len(c.slots) - 1)
	}
	for {
		slot := c.hand
		c.hand = (c.hand + 1) % len(c.slots)
		if s := &c.slots[slot]; s.used {
			s.used = false
		} else {
			delete(c.index, s.key)
			return int32(slot)
		}
	}
}

// remove forgets a key.
func (c *cache[K, V]) remove(key K) {
	if slot, ok := c.index[key]; ok {
		delete(c.index, key)
		c.slots[slot] = cached[K, V]{}
		c.free = append(c.free, slot)
	}
}
