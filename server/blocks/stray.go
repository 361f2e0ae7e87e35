package blocks

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/tidemark/tidemark/server/blocks/layout"
)

// strays are slots to be moved that do not say whose they are, or say what is
// not so, since they are damaged. The index says it, in a walk over all of it.
// They are copied byte by byte, so that what was damaged stays so, and what can
// be made of it can be made of the copy.
type strays struct {
	to   map[uint32]uint32 // their new places, by their old ones; at most maxMoves
	walk walk
}

func (y *strays) add(v move) {
	if y.to == nil {
		y.to = make(map[uint32]uint32)
		y.walk = walk{start: oldest, stable: math.MaxUint64}
	}
	y.to[v.from] = v.to
}

func (y *strays) none() bool { return len(y.to) == 0 }

// step finds whose some of them are, and moves these. done means that there
// are none left. One that is nobody's any more was dropped meanwhile.
func (y *strays) step(s *Store) (done bool, err error) {
	found, spared := y.find(s)
	slices.SortFunc(found, func(a, b move) int { return cmp.Compare(a.to, b.to) })
	return y.none(), s.carry(found, spared)
}

// find goes on with the walk, for as much as one step may look at, and takes
// out what it finds. When it is done, it spares the places of the others.
func (y *strays) find(s *Store) (found []move, spared []uint32) {
	for turn := 0; turn < maxWalks && !y.walk.done && !y.none() && len(found) < s.batchSlots(); turn++ {
		y.walk.budget, y.walk.out = s.batchSlots(), y.walk.out[:0]
		s.mu.Lock()
		s.mu.index.walk(&y.walk)
		s.mu.Unlock()
		for _, v := range y.walk.out {
			to, ok := y.to[v.Slot]
			if !ok || v.Slot == layout.NoSlot {
				continue
			}
			delete(y.to, v.Slot)
			slot := make([]byte, s.owner.SlotSize())
			if _, err := s.blocks.file.ReadAt(slot, s.owner.SlotOffset(v.Slot)); err != nil {
				spared = append(spared, to)
				continue
			}
			found = append(found, move{from: v.Slot, to: to, ref: ref{v.Block, v.From}, slot: slot})
		}
	}
	if y.walk.done {
		spared = slices.AppendSeq(spared, maps.Values(y.to))
		clear(y.to)
	}
	return found, spared
}
