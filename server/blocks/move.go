package blocks

import (
	"errors"

	"github.com/tidemark/tidemark/server/blocks/layout"
)

// mover moves versions from the end of the block file to free slots at its
// beginning.
type mover struct {
	begun  bool
	goal   uint32 // slots from here on are emptied
	cursor uint32 // slots from here on were looked at
	moves  int
}

// move is a version that is copied to another slot.
type move struct {
	from, to uint32
	ref      ref
	slot     []byte
}

// step moves a batch. done means that this checkpoint moves no more.
func (m *mover) step(s *Store) (done bool, err error) {
	moves, done := m.choose(s)
	var whole []move
	var slots []uint32
	var spared []uint32
	for _, v := range moves {
		v.slot = make([]byte, s.owner.SlotSize())
		at := s.owner.SlotOffset(v.from)
		_, err := s.blocks.file.ReadAt(v.slot, at)
		held, damage := layout.DecodeSlot(v.slot)
		if errors.Join(err, damage) != nil {
			// It stays where it is: Read and Check report it, and it must
			// not keep the store from making checkpoints.
			spared = append(spared, v.to)
			continue
		}
		v.ref = ref{held.Block, held.From}
		whole, slots = append(whole, v), append(slots, v.to)
	}
	if err := s.writeSlots(slots, func(i int, b []byte) { copy(b, whole[i].slot) }); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.stats.Moved += uint64(len(whole))
	for _, slot := range spared {
		s.mu.space.give(slot)
	}
	for _, v := range whole {
		s.settleMove(v)
	}
	return done, nil
}

// choose picks versions at the end and hands free slots out for them.
func (m *mover) choose(s *Store) (moves []move, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sp := &s.mu.space
	if !m.begun {
		m.begun = true
		if 4*int(sp.total) <= 7*sp.live {
			return nil, true // so that files stay below twice the live data, their heads and the index included
		}
		m.goal, m.cursor = uint32(sp.live+sp.live/2), sp.total
	}
	for len(moves) < s.batchSlots() {
		slot, found := sp.liveBelow(m.cursor, maxHold)
		if m.cursor = slot; !found && slot > m.goal {
			return moves, false // to go on in the next step
		}
		target, free := sp.lowest()
		if !found || slot < m.goal || !free || target >= m.goal || m.moves == maxMoves {
			return moves, true
		}
		sp.take()
		m.moves++
		moves = append(moves, move{from: slot, to: target})
	}
	return moves, false
}

// settleMove gives a version its new slot, unless it was dropped meanwhile.
func (s *Store) settleMove(v move) {
	where, ok := s.mu.index.get(v.ref)
	if !ok || where.slot != v.from {
		s.mu.space.give(v.to)
		return
	}
	s.mu.index.set(v.ref, place{size: where.size, slot: v.to})
	s.mu.space.setDead(v.from)
	s.mu.space.setLive(v.to)
	if v.ref.from > s.mu.pinned {
		s.mu.space.give(v.from)
	} else {
		s.mu.space.soon = append(s.mu.space.soon, v.from)
	}
}
