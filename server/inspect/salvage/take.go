package salvage

import (
	"bytes"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/inspect/blockdir"
)

const (
	// dirtyBytes is how much data waits to be written to the new store.
	dirtyBytes = 16 << 20
	// cacheBytes is how much of it stays in memory, for ranges of a block that
	// the log has behind it.
	cacheBytes = 8 << 20
)

// put gives a block a newer version in the new store. It copies the data.
func (s *salvage) put(b occ.BlockID, from occ.Timestamp, data []byte) error {
	data = bytes.Clone(bytes.TrimRight(data, "\x00"))
	if cur := s.held.Current(b); cur > 0 {
		s.Bytes -= uint64(s.held.Weight(b))
		s.out.Drop(b, cur)
	}
	s.out.Put(b, from, data)
	s.held.Add(b, from, uint32(len(data)))
	s.held.Collect(b)
	s.Bytes += uint64(len(data))
	s.Stable = max(s.Stable, from)
	for done := s.out.Dirty() <= dirtyBytes; !done; {
		var err error
		if done, err = s.out.WriteBack(); err != nil {
			return err
		}
	}
	return nil
}

// takeBase takes the newest version of each block from the base; those whose
// data are damaged are lost for now.
func (s *salvage) takeBase() error {
	if s.base.kind == "" {
		return nil
	}
	done, of := int64(0), int64(s.base.header.Versions)*int64(s.owner.SlotSize())
	newest := layout.Version{} // of the block that is being read; From is 0 before the first
	take := func() error {
		if newest.From == 0 {
			return nil
		}
		data, damage, err := s.dir.Read(newest)
		if err != nil {
			return err
		}
		if damage != nil {
			s.lost[newest.Block] = newest.From
			return nil
		}
		return s.put(newest.Block, newest.From, data)
	}
	damage, err := s.dir.ReadIndex(s.base.header, layout.Visitor{State: func([]byte) {}, Version: func(v layout.Version) error {
		s.plan.uses(v.Block)
		done += int64(s.owner.SlotSize())
		s.progress("copying the checkpoint", done, of)
		if v.Block != newest.Block {
			if err := take(); err != nil {
				return err
			}
		}
		newest = v
		return s.ended()
	}})
	if err == nil && damage != nil {
		err = damage // it was whole a moment ago
	}
	if err != nil {
		return err
	}
	return take()
}

// takeSlots looks at all slots for versions of lost blocks, and for any that
// are newer than what there is if blocks are taken one by one.
func (s *salvage) takeSlots() error {
	if s.dir == nil || !s.pieces && len(s.lost) == 0 {
		return nil
	}
	done, end := int64(0), s.plan.end(s.Stable)
	read := func() error {
		done += int64(s.owner.SlotSize())
		s.progress("searching the slots", done, s.dir.BlocksBytes)
		return s.ended()
	}
	return s.dir.Scan(func(slot layout.Slot) error {
		s.plan.uses(slot.Block)
		version, lost := s.lost[slot.Block]
		wanted := lost && slot.From <= version || s.pieces
		if wanted && usable(slot.From) && slot.From > s.held.Current(slot.Block) {
			if err := s.put(slot.Block, slot.From, slot.Data); err != nil {
				return err
			}
			s.Consistent = s.Consistent && slot.From <= end
			if slot.From >= version {
				delete(s.lost, slot.Block)
			}
		}
		return read()
	}, func(d *blockdir.Damage) error {
		if s.Base == fromPieces {
			s.LostSlots++
			if err := s.lose(Loss{Kind: Slot, File: d.File, Offset: d.Offset, Reason: d.Reason}); err != nil {
				return err
			}
		}
		return read()
	})
}
