package blocks

import (
	"math"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/disk"
)

// output is a file that is written in pieces.
type output struct {
	file     disk.File
	name     string
	unsynced int
}

// write writes b, and syncs before that if much has been written since.
func (o *output) write(b []byte, at int64) error {
	if o.unsynced > 0 && o.unsynced+len(b) > maxUnsynced {
		if err := o.sync(); err != nil {
			return err
		}
	}
	if _, err := o.file.WriteAt(b, at); err != nil {
		return &IOError{Op: "write", File: o.name, Cause: err}
	}
	o.unsynced += len(b)
	return nil
}

func (o *output) sync() error {
	if err := o.file.Sync(); err != nil {
		return &IOError{Op: "sync", File: o.name, Cause: err}
	}
	o.unsynced = 0
	return nil
}

// WriteBack writes versions that are in memory alone, those put first to begin
// with, if they are more than Options.DirtyBytes. done means that they are
// not, or not any more. What it writes is not durable before a checkpoint, but
// can leave memory. An error is ErrPoisoned or ErrClosed.
func (s *Store) WriteBack() (done bool, err error) {
	s.stepping.Lock()
	defer s.stepping.Unlock()
	s.mu.Lock()
	err = s.writable()
	much := s.mu.memory.dirty.bytes > s.opts.DirtyBytes
	s.mu.Unlock()
	if err != nil || !much {
		return true, err
	}
	if _, err := s.writeDirty(math.MaxUint64); err != nil {
		return true, s.poison(err)
	}
	return s.Dirty() <= s.opts.DirtyBytes, nil
}

// batchSlots is how many slots are written at a time.
func (s *Store) batchSlots() int { return min(maxHold, max(1, s.opts.StepBytes/s.owner.SlotSize())) }

// writeDirty writes a batch of the dirty versions that begin at or below
// stable. none means that there are none.
func (s *Store) writeDirty(stable occ.Timestamp) (none bool, err error) {
	s.mu.Lock()
	batch := s.mu.memory.batch(stable, s.batchSlots())
	slots := make([]uint32, 0, len(batch))
	full := false
	for range batch {
		slot, ok := s.mu.space.take()
		if !ok {
			full = true
			break
		}
		slots = append(slots, slot)
	}
	s.mu.Unlock()
	if full {
		return false, ErrFull
	}
	err = s.writeSlots(slots, func(i int, b []byte) {
		v := batch[i]
		if v.damage != nil {
			layout.EncodeDamaged(b, v.block, v.from)
			return
		}
		layout.EncodeSlot(b, layout.Slot{Block: v.block, From: v.from, Data: v.data})
	})
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.stats.Written += uint64(len(slots))
	for i, v := range batch {
		if s.mu.memory.all[v.ref] != v { // dropped meanwhile, or put again
			s.mu.space.give(slots[i])
			continue
		}
		s.mu.index.set(v.ref, place{size: uint32(len(v.data)), slot: slots[i]})
		s.mu.space.setLive(slots[i])
		s.mu.memory.clean(v)
	}
	return len(batch) == 0, nil
}

// writeSlots writes slots, whose numbers ascend, with what encode makes of
// each. Neighbours are written together.
func (s *Store) writeSlots(slots []uint32, encode func(i int, slot []byte)) error {
	size := s.owner.SlotSize()
	for first := 0; first < len(slots); {
		next := first + 1
		for next < len(slots) && slots[next] == slots[next-1]+1 {
			next++
		}
		if n := (next - first) * size; cap(s.buf) < n {
			s.buf = make([]byte, n)
		}
		b := s.buf[:(next-first)*size]
		for i := first; i < next; i++ {
			encode(i, b[(i-first)*size:][:size])
		}
		if err := s.blocks.write(b, s.owner.SlotOffset(slots[first])); err != nil {
			return err
		}
		first = next
	}
	return nil
}
