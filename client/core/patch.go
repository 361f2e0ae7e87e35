package core

import (
	"bytes"
	"slices"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// WriteAt puts b into t's write set with p in place of what stands at byte off
// of it, which must lie within the block. What the transaction reads there is
// what changes, so b is in its read set afterwards, unless t had written it
// without reading. ok is false when b has to be asked for first. p is copied.
//
// The transaction must be Running.
func (c *Core) WriteAt(t *Tx, b occ.BlockID, off int, p []byte) (ok bool) {
	old, ok := c.Read(t, b)
	if !ok {
		return false
	}
	data := bytes.Clone(old) // old may have been handed out
	copy(data[off:], p)
	c.Write(t, b, data)
	return true
}

// writeSet is t's write set as it is sent: where a block was read as well, by
// the ranges in which it differs from the version read, if these take fewer
// bytes and a message has room for so many (wire.MaxEntries); later blocks are
// then sent whole. It does not matter in how many steps, or by which calls, the
// difference came about. The version is pinned by the read set until the
// answer; as long as it is, the same write set comes out each time, and so
// does the digest of the commit.
func (c *Core) writeSet(t *Tx) []occ.Write {
	set, room := t.writes, wire.MaxEntries
	for i, w := range t.writes {
		base := t.seen(w.Block)
		if base == nil {
			continue
		}
		ranges := wire.Difference(base.data, c.padded(w.Data))
		if ranges == nil || len(ranges) > room {
			continue
		}
		room -= len(ranges)
		if &set[0] == &t.writes[0] {
			set = slices.Clone(set) // the answer installs t.writes, which are whole
		}
		set[i] = occ.Write{Block: w.Block, Ranges: ranges}
	}
	return set
}
