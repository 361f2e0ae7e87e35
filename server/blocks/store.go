package blocks

import (
	"errors"
	"fmt"
	"sync"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/disk"
)

// Store keeps the data of versions. See the package comment.
type Store struct {
	disk   disk.Disk
	opts   Options
	owner  layout.Owner
	header disk.File
	blocks output
	slots  sync.Pool // of *[]byte, each a slot long, for reading

	// stepping is held by whoever writes to the disk. It guards buf, and the
	// writing half of a checkpoint.
	stepping sync.Mutex
	buf      []byte

	mu struct {
		sync.Mutex
		index   index
		memory  memory
		space   space
		pinned  occ.Timestamp // stable of the newest checkpoint that was begun or opened
		newest  occ.Timestamp // the newest version put
		active  *checkpoint
		durable Durable
		stats   Stats // the counters alone
		failed  error
		closed  bool
	}
}

// Durable says which checkpoint Open would find.
type Durable struct {
	Checkpoint uint64 // its number; 0 is that of a new store
	LogIndex   uint64
	Stable     occ.Timestamp
}

func newStore(d disk.Disk, o Options) *Store {
	s := &Store{disk: d, opts: o, owner: o.owner()}
	s.mu.index = newIndex()
	s.mu.memory.init(o.CacheBytes)
	s.mu.space = newSpace()
	return s
}

// Drop forgets a version, if there is one. A checkpoint that was begun before
// holds it all the same.
func (s *Store) Drop(block occ.BlockID, from occ.Timestamp) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := ref{block, from}
	where, ok := s.mu.index.get(r)
	if !ok {
		return
	}
	if c := s.mu.active; c != nil && from <= c.moment.Stable && !c.passed(r) {
		c.dropped = append(c.dropped, r)
		return
	}
	s.forget(r, where)
}

// forget takes a version away. Its slot waits for the next checkpoint unless
// no checkpoint can name it.
func (s *Store) forget(r ref, where place) {
	s.mu.index.remove(r)
	s.mu.memory.drop(r)
	if where.slot == layout.NoSlot {
		return
	}
	s.mu.space.setDead(where.slot)
	if r.from > s.mu.pinned {
		s.mu.space.give(where.slot)
	} else {
		s.mu.space.later = append(s.mu.space.later, where.slot)
	}
}

// Get returns the data of a version if they are in memory, or need no space.
// If not, Read has them. Version 0 of every block has none. The bytes must not
// be changed.
func (s *Store) Get(block occ.BlockID, from occ.Timestamp) (data []byte, inMemory bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, data, err := s.lookup(ref{block, from})
	if err != nil {
		s.mu.stats.CacheMisses++
		return nil, false
	}
	s.mu.stats.CacheHits++
	return data, true
}

var errOnDisk = errors.New("the data are on disk")

// lookup returns the data of a version; errOnDisk and where they are if they
// are not in memory.
func (s *Store) lookup(r ref) (place, []byte, error) {
	if r.from == 0 {
		return place{}, nil, nil
	}
	where, ok := s.mu.index.get(r)
	if !ok {
		return where, nil, ErrDropped
	}
	if where.size == 0 {
		return where, nil, nil
	}
	switch v := s.mu.memory.get(r); {
	case v == nil:
		return where, nil, errOnDisk
	case v.damage != nil:
		return where, nil, v.damage
	default:
		return where, v.data, nil
	}
}

// Dirty returns how many bytes of data, counted like Options.DirtyBytes, are
// in memory alone. A caller that stops putting when this is above some bound
// until WriteBack and Step have lowered it, bounds the memory of the Store.
func (s *Store) Dirty() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.memory.dirty.bytes
}

// Durable returns the newest checkpoint that is durable and the only one. The
// log up to its LogIndex is not needed any more.
func (s *Store) Durable() Durable {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.durable
}

// writable returns why nothing can be written, if that is so.
func (s *Store) writable() error {
	if s.mu.closed {
		return ErrClosed
	}
	return s.mu.failed
}

// poison makes err the reason why nothing is written any more.
func (s *Store) poison(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.failed == nil {
		s.mu.failed = fmt.Errorf("%w: %w", ErrPoisoned, err)
	}
	return s.mu.failed
}

// Close closes the files. What is not in a checkpoint is gone. It waits for a
// Step that is under way; a Read that is may fail.
func (s *Store) Close() error {
	s.stepping.Lock()
	defer s.stepping.Unlock()
	s.mu.Lock()
	closed, active := s.mu.closed, s.mu.active
	s.mu.closed = true
	s.mu.Unlock()
	if closed {
		return ErrClosed
	}
	err := errors.Join(s.header.Close(), s.blocks.file.Close())
	if active != nil && active.out.file != nil {
		err = errors.Join(err, active.out.file.Close())
	}
	return err
}
