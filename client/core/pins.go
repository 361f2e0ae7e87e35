package core

import (
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// askAbout queues a query that make builds for a request number; its answer is
// checked against it.
func (c *Core) askAbout(w Waker, now time.Duration, build func(req uint64) wire.Message) *Query {
	r := c.query(w, now)
	r.asked = build(r.number)
	c.send(r, r.asked)
	return r.query
}

// Pin queues a request to pin timestamp at under a name, answered with a
// wire.PinReply.
func (c *Core) Pin(w Waker, name string, at occ.Timestamp, lease, now time.Duration) *Query {
	return c.askAbout(w, now, func(req uint64) wire.Message {
		return &wire.Pin{Req: req, At: at, Lease: lease, Name: name}
	})
}

// Unpin queues a request to take back a pin, answered with a wire.PinReply.
func (c *Core) Unpin(w Waker, name string, now time.Duration) *Query {
	return c.askAbout(w, now, func(req uint64) wire.Message { return &wire.Unpin{Req: req, Name: name} })
}

// Pins queues a request for the pins behind a name, answered with a
// wire.PinsReply.
func (c *Core) Pins(w Waker, after string, now time.Duration) *Query {
	return c.askAbout(w, now, func(req uint64) wire.Message { return &wire.Pins{Req: req, After: after} })
}

// Changes queues a request for what differs between two timestamps; ask.Req is
// set. It is answered with a wire.ChangesReply.
func (c *Core) Changes(w Waker, ask wire.Changes, now time.Duration) *Query {
	return c.askAbout(w, now, func(req uint64) wire.Message {
		ask.Req = req
		return &ask
	})
}

func checkPin(r *request, m *wire.PinReply) error {
	if p, ok := r.asked.(*wire.Pin); m.At > m.Stable || ok && m.At != p.At {
		return protocolError("a pin of %d at stable %d", m.At, m.Stable)
	}
	return nil
}

func checkPins(r *request, m *wire.PinsReply) error {
	after := r.asked.(*wire.Pins).After
	for _, p := range m.Pins {
		if p.Name <= after || p.At > m.Stable || p.Left < 0 {
			return protocolError("pin %.40q of %d behind %.40q, with %v left, at stable %d", p.Name, p.At, after, p.Left, m.Stable)
		}
		after = p.Name
	}
	if m.Horizon > m.Stable || !m.Last && len(m.Pins) == 0 {
		return protocolError("a list of %d pins, last %v, with horizon %d at stable %d", len(m.Pins), m.Last, m.Horizon, m.Stable)
	}
	return nil
}

func checkChanges(r *request, m *wire.ChangesReply) error {
	ask := r.asked.(*wire.Changes)
	first := ask.First
	for i, b := range m.Blocks {
		if b.Block < first || i > 0 && b.Block == first || b.From <= ask.Since || b.From > ask.At {
			return protocolError("block %d changed at %d, where those from %d on between %d and %d were asked for", b.Block, b.From, first, ask.Since, ask.At)
		}
		first = b.Block
	}
	if uint64(len(m.Blocks)) > ask.Limit || !m.Last && (m.Next <= ask.First || m.Next <= first && len(m.Blocks) > 0) {
		return protocolError("%d changes from block %d on, to go on at %d", len(m.Blocks), ask.First, m.Next)
	}
	return nil
}
