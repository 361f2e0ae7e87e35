package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/core"
)

// slowTick bounds the time between two moments at which the core is told the
// time: it also bounds how long a reservation outlives core.ReservationTime.
const slowTick = 250 * time.Millisecond

// tick is how often the core is told the time: often enough for heartbeats to
// be at most half as late again.
func (o Options) tick() time.Duration {
	if o.Heartbeat == 0 {
		return slowTick
	}
	return min(slowTick, max(o.Heartbeat/2, time.Millisecond))
}

// enter makes the caller the owner of the core, until it calls leave. It
// returns false, and does not, if the server has ended.
func (s *Server) enter() bool {
	s.owner.Lock()
	if s.ended {
		s.owner.Unlock()
		return false
	}
	return true
}

// leave closes the group that has formed, if the log is free, carries out
// what the core has decided, and gives the core up. Messages for the
// connection own, which may be nil, are left to the caller to send.
func (s *Server) leave(own *conn) {
	if s.opts.CommitDelay == 0 || s.finishing {
		s.core.Flush()
	} else if s.core.Forming() && !s.delayed {
		s.delayed = true
		time.AfterFunc(s.opts.CommitDelay, s.closeGroup)
	}
	s.leaveAsItIs(own)
}

// leaveAsItIs is leave, but for the group that forms.
func (s *Server) leaveAsItIs(own *conn) {
	s.carryOut(own)
	switch {
	case s.cause != nil:
		s.stopFor(s.cause)
	case s.finishing && s.core.Idle():
		s.end()
	}
	s.owner.Unlock()
}

// closeGroup closes the group that has formed for Options.CommitDelay.
func (s *Server) closeGroup() {
	if s.enter() {
		s.delayed = false
		s.core.Flush()
		s.leaveAsItIs(nil)
	}
}

// keepTime tells the core the time, and of the end.
func (s *Server) keepTime() {
	ticker := time.NewTicker(s.opts.tick())
	defer ticker.Stop()
	always := make(chan struct{})
	close(always)
	var more chan struct{} // always, while there is something to sweep
	for stop := s.stop; ; {
		select {
		case <-ticker.C:
			if s.enter() {
				s.core.Tick(s.clock())
				if s.storage.blocks != nil && s.wasteful(s.storage.blocks.Stats()) {
					s.wakeKeeper()
				}
				s.leave(nil)
			}
			more = always
		case <-more:
			more = nil
			if s.enter() {
				if s.core.Sweep() {
					more = always
				}
				s.leave(nil)
			}
		case <-stop:
			stop = nil
			if s.enter() {
				s.finishing = true
				s.core.Stop()
				s.leave(nil)
			}
		case <-s.done:
			return
		}
	}
}

// clock is the time since the server began, by the monotonic clock.
func (s *Server) clock() time.Duration { return time.Since(s.begun) }

// opened tells the core of a connection; false if the server has ended.
func (s *Server) opened(c *conn) bool {
	if !s.enter() {
		return false
	}
	s.conns[c.id] = c
	s.core.Connect(c.id)
	s.leave(nil)
	return true
}

// received hands messages of a connection to the core; false if the server
// has ended.
func (s *Server) received(c *conn, messages []wire.Message) bool {
	commits, release := s.readBases(messages)
	defer release()
	if !s.enter() {
		return false
	}
	for i, m := range messages {
		if len(commits) > 0 && commits[0].at == i {
			s.core.ReceiveBased(c.id, m, commits[0].Bases)
			commits = commits[1:]
		} else {
			s.core.Receive(c.id, m)
		}
	}
	s.leave(c)
	return true
}

// broken tells the core that reading from a connection ended; false if the
// server has ended.
func (s *Server) broken(c *conn, err error) bool {
	if !s.enter() {
		return false
	}
	if code, ok := refusal(err); ok && !c.dropped {
		s.core.Reject(c.id, code, err.Error())
	} else {
		if !c.dropped {
			s.opts.Logger.Log(context.Background(), gravity(err), "disconnected", "conn", c.id, "reason", err)
		}
		s.core.Disconnect(c.id)
		s.forget(c)
		c.queue.close()
	}
	s.leave(nil)
	return true
}

// gravity is the level at which the end of a connection is logged: clients come
// and go all the time, but not in the middle of a message.
func gravity(err error) slog.Level {
	if err == io.EOF || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, net.ErrClosed) {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// carryOut does what the core says, in its order, until it says nothing more.
// Messages are queued when all are known, so that each connection has as much
// as possible to send at once.
func (s *Server) carryOut(own *conn) {
	for more := true; more; {
		for effects := s.core.Take(); len(effects) > 0; effects = s.core.Take() {
			for _, e := range effects {
				s.do(e)
			}
		}
		more = false
		for _, c := range s.dirty {
			if !c.queue.push(c.outgoing, c != own) {
				s.overflow(c)
				more = true // the core may have let go of something
			}
			clear(c.outgoing)
			c.outgoing = c.outgoing[:0]
		}
		clear(s.dirty)
		s.dirty = s.dirty[:0]
		if more && s.opts.CommitDelay == 0 {
			s.core.Flush()
		}
	}
}

func (s *Server) do(e core.Effect) {
	switch e := e.(type) {
	case core.Send:
		s.send(e)
	case core.Hangup:
		if c := s.conns[e.Conn]; c != nil {
			s.opts.Logger.Info("hung up", "conn", e.Conn, "reason", e.Reason)
			c.queue.push(c.outgoing, true)
			c.outgoing = c.outgoing[:0]
			s.forget(c)
			c.queue.close()
		}
	case core.Append:
		s.appends <- e.Records // there is room: at most one is under way
	case core.Put:
		if err := s.values.put(e); err != nil && s.cause == nil {
			s.cause = err
		}
	case core.Drop:
		s.values.drop(core.Ref(e))
	case core.Load:
		s.load(e)
	}
}

func (s *Server) send(e core.Send) {
	c := s.conns[e.Conn]
	if c == nil {
		return
	}
	if status, ok := e.Message.(*wire.StatusReply); ok {
		status.Values = append(append(status.Values, usage()...), s.storage.usage()...)
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
	s.loads.end(&c.lane)
}
