package core

import "github.com/tidemark/tidemark/occ"

// version is one version of a block. It is in the index while it is cached or
// while a running transaction has read it (pins), and in the LRU list only
// while it is cached.
type version struct {
	block occ.BlockID
	occ.Interval
	data    []byte // immutable; full block size
	pins    int
	cached  bool
	bounded bool // it was open when a connection was lost, and may still be current

	newer, older   *version // neighbours in the index: the other versions of the block
	lruPrev, lruNx *version // neighbours in the LRU list, newest use first
}

// versionOverhead approximates the memory of a version besides its data.
const versionOverhead = 160

func (v *version) cost() int64 { return int64(len(v.data)) + versionOverhead }

// cache is the multi-version cache: for each block a chain of versions,
// newest first, and one LRU list over all that are cached.
type cache struct {
	index map[occ.BlockID]*version
	lru   version // sentinel
	bytes int64
	limit int64
	count int
	stats *Stats
}

func newCache(limit int64, stats *Stats) *cache {
	c := &cache{index: make(map[occ.BlockID]*version), limit: limit, stats: stats}
	c.lru.lruPrev, c.lru.lruNx = &c.lru, &c.lru
	return c
}

// find returns version from of block b, or nil.
func (c *cache) find(b occ.BlockID, from occ.Timestamp) *version {
	for v := c.index[b]; v != nil && v.From >= from; v = v.older {
		if v.From == from {
			return v
		}
	}
	return nil
}

// open returns the version of b that is held open, or nil. Only the newest
// known version can be.
func (c *cache) open(b occ.BlockID) *version {
	if v := c.index[b]; v != nil && v.To == occ.Open {
		return v
	}
	return nil
}

// install puts a version into the index and the cache, or brings what is
// known of it up to date: an open end means that the server has registered
// the client for it. A number is an end up to which it is valid, not always the
// true one (protocol, section 7), so the larger of two is kept.
func (c *cache) install(b occ.BlockID, iv occ.Interval, data []byte) *version {
	v := c.find(b, iv.From)
	if v == nil {
		v = &version{block: b, Interval: iv, data: data}
		c.link(v)
	}
	v.To = max(v.To, iv.To)
	v.bounded = false
	if !v.cached {
		v.cached = true
		c.bytes += v.cost()
		c.count++
		c.pushFront(v)
		c.shrink()
	} else {
		c.touch(v)
	}
	return v
}

// shrink evicts the least recently used versions until the limit holds. The
// newest use always stays: a block that is larger than the limit is served.
func (c *cache) shrink() {
	for c.bytes > c.limit && c.count > 1 {
		c.evict(c.lru.lruPrev)
		c.stats.Evictions++
	}
}

// evict takes v out of the cache; it leaves the index as soon as no running
// transaction has read it.
func (c *cache) evict(v *version) {
	v.lruPrev.lruNx, v.lruNx.lruPrev = v.lruNx, v.lruPrev
	v.lruPrev, v.lruNx = nil, nil
	v.cached = false
	c.bytes -= v.cost()
	c.count--
	if v.pins == 0 {
		c.unlink(v)
	}
}

func (c *cache) pin(v *version) { v.pins++ }

func (c *cache) unpin(v *version) {
	v.pins--
	if v.pins == 0 && !v.cached {
		c.unlink(v)
	}
}

// link puts v into the index.
func (c *cache) link(v *version) {
	v.older = c.index[v.block]
	for v.older != nil && v.older.From > v.From {
		v.newer, v.older = v.older, v.older.older
	}
	if v.older != nil {
		v.older.newer = v
	}
	if v.newer != nil {
		v.newer.older = v
	} else {
		c.index[v.block] = v
	}
}

// unlink takes v out of the index.
func (c *cache) unlink(v *version) {
	if v.older != nil {
		v.older.newer = v.newer
	}
	switch {
	case v.newer != nil:
		v.newer.older = v.older
	case v.older != nil:
		c.index[v.block] = v.older
	default:
		delete(c.index, v.block)
	}
	v.newer, v.older = nil, nil
}

func (c *cache) pushFront(v *version) {
	v.lruPrev, v.lruNx = &c.lru, c.lru.lruNx
	v.lruPrev.lruNx, v.lruNx.lruPrev = v, v
}

// touch marks v as just used.
func (c *cache) touch(v *version) {
	if !v.cached || c.lru.lruNx == v {
		return
	}
	v.lruPrev.lruNx, v.lruNx.lruPrev = v.lruNx, v.lruPrev
	c.pushFront(v)
}

// each calls f for every version in the index. The order is not defined: f
// must not depend on it.
func (c *cache) each(f func(*version)) {
	for _, v := range c.index {
		for v != nil {
			next := v.older
			f(v)
			v = next
		}
	}
}

// evictThrough evicts every version that ended at or before horizon.
func (c *cache) evictThrough(horizon occ.Timestamp) {
	for v := c.lru.lruNx; v != &c.lru; {
		next := v.lruNx
		if v.To <= horizon {
			c.evict(v)
		}
		v = next
	}
}
