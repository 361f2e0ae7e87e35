package server

import (
	"fmt"

	"github.com/tidemark/tidemark/server/record"
)

// writeLog makes one group at a time durable. It leaves it to applyGroups to put
// the values of a group and to have it answered, and writes the next one
// meanwhile.
func (s *Server) writeLog() {
	var buf []byte
	for records := range s.appends {
		s.awaitRoom()
		buf = s.writeGroup(buf, records)
		if cap(buf) > record.MaxGroupBytes+record.GroupOverhead {
			buf = nil
		}
	}
}

// writeGroup makes a group durable. It returns the buffer that it used.
func (s *Server) writeGroup(buf []byte, records []record.Record) []byte {
	buf = record.Append(buf[:0], record.Group{Records: records})
	index, err := s.storage.log.Append(buf)
	s.durable(index, len(buf), err)
	return buf
}

// applyGroups applies what became durable, until the server ends.
func (s *Server) applyGroups() {
	for {
		select {
		case <-s.written:
		case <-s.done:
			return
		}
		if s.enter() {
			s.apply()
			s.leave(nil)
		}
	}
}

// apply applies what became durable. The caller is the owner.
func (s *Server) apply() {
	s.checkpoints.apply()
	s.grew()
	s.core.Apply()
}

// awaitRoom waits while more waits to be written to the block file than may:
// the log is no faster in the long run than that, and what clients send
// meanwhile waits in a queue that is bounded (core.Config.PendingBytes).
func (s *Server) awaitRoom() {
	st := s.storage.blocks
	if st == nil {
		return
	}
	for st.Dirty() > 2*s.opts.dirtyBytes() && !closed(s.done) {
		s.wakeKeeper()
		select {
		case <-s.checkpoints.room:
		case <-s.done:
		}
	}
}

// durable tells the core what became of the group under way, which took so
// many bytes. If the log failed, the server ends.
func (s *Server) durable(index uint64, bytes int, err error) {
	if err != nil {
		s.fail(fmt.Errorf("the server stops: the commit log failed: %w", err))
		return
	}
	if !s.enter() {
		return
	}
	s.checkpoints.written(index, bytes)
	s.core.Durable()
	s.leave(nil)
	select {
	case s.written <- struct{}{}:
	default:
	}
}
