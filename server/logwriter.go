package server

import (
	"fmt"

	"github.com/tidemark/tidemark/server/record"
)

// logWriters is how many goroutines write the log, in turn: while one puts the
// values of a group and has it answered, another one writes the next.
const logWriters = 2

// writeLog is a log writer: it makes one group at a time durable. The next one
// comes only when that has been told to the core, so groups keep their order.
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
		s.fail(fmt.Errorf("the commit log failed: %w", err))
		return
	}
	if s.enter() {
		s.grew(index, bytes)
		s.core.Durable()
		s.leave(nil)
	}
}
