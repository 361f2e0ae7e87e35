package blocks

import (
	"bytes"
	"errors"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks/layout"
)

// Read returns the data of a version, from disk if they are not in memory,
// and keeps them in memory. What comes from disk is verified. The bytes must
// not be changed.
//
// Errors: ErrDropped for a version that is not there or was dropped
// meanwhile, *CorruptError for damage, *IOError for a disk that fails.
func (s *Store) Read(block occ.BlockID, from occ.Timestamp) ([]byte, error) {
	r := ref{block, from}
	s.mu.Lock()
	where, data, err := s.lookup(r)
	s.mu.Unlock()
	// Each further turn needs a checkpoint that has moved the version since
	// the last one, so the turns come to an end.
	for errors.Is(err, errOnDisk) {
		if data, err = s.fetch(r, where); err == nil {
			s.keep(r, data)
			return data, nil
		}
		// The version may have been dropped or moved while it was read, and
		// its slot written again.
		s.mu.Lock()
		now, held, e := s.lookup(r)
		closed := s.mu.closed
		s.mu.Unlock()
		switch {
		case closed:
			return nil, ErrClosed
		case !errors.Is(e, errOnDisk):
			return held, e
		case now == where:
			return nil, err
		}
		where, err = now, errOnDisk
	}
	return data, err
}

// fetch reads a version from its slot.
func (s *Store) fetch(r ref, where place) ([]byte, error) {
	at := s.owner.SlotOffset(where.slot)
	whole, ok := s.slots.Get().(*[]byte)
	if !ok {
		b := make([]byte, s.owner.SlotSize())
		whole = &b
	}
	defer s.slots.Put(whole)
	b := (*whole)[:layout.SlotHeader+int(where.size)]
	if _, err := s.blocks.file.ReadAt(b, at); err != nil {
		return nil, s.named(r, located(blocksName, at, err))
	}
	slot, err := layout.DecodeSlot(b)
	if err != nil {
		return nil, s.named(r, located(blocksName, at, err))
	}
	if slot.Block != r.block || slot.From != r.from || len(slot.Data) != int(where.size) {
		return nil, s.named(r, &CorruptError{File: blocksName, Offset: at, Reason: "the slot holds another version"})
	}
	// Without the slot's header the data of a whole block have a size that
	// the allocator has, too.
	return bytes.Clone(slot.Data), nil
}

// named gives a CorruptError its version and its path.
func (s *Store) named(r ref, err error) error {
	var corrupt *CorruptError
	if errors.As(err, &corrupt) {
		corrupt.Block, corrupt.From = r.block, r.from
	}
	return s.placed(err)
}

// keep puts what was read into the cache, unless the version is gone.
func (s *Store) keep(r ref, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.stats.Reads++
	if _, ok := s.mu.index.get(r); ok && s.mu.memory.all[r] == nil {
		s.mu.memory.put(&resident{ref: r, data: data})
	}
}
