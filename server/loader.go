package server

import (
	"errors"
	"sync"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/core"
)

// loaders is how many reads from disk go on at a time.
const loaders = 16

// loadQueue are the loads that need the disk, oldest first. Its length is
// bounded by the core, which bounds the reads of each connection that wait for
// data (Limits.Reads).
type loadQueue struct {
	mu     sync.Mutex
	ready  sync.Cond // with mu
	loads  []core.Load
	closed bool
}

func newLoadQueue() *loadQueue {
	q := &loadQueue{}
	q.ready.L = &q.mu
	return q
}

func (q *loadQueue) push(l core.Load) {
	q.mu.Lock()
	q.loads = append(q.loads, l)
	q.mu.Unlock()
	q.ready.Signal()
}

// next waits for a load; ok is false when the queue was closed.
func (q *loadQueue) next() (l core.Load, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.loads) == 0 && !q.closed {
		q.ready.Wait()
	}
	if q.closed {
		return core.Load{}, false
	}
	l = q.loads[0]
	q.loads[0] = core.Load{}
	q.loads = q.loads[1:]
	return l, true
}

func (q *loadQueue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.ready.Broadcast()
}

// load answers a Load at once if all its data is in memory, and else leaves it
// to a loader. The caller is the owner.
func (s *Server) load(e core.Load) {
	data := make([][]byte, len(e.Refs))
	for i, r := range e.Refs {
		var inMemory bool
		if data[i], inMemory = s.values.get(r); !inMemory {
			s.loads.push(e)
			return
		}
	}
	s.core.Loaded(e.ID, data)
}

// loadFromDisk carries out loads until the server ends.
func (s *Server) loadFromDisk() {
	for {
		e, ok := s.loads.next()
		if !ok {
			return
		}
		data, err := s.readAll(e.Refs)
		if err != nil {
			s.opts.Logger.Error("reading blocks", "error", err)
		}
		if !s.enter() {
			return
		}
		if err != nil {
			s.core.LoadFailed(e.ID, err)
		} else {
			s.core.Loaded(e.ID, data)
		}
		s.leave(nil)
	}
}

// readAll returns the data of versions. One that was dropped meanwhile is not
// used any more, whatever its data.
func (s *Server) readAll(refs []core.Ref) ([][]byte, error) {
	data := make([][]byte, len(refs))
	for i, r := range refs {
		d, err := s.values.read(r)
		if err != nil && !errors.Is(err, blocks.ErrDropped) {
			return nil, err
		}
		data[i] = d
	}
	return data, nil
}

// warm brings the blocks of which commits write ranges into memory, before the
// core sees these commits: when they are applied, their bases are at hand. For
// a commit of which a base cannot be read it returns why, by its place among
// the messages. It is called without the owner's lock.
func (s *Server) warm(messages []wire.Message) (unreadable map[int]error) {
	if s.storage.blocks == nil {
		return nil
	}
	for i, m := range messages {
		commit, ok := m.(*wire.Commit)
		if !ok {
			continue
		}
		if _, err := s.readAll(bases(commit)); err != nil {
			s.opts.Logger.Error("reading blocks, to change them", "error", err)
			if unreadable == nil {
				unreadable = make(map[int]error)
			}
			unreadable[i] = err
		}
	}
	return unreadable
}

// bases are the versions of which a commit writes ranges.
func bases(commit *wire.Commit) (refs []core.Ref) {
	ranged := make(map[occ.BlockID]struct{})
	for _, w := range commit.Writes {
		if w.Ranges != nil {
			ranged[w.Block] = struct{}{}
		}
	}
	if len(ranged) == 0 {
		return nil
	}
	for _, r := range commit.Reads {
		if _, ok := ranged[r.Block]; ok {
			refs = append(refs, core.Ref{Block: r.Block, From: r.From})
		}
	}
	return refs
}
