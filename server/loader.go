package server

import (
	"errors"

	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/core"
)

// loaders is how many reads from disk go on at a time.
const loaders = 16

// load answers a Load at once if all its data is in memory, and else leaves it
// to a loader. The caller is the owner.
func (s *Server) load(e core.Load) {
	c := s.conns[e.Conn]
	if c == nil {
		return
	}
	data := make([][]byte, len(e.Refs))
	for i, r := range e.Refs {
		var inMemory bool
		if data[i], inMemory = s.values.get(r); !inMemory {
			s.loads.push(&c.lane, e, messageBytes+e.Blocks*(resultBytes+s.storage.blockSize))
			return
		}
	}
	s.core.Loaded(e.ID, data)
}

// loadFromDisk carries out loads until the server ends.
func (s *Server) loadFromDisk() {
	for {
		l, e, ok := s.loads.next()
		if !ok {
			return
		}
		data, err := s.readAll(e.Refs)
		if !s.enter() {
			return
		}
		if err != nil {
			s.core.LoadFailed(e.ID, err)
		} else {
			s.core.Loaded(e.ID, data)
		}
		s.leave(nil) // which queues the reply
		s.loads.done(l, e)
	}
}

// readAll returns the data of versions, or an error for a client. A version that
// was dropped meanwhile is not used any more, whatever its data.
func (s *Server) readAll(refs []core.Ref) ([][]byte, error) {
	data := make([][]byte, len(refs))
	for i, r := range refs {
		d, err := s.values.read(r)
		if err != nil && !errors.Is(err, blocks.ErrDropped) {
			return nil, s.unreadable(r, "reading blocks", err)
		}
		data[i] = d
	}
	return data, nil
}
