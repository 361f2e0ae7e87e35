package core

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tidemark/tidemark/occ"
)

// twinVersion and twinCache are the cache as a plain list.
type twinVersion struct {
	block  occ.BlockID
	iv     occ.Interval
	cost   int64
	pins   int
	cached bool
	used   int
}

type twinCache struct {
	versions []*twinVersion
	limit    int64
	clock    int
	evicted  uint64
}

func (c *twinCache) find(b occ.BlockID, from occ.Timestamp) *twinVersion {
	for _, v := range c.versions {
		if v.block == b && v.iv.From == from {
			return v
		}
	}
	return nil
}

func (c *twinCache) use(v *twinVersion) {
	c.clock++
	v.used = c.clock
}

func (c *twinCache) install(b occ.BlockID, iv occ.Interval, size int) {
	v := c.find(b, iv.From)
	if v == nil {
		v = &twinVersion{block: b, iv: iv, cost: int64(size) + versionOverhead}
		c.versions = append(c.versions, v)
	}
	v.iv.To = max(v.iv.To, iv.To)
	v.cached = true
	c.use(v)
	for {
		bytes, count := c.held()
		if bytes <= c.limit || count <= 1 {
			return
		}
		var oldest *twinVersion
		for _, v := range c.versions {
			if v.cached && (oldest == nil || v.used < oldest.used) {
				oldest = v
			}
		}
		oldest.cached = false
		c.evicted++
		c.forget()
	}
}

func (c *twinCache) held() (bytes int64, count int) {
	for _, v := range c.versions {
		if v.cached {
			bytes += v.cost
			count++
		}
	}
	return bytes, count
}

func (c *twinCache) forget() {
	c.versions = slices.DeleteFunc(c.versions, func(v *twinVersion) bool { return !v.cached && v.pins == 0 })
}

func TestCacheAgainstTwin(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 20 {
		var stats Stats
		limit := int64(rng.IntN(10 * (versionOverhead + 50)))
		c := newCache(limit, &stats)
		twin := &twinCache{limit: limit}
		var pinned []*version
		for range 1000 {
			b := occ.BlockID(rng.IntN(4))
			from := occ.Timestamp(rng.IntN(20))
			v, w := c.find(b, from), twin.find(b, from)
			switch rng.IntN(8) {
			case 0, 1:
				size := 10 * (int(from) + int(b)) // the same at every install
				iv := occ.Interval{From: from, To: from + 1}
				if c.index[b] == nil || from >= c.index[b].From {
					iv.To = occ.Open
				}
				c.install(b, iv, make([]byte, size))
				twin.install(b, iv, size)
			case 2:
				if v != nil && v.cached {
					c.evict(v)
					w.cached = false
					twin.forget()
				}
			case 3:
				if v != nil {
					c.pin(v)
					w.pins++
					pinned = append(pinned, v)
				}
			case 4:
				if len(pinned) > 0 {
					i := rng.IntN(len(pinned))
					p := pinned[i]
					pinned = slices.Delete(pinned, i, i+1)
					twin.find(p.block, p.From).pins--
					c.unpin(p)
					twin.forget()
				}
			case 5:
				if v != nil {
					c.touch(v)
					if w.cached {
						twin.use(w)
					}
				}
			case 6:
				if v := c.open(b); v != nil && v.From < from { // closed by a later one
					twin.find(b, v.From).iv.To = from
					v.To = from
				}
			case 7:
				if rng.IntN(10) == 0 {
					c.evictThrough(from)
					for _, w := range twin.versions {
						if w.cached && w.iv.To <= from {
							w.cached = false
						}
					}
					twin.forget()
				}
			}
			sameCache(t, c, twin)
			if stats.Evictions != twin.evicted {
				t.Fatalf("%d evictions, want %d", stats.Evictions, twin.evicted)
			}
		}
		for _, p := range pinned {
			c.unpin(p)
		}
		for c.count > 0 {
			c.evict(c.lru.lruPrev)
		}
		if c.bytes != 0 || len(c.index) != 0 {
			t.Fatalf("an empty cache holds %d bytes and %d blocks", c.bytes, len(c.index))
		}
	}
}

// sameCache compares everything that can be seen of the two.
func sameCache(t *testing.T, c *cache, twin *twinCache) {
	t.Helper()
	bytes, count := twin.held()
	if c.bytes != bytes || c.count != count {
		t.Fatalf("%d bytes in %d versions, want %d in %d", c.bytes, c.count, bytes, count)
	}
	seen := 0
	for b, head := range c.index {
		if head.newer != nil {
			t.Fatalf("block %d: something is newer than the newest", b)
		}
		open := c.open(b)
		for v := head; v != nil; v = v.older {
			seen++
			w := twin.find(b, v.From)
			if w == nil || w.iv != v.Interval || w.pins != v.pins || w.cached != v.cached || w.cost != v.cost() {
				t.Fatalf("block %d: %+v, want %+v", b, v, w)
			}
			if v.older != nil && (v.older.From >= v.From || v.older.newer != v) {
				t.Fatalf("block %d: version %d stands before %d", b, v.From, v.older.From)
			}
			if (v == open) != (v == head && v.To == occ.Open) {
				t.Fatalf("block %d: the open version is %v", b, open)
			}
		}
	}
	if seen != len(twin.versions) {
		t.Fatalf("%d versions in the index, want %d", seen, len(twin.versions))
	}
	last := twin.clock + 1
	listed := 0
	for v := c.lru.lruNx; v != &c.lru; v = v.lruNx {
		w := twin.find(v.block, v.From)
		if w == nil || !w.cached || w.used >= last {
			t.Fatalf("version %d of block %d stands at the wrong place in the order of use", v.From, v.block)
		}
		last = w.used
		listed++
	}
	if listed != count {
		t.Fatalf("%d versions in the order of use, want %d", listed, count)
	}
}
