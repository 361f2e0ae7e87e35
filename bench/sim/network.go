package sim

import (
	"context"
	"slices"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/core"
)

// link is one connection of the simulated network; it is the client's
// Transport. Each direction delivers in order, after the latency and the time
// that the bytes take at the bandwidth.
type link struct {
	s        *Server
	id       core.ConnID
	receiver client.Receiver
	up, down direction
	closed   bool
	// heartbeats counts those that were delivered; nil if nobody asks.
	heartbeats *client.Count
}

// direction is one direction of a link.
type direction struct{ free time.Duration }

// deliver has run called when a frame of n bytes that leaves now arrives.
func (d *direction) deliver(s *Server, n int, run func()) {
	start := max(s.w.now, d.free)
	if s.o.Bandwidth > 0 {
		start += time.Duration(float64(n) / s.o.Bandwidth * float64(time.Second))
	}
	d.free = start
	s.w.At(start+s.o.Latency, run)
}

// Connect is a client.Connect to the simulated server.
func (s *Server) Connect(_ context.Context, r client.Receiver) (client.Transport, error) {
	return s.connect(r, nil), nil
}

// connectCounting is Connect for a client whose heartbeats are added to n.
func (s *Server) connectCounting(n *client.Count) client.Connect {
	return func(_ context.Context, r client.Receiver) (client.Transport, error) {
		return s.connect(r, n), nil
	}
}

func (s *Server) connect(r client.Receiver, heartbeats *client.Count) *link {
	s.lastConn++
	l := &link{s: s, id: s.lastConn, receiver: r, heartbeats: heartbeats}
	s.links[l.id] = l
	s.core.Connect(l.id)
	s.perform()
	return l
}

// Send implements client.Transport.
func (l *link) Send(frame []byte) {
	if l.closed {
		return
	}
	frame = slices.Clone(frame)
	l.up.deliver(l.s, len(frame), func() { l.s.receive(l, frame) })
}

// NewCall implements client.Transport.
func (l *link) NewCall() client.Call { return l.s.w.NewCall() }

// Await implements client.Transport by suspending the coroutine. The context
// is not looked at: in a simulation nobody cancels it.
func (l *link) Await(_ context.Context, c client.Call, limit time.Duration) error {
	sc, _ := c.(*call)
	return l.s.w.wait(sc, limit)
}

// Close implements client.Transport.
func (l *link) Close() error {
	if l.closed {
		return nil
	}
	l.cut()
	l.s.core.Disconnect(l.id)
	l.s.perform()
	l.receiver.Lost(client.ErrClosed)
	return nil
}

// cut ends the link at both ends without a word.
func (l *link) cut() {
	l.closed = true
	delete(l.s.links, l.id)
}

// toClient carries a message to the client.
func (l *link) toClient(m wire.Message) {
	frame := wire.Append(nil, m)
	pong, ok := m.(*wire.Pong)
	heartbeat := ok && pong.Req == 0 && l.heartbeats != nil
	l.down.deliver(l.s, len(frame), func() {
		if l.closed {
			return
		}
		if heartbeat {
			l.heartbeats.Messages++
			l.heartbeats.Bytes += uint64(len(frame))
		}
		body, _, err := wire.SplitFrame(frame, wire.MaxFrame)
		if err == nil {
			err = l.receiver.Receive(body)
		}
		if err != nil {
			l.cut()
			l.s.core.Disconnect(l.id)
			l.s.perform()
			l.receiver.Lost(err)
		}
	})
}
