package blocks

import (
	"math/bits"

	"github.com/google/btree"

	"github.com/tidemark/tidemark/server/blocks/layout"
)

// space knows the slots of the block file. Each is in one of these states:
//
//   - live: a version of the index is there;
//   - free: no version is there, and no checkpoint that can be opened names
//     it, so it may be written;
//   - waiting: no version is there, but such a checkpoint may name it. It
//     becomes free when one is durable that does not.
//   - handed out: about to be written.
//
// It has one owner.
type space struct {
	total uint32                // slots of the file
	used  []uint64              // one bit a slot: live
	live  int                   // how many are
	free  *btree.BTreeG[extent] // no two touch
	spare int                   // how many slots are free
	soon  []uint32              // waiting for the checkpoint that runs
	later []uint32              // waiting for the one after it
}

// extent is count slots from first on.
type extent struct{ first, count uint32 }

func newSpace() space {
	return space{free: btree.NewG(treeDegree, func(a, b extent) bool { return a.first < b.first })}
}

// take hands out the lowest free slot, or a new one at the end of the file.
// ok is false if there are too many slots.
func (s *space) take() (slot uint32, ok bool) {
	if e, found := s.free.DeleteMin(); found {
		s.spare--
		if e.count > 1 {
			s.free.ReplaceOrInsert(extent{e.first + 1, e.count - 1})
		}
		return e.first, true
	}
	if s.total == layout.MaxSlots {
		return 0, false
	}
	s.total++
	return s.total - 1, true
}

// lowest returns the lowest free slot; ok is false if none is free.
func (s *space) lowest() (slot uint32, ok bool) {
	e, ok := s.free.Min()
	return e.first, ok
}

// give makes a slot free.
func (s *space) give(slot uint32) {
	e := extent{slot, 1}
	s.free.DescendLessOrEqual(e, func(below extent) bool {
		if below.first+below.count == slot {
			e = extent{below.first, below.count + 1}
		}
		return false
	})
	if above, ok := s.free.Get(extent{first: slot + 1}); ok {
		s.free.Delete(above)
		e.count += above.count
	}
	s.free.ReplaceOrInsert(e)
	s.spare++
}

// giveRest makes all slots free that are not live, below total, which is set.
func (s *space) giveRest(total uint32) {
	s.total, s.spare = total, int(total)-s.live
	for at := uint32(0); at < total; {
		if s.isLive(at) {
			at++
			continue
		}
		first := at
		for at < total && !s.isLive(at) {
			at++
		}
		s.free.ReplaceOrInsert(extent{first, at - first})
	}
}

func (s *space) isLive(slot uint32) bool {
	return int(slot/64) < len(s.used) && s.used[slot/64]&(1<<(slot%64)) != 0
}

func (s *space) setLive(slot uint32) {
	for int(slot/64) >= len(s.used) {
		s.used = append(s.used, 0)
	}
	s.used[slot/64] |= 1 << (slot % 64)
	s.live++
}

func (s *space) setDead(slot uint32) {
	s.used[slot/64] &^= 1 << (slot % 64)
	s.live--
}

// liveBelow returns the highest live slot below a slot, looking at no more
// than so many words of 64 slots; where it has looked if there is none.
func (s *space) liveBelow(slot uint32, words int) (at uint32, found bool) {
	at = min(slot, uint32(min(uint64(len(s.used))*64, layout.MaxSlots)))
	for ; at > 0 && words > 0; words-- {
		word := (at - 1) / 64
		masked := s.used[word] << (63 - (at-1)%64) >> (63 - (at-1)%64)
		if masked != 0 {
			return word*64 + uint32(bits.Len64(masked)) - 1, true
		}
		at = word * 64
	}
	return at, false
}

// cut takes the free slots at the end away and returns whether there were
// any.
func (s *space) cut() bool {
	e, ok := s.free.Max()
	if !ok || e.first+e.count != s.total {
		return false
	}
	s.free.Delete(e)
	s.total = e.first
	s.spare -= int(e.count)
	s.used = s.used[:min(len(s.used), int(e.first+63)/64)]
	return true
}
