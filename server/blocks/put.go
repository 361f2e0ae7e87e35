package blocks

import (
	"fmt"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks/layout"
)

// Put keeps the data of a version: at most BlockSize bytes, best without the
// block's trailing zeros. The bytes must not change any more. Data that is
// empty stands for zeros and needs no space. A version that is put again
// before the next checkpoint is begun has the newer data.
//
// Put never waits and never fails; the caller bounds what it puts by asking
// Dirty. Each version must be newer than the moment of the newest checkpoint:
// to put another, or more data than a block has, is a fault of the program
// and panics.
func (s *Store) Put(block occ.BlockID, from occ.Timestamp, data []byte) {
	if len(data) > s.opts.BlockSize {
		panic(fmt.Sprintf("blocks: %d bytes for a block of %d", len(data), s.opts.BlockSize))
	}
	s.put(&resident{ref: ref{block, from}, data: data, dirty: true})
}

// PutDamaged is Put for a version whose data cannot be had, since they were to
// be made of others that are damaged. To read it gives a *CorruptError, now,
// from later checkpoints, and in Check. It takes a slot, like a byte of data.
func (s *Store) PutDamaged(block occ.BlockID, from occ.Timestamp, cause *CorruptError) {
	damage := &CorruptError{File: cause.File, Offset: cause.Offset, Block: block, From: from, Reason: layout.MadeOfDamaged}
	s.put(&resident{ref: ref{block, from}, data: make([]byte, 1), damage: damage, dirty: true})
}

func (s *Store) put(v *resident) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := v.ref
	if r.from <= s.mu.pinned {
		panic(fmt.Sprintf("blocks: version (%d, %d) is put behind the checkpoint at %d", r.block, r.from, s.mu.pinned))
	}
	if where, ok := s.mu.index.get(r); ok {
		s.forget(r, where)
	}
	s.mu.newest = max(s.mu.newest, r.from)
	s.mu.index.add(r, place{size: uint32(len(v.data)), slot: layout.NoSlot})
	if len(v.data) > 0 {
		s.mu.memory.put(v)
	}
}
