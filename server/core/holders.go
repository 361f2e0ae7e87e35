package core

import (
	"iter"
	"math/bits"

	"github.com/tidemark/tidemark/occ"
)

// holders are the holder sets of all blocks (section 1): which connections
// hold the current version of a block open. A connection is its slot, a small
// number, so that a holder costs a bit. A block that nobody holds takes no
// memory.
type holders struct {
	sets map[occ.BlockID]slotSet
}

// slotSet is a set of slots: the first 64 in place, the others behind it.
type slotSet struct {
	low  uint64
	high []uint64
}

// add puts slot into the set of b and reports whether it was not there.
func (h *holders) add(b occ.BlockID, slot int) bool {
	s := h.sets[b]
	if !s.set(slot) {
		return false
	}
	h.sets[b] = s
	return true
}

// remove takes slot out of the set of b and reports whether it was there.
func (h *holders) remove(b occ.BlockID, slot int) bool {
	s, ok := h.sets[b]
	if !ok || !s.unset(slot) {
		return false
	}
	if s.empty() {
		delete(h.sets, b)
	} else {
		h.sets[b] = s
	}
	return true
}

// has reports whether slot is in the set of b.
func (h *holders) has(b occ.BlockID, slot int) bool {
	s := h.sets[b]
	if slot < 64 {
		return s.low&(1<<slot) != 0
	}
	i := slot/64 - 1
	return i < len(s.high) && s.high[i]&(1<<(slot%64)) != 0
}

// replace empties the set of b but for slot keep, if keep is not negative,
// and returns what the set was.
func (h *holders) replace(b occ.BlockID, keep int) slotSet {
	old, had := h.sets[b]
	if keep < 0 {
		if had {
			delete(h.sets, b)
		}
		return old
	}
	var s slotSet
	s.set(keep)
	h.sets[b] = s
	return old
}

func (s *slotSet) set(slot int) bool {
	if slot < 64 {
		was := s.low
		s.low |= 1 << slot
		return s.low != was
	}
	i := slot/64 - 1
	for i >= len(s.high) {
		s.high = append(s.high, 0)
	}
	was := s.high[i]
	s.high[i] |= 1 << (slot % 64)
	return s.high[i] != was
}

func (s *slotSet) unset(slot int) bool {
	if slot < 64 {
		was := s.low
		s.low &^= 1 << slot
		return s.low != was
	}
	i := slot/64 - 1
	if i >= len(s.high) {
		return false
	}
	was := s.high[i]
	s.high[i] &^= 1 << (slot % 64)
	return s.high[i] != was
}

func (s slotSet) empty() bool {
	if s.low != 0 {
		return false
	}
	for _, w := range s.high {
		if w != 0 {
			return false
		}
	}
	return true
}

// slots yields the members in ascending order.
func (s slotSet) slots() iter.Seq[int] {
	return func(yield func(int) bool) {
		for w := s.low; w != 0; w &= w - 1 {
			if !yield(bits.TrailingZeros64(w)) {
				return
			}
		}
		for i, w := range s.high {
			for ; w != 0; w &= w - 1 {
				if !yield(64*(i+1) + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}
