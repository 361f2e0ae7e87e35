package blocks

import "github.com/tidemark/tidemark/server/blocks/layout"

// mover moves versions from the end of the block file to free slots at its
// beginning. It learns from a slot whose it is, and those whose slots are
// damaged are strays.
type mover struct {
	begun  bool
	goal   uint32 // slots from here on are emptied
	cursor uint32 // slots from here on were looked at
	moves  int
	chosen bool // this checkpoint moves no others
	strays strays
}

// move is a version that is copied to another slot.
type move struct {
	from, to uint32
	ref      ref
	slot     []byte
}

// step moves a batch. done means that this checkpoint moves no more.
func (m *mover) step(s *Store) (done bool, err error) {
	if m.chosen {
		return m.strays.step(s)
	}
	moves, chosen := m.choose(s)
	m.chosen = chosen
	var whole []move
	var spared []uint32
	for _, v := range moves {
		v.slot = make([]byte, s.owner.SlotSize())
		if _, err := s.blocks.file.ReadAt(v.slot, s.owner.SlotOffset(v.from)); err != nil {
			// It stays where it is, and must not keep the store from making
			// checkpoints: what cannot be read now may be read later.
			spared = append(spared, v.to)
			continue
		}
		held, _ := layout.DecodeSlot(v.slot) // of nothing, if it is damaged
		v.ref = ref{held.Block, held.From}
		switch named, live := s.holds(v.from, v.ref); {
		case named:
			whole = append(whole, v)
		case live:
			m.strays.add(v)
		default: // dropped meanwhile
			spared = append(spared, v.to)
		}
	}
	return chosen && m.strays.none(), s.carry(whole, spared)
}

// holds reports whether a slot is that of a version, and whether it is that of
// any.
func (s *Store) holds(slot uint32, r ref) (named, live bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	where, ok := s.mu.index.get(r)
	return ok && where.slot == slot, s.mu.space.isLive(slot)
}

// carry writes the slots of versions to their new places, in the order of
// these, and makes spared slots free.
func (s *Store) carry(moves []move, spared []uint32) error {
	slots := make([]uint32, len(moves))
	for i, v := range moves {
		slots[i] = v.to
	}
	if err := s.writeSlots(slots, func(i int, b []byte) { copy(b, moves[i].slot) }); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.stats.Moved += uint64(len(moves))
	for _, slot := range spared {
		s.mu.space.give(slot)
	}
	for _, v := range moves {
		s.settleMove(v)
	}
	return nil
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
