package server

import (
	"fmt"
	"time"

	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/core"
	"github.com/tidemark/tidemark/server/record"
)

// tick is how often the core is told the time.
const tick = time.Second

// input is something that happened to a connection.
type input struct {
	conn     *conn
	opened   bool
	messages []wire.Message
	err      error // reading ended
}

// input hands something to the owner; false if there is no owner any more.
func (s *Server) input(in input) bool {
	select {
	case s.inputs <- in:
		return true
	case <-s.done:
		return false
	}
}

// own is the owner: the only goroutine that touches the core.
func (s *Server) own() {
	defer close(s.appends)
	defer close(s.done)
	defer s.dropConns()
	defer s.beginStop()

	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	s.core.Start(s.clock())
	s.core.Flush()
	s.carryOut()
	stop := s.stop
	for stop != nil || !s.core.Idle() {
		select {
		case in := <-s.inputs:
			s.handle(in)
		case err := <-s.durable:
			if err != nil {
				s.fail(err)
				return
			}
			s.core.Durable()
		case <-ticker.C:
			s.core.Tick(s.clock())
		case <-stop:
			s.core.Stop()
			stop = nil
		}
		s.drain()
		s.core.Flush()
		s.carryOut()
	}
}

// clock is the time since the server began, by the monotonic clock.
func (s *Server) clock() time.Duration { return time.Since(s.begun) }

// drain handles what else has arrived, so that it shares a group and a write
// per connection; not more than that, so that no reader keeps the log waiting.
func (s *Server) drain() {
	for range len(s.inputs) {
		s.handle(<-s.inputs)
	}
}

func (s *Server) handle(in input) {
	c := in.conn
	switch {
	case in.opened:
		s.conns[c.id] = c
		s.core.Connect(c.id)
	case in.err != nil:
		if code, ok := refusal(in.err); ok && !c.dropped {
			s.core.Reject(c.id, code, in.err.Error())
			return
		}
		s.core.Disconnect(c.id)
		s.forget(c)
		c.queue.close()
	default:
		for _, m := range in.messages {
			s.core.Receive(c.id, m)
		}
	}
}

// carryOut does what the core says, in its order, until it says nothing more.
// Messages are handed to the writers when all are known, so that each has as
// much as possible to send at once.
func (s *Server) carryOut() {
	for {
		effects := s.core.Take()
		if len(effects) == 0 {
			break
		}
		for _, e := range effects {
			s.do(e)
		}
	}
	for _, c := range s.dirty {
		if !c.queue.push(c.outgoing) {
			s.overflow(c)
		}
		clear(c.outgoing)
		c.outgoing = c.outgoing[:0]
	}
	clear(s.dirty)
	s.dirty = s.dirty[:0]
}

func (s *Server) do(e core.Effect) {
	switch e := e.(type) {
	case core.Send:
		s.send(e)
	case core.Hangup:
		if c := s.conns[e.Conn]; c != nil {
			s.opts.Logger.Info("hung up", "conn", e.Conn, "reason", e.Reason)
			c.queue.push(c.outgoing)
			c.outgoing = c.outgoing[:0]
			s.forget(c)
			c.queue.close()
		}
	case core.Append:
		s.appends <- e.Records
	case core.Put:
		s.values.put(core.Ref{Block: e.Block, From: e.From}, e.Data)
	case core.Drop:
		s.values.drop(core.Ref(e))
	case core.Load:
		data := make([][]byte, len(e.Refs))
		for i, r := range e.Refs {
			data[i] = s.values.get(r)
		}
		s.core.Loaded(e.ID, data)
	}
}

func (s *Server) send(e core.Send) {
	c := s.conns[e.Conn]
	if c == nil {
		return
	}
	if status, ok := e.Message.(*wire.StatusReply); ok {
		status.Values = append(status.Values, usage()...)
	}
	if len(c.outgoing) == 0 {
		s.dirty = append(s.dirty, c)
	}
	c.outgoing = append(c.outgoing, e.Message)
}

// overflow drops a connection whose client does not keep up.
func (s *Server) overflow(c *conn) {
	s.opts.Logger.Warn("dropped a connection that does not keep up", "conn", c.id)
	s.core.Disconnect(c.id)
	s.forget(c)
	c.net.Close()
	c.queue.close()
}

// forget lets go of a connection that the core has forgotten.
func (s *Server) forget(c *conn) {
	c.dropped = true
	delete(s.conns, c.id)
}

// fail stops the server because the log failed: whatever is not durable stays
// unseen, and nothing is acknowledged any more.
func (s *Server) fail(err error) {
	s.err = fmt.Errorf("the commit log failed, the server stops: %w", err)
	s.opts.Logger.Error("commit log failed", "error", err)
}

// dropConns closes all connections once what is queued for them is sent.
func (s *Server) dropConns() {
	for _, c := range s.conns {
		c.queue.close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.mu.open {
		c.queue.close() // also those that the owner has not met yet
	}
}

// writeLog is the log writer: it makes one group at a time durable.
func (s *Server) writeLog() {
	var buf []byte
	for records := range s.appends {
		buf = record.Append(buf[:0], record.Group{Records: records})
		_, err := s.storage.log.Append(buf)
		if cap(buf) > record.MaxGroupBytes+record.GroupOverhead {
			buf = nil
		}
		s.durable <- err
	}
}
