package core

import (
	"math"

	"github.com/google/btree"

	"github.com/tidemark/tidemark/occ"
)

// valueSizes knows what all versions weigh, which superseded ones are kept,
// and why. What current versions weigh is in occ.Versions.
type valueSizes struct {
	bytes int64                            // data and overhead of all versions, and of those not yet applied
	ended *btree.BTreeG[endedVersion]      // superseded, not yet looked at since the horizon passed them
	held  map[occ.Timestamp][]endedVersion // behind the horizon, by the newest pinned timestamp inside
	loose [][]endedVersion                 // were held by timestamps that are no longer pinned
}

func newValueSizes() valueSizes {
	return valueSizes{ended: btree.NewG(32, endedBefore), held: make(map[occ.Timestamp][]endedVersion)}
}

// endedVersion is a superseded version. Version 0 is none: it has no data.
type endedVersion struct {
	end    occ.Timestamp
	block  occ.BlockID
	from   occ.Timestamp
	weight uint32
}

// endedBefore orders versions by their ends; a block has one version that
// ended at a given timestamp.
func endedBefore(a, b endedVersion) bool {
	if a.end != b.end {
		return a.end < b.end
	}
	return a.block < b.block
}

// supersede notes that the current version of b ends at end.
func (c *Core) supersede(b occ.BlockID, end occ.Timestamp) {
	if from := c.versions.Current(b); from > 0 {
		c.values.ended.ReplaceOrInsert(endedVersion{end: end, block: b, from: from, weight: c.versions.Weight(b)})
	}
}

// next takes out a superseded version that may be of no use any more.
func (v *valueSizes) next(horizon occ.Timestamp) (endedVersion, bool) {
	for n := len(v.loose); n > 0; n = len(v.loose) {
		list := v.loose[n-1]
		if len(list) > 0 {
			v.loose[n-1] = list[:len(list)-1]
			return list[len(list)-1], true
		}
		v.loose[n-1] = nil
		v.loose = v.loose[:n-1]
	}
	if first, ok := v.ended.Min(); !ok || first.end > horizon {
		return endedVersion{}, false
	}
	return v.ended.DeleteMin()
}

// release lets go of what a timestamp held that is no longer pinned.
func (v *valueSizes) release(at occ.Timestamp) {
	if list := v.held[at]; list != nil {
		v.loose = append(v.loose, list)
		delete(v.held, at)
	}
}

// maxSweep is how many versions one step looks at that the horizon passed, or
// a pin let go, so that nothing waits long for it. The next Sweep, Tick or group
// goes on. Until a version is dropped it counts against Config.MemoryBytes;
// nobody can read it.
const maxSweep = 512

// Sweep drops versions that no readable timestamp reaches, and ends registrations
// of connections that are gone, a piece of each: more says that there may be
// others.
func (c *Core) Sweep() (more bool) {
	left := c.leave(maxLeave)
	return c.drop() || left
}

// drop drops a piece of the versions.
func (c *Core) drop() (more bool) {
	v := &c.values
	for range maxSweep {
		old, ok := v.next(c.versions.Horizon())
		if !ok {
			return false
		}
		if at, needed := c.versions.PinnedIn(occ.Interval{From: old.from, To: old.end}); needed {
			v.held[at] = append(v.held[at], old)
			continue
		}
		c.versions.Collect(old.block)
		v.bytes -= int64(old.weight)
		c.emit(Drop{Block: old.block, From: old.from})
	}
	return true
}

// weight is what the version that a write makes counts against the memory
// budget. With ranges its size depends on data that the core does not see: a
// full block is the most that it can be.
func (c *Core) weight(w occ.Write) uint32 {
	if w.Ranges != nil {
		return weightOf(c.cfg.BlockSize)
	}
	return weightOf(uint64(len(w.Data)))
}

// pendingBytes is what a write set counts against Config.PendingBytes, and in a
// group: its encoding, and for ranges a block, which is what they may make, and
// what their base may take that waits with them.
func (c *Core) pendingBytes(writes []occ.Write) int64 {
	var n uint64
	for _, w := range writes {
		n += commitBytes(w)
		if w.Ranges != nil {
			n += c.cfg.BlockSize
		}
	}
	return int64(n)
}

// weightOf is what a version with so many bytes of data weighs.
func weightOf(size uint64) uint32 {
	return uint32(min(size, math.MaxUint32-VersionOverhead) + VersionOverhead)
}

// cost is what the versions of a write set weigh.
func (c *Core) cost(writes []occ.Write) int64 {
	var n int64
	for _, w := range writes {
		n += int64(c.weight(w))
	}
	return n
}
