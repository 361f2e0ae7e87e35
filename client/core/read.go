package core

import (
	"slices"

	"github.com/tidemark/tidemark/occ"
)

// Read returns the content of b for t, if it can be told without the server:
// what t wrote itself, what it read before, or a cached version that it may
// read. The bytes are immutable. ok is false when b has to be asked for.
//
// The transaction must be Running.
func (c *Core) Read(t *Tx, b occ.BlockID) (data []byte, ok bool) {
	if t.writeAt != nil {
		if i, own := t.writeAt[b]; own {
			return c.padded(t.writes[i].Data), true
		}
	}
	if v := t.seen(b); v != nil {
		return v.data, true
	}
	v := c.lookup(t, b)
	if v == nil {
		return nil, false
	}
	c.stats.Hits++
	c.cache.touch(v)
	c.admit(t, v)
	return v.data, true
}

// lookup finds the version of b that t may read, in the cache.
func (c *Core) lookup(t *Tx, b occ.BlockID) *version {
	if !t.atSnapshot() {
		return c.cache.open(b)
	}
	if !t.loKnown {
		return nil
	}
	c.settle(t)
	for v := c.cache.index[b]; v != nil && v.To > t.snap.Lo; v = v.older {
		if t.snap.Fits(v.Interval, c.glub) {
			return v
		}
	}
	return nil
}

// ReadMany is Read for several blocks: it fills data for those that can be
// told and reports whether that was all of them.
func (c *Core) ReadMany(t *Tx, ids []occ.BlockID, data [][]byte) bool {
	all := true
	for i, b := range ids {
		if data[i] != nil {
			continue
		}
		var ok bool
		if data[i], ok = c.Read(t, b); !ok {
			all = false
		}
	}
	return all
}

// arrived hands a version that came from the server to a transaction that
// waits for it, so that an eviction before the transaction goes on does no
// harm. A version that does not fit is left: the transaction asks again, then
// at its Hi.
func (c *Core) arrived(t *Tx, v *version) {
	if t.seen(v.block) != nil {
		return
	}
	if !t.atSnapshot() {
		if v.To == occ.Open {
			c.admit(t, v)
		}
		return
	}
	c.settle(t)
	if t.loKnown && t.snap.Fits(v.Interval, c.glub) {
		c.admit(t, v)
	}
}

// Write puts the new content of b into t's write set. data is the Core's from
// now on and must not change; shorter than a block it is padded with zeros.
func (c *Core) Write(t *Tx, b occ.BlockID, data []byte) {
	if i, again := t.writeAt[b]; again {
		t.writes[i].Data = data
		return
	}
	if t.writeAt == nil {
		t.writeAt = make(map[occ.BlockID]int)
	}
	t.writeAt[b] = len(t.writes)
	t.writes = append(t.writes, occ.Write{Block: b, Data: data})
}

// padded returns data at the length of a block.
func (c *Core) padded(data []byte) []byte {
	switch {
	case len(data) == c.blockSize:
		return data
	case len(data) == 0:
		return c.zeros
	}
	return append(slices.Clip(data), c.zeros[len(data):]...)
}
