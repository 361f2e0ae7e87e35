package blocks

import "github.com/tidemark/tidemark/server/blocks/layout"

// Stats are figures of a Store; sizes are in bytes.
type Stats struct {
	Versions    int    // that were put and not dropped
	BlockBytes  int64  // size of the block file
	IndexBytes  int64  // size of the index file
	Slots       int    // of the block file
	LiveSlots   int    // that hold a version
	FreeSlots   int    // that can be written; the others wait for a checkpoint
	DirtyBytes  int64  // see Dirty
	CacheBytes  int64  // data in memory of versions that are on disk
	MemoryBytes int64  // of the index in memory, about
	CacheHits   uint64 // answers of Get that needed no disk
	CacheMisses uint64 // and those that did, or for which there is no version
	Reads       uint64 // slots read for Read
	Written     uint64 // slots written
	Moved       uint64 // slots written to make the block file shorter
	Checkpoints uint64 // made since Open
}

const (
	pageMemory  = 16*pageBlocks + 40 // with its entries in map and tree
	olderMemory = 32
)

// Stats returns the figures of this moment.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.mu.stats
	st.Versions = s.mu.index.versions
	st.Slots = int(s.mu.space.total)
	st.LiveSlots = s.mu.space.live
	st.FreeSlots = s.mu.space.spare
	st.BlockBytes = s.owner.SlotOffset(s.mu.space.total)
	st.DirtyBytes = s.mu.memory.dirty.bytes
	st.CacheBytes = s.mu.memory.cached.bytes
	st.MemoryBytes = int64(len(s.mu.index.pages))*pageMemory + int64(s.mu.index.old.Len())*olderMemory +
		int64(len(s.mu.space.used))*8 + int64(len(s.mu.space.soon)+len(s.mu.space.later))*4
	return st
}

// oldest is where a walk over all versions begins.
var oldest ref

// all calls yield with all versions in order; they must not change meanwhile
// in number. It holds the mutex for bounded moments only.
func (s *Store) all(yield func(layout.Version) error) error {
	w := walk{start: oldest, stable: ^oldest.from}
	for !w.done {
		w.budget, w.out = maxHold, w.out[:0]
		s.mu.Lock()
		s.mu.index.walk(&w)
		s.mu.Unlock()
		for _, v := range w.out {
			if err := yield(v); err != nil {
				return err
			}
		}
	}
	return nil
}
