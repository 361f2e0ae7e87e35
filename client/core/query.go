package core

import (
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// Query is a request outside any transaction. Its Waker is told when Reply or
// Err is set.
type Query struct {
	Reply wire.Message
	Err   error
	waker Waker
	done  bool
}

// Done reports whether the answer has come.
func (q *Query) Done() bool { return q.done }

func (q *Query) finish(m wire.Message, err error) {
	q.Reply, q.Err, q.done = m, err, true
	if q.waker != nil {
		q.waker.Wake()
	}
}

func (c *Core) query(w Waker, now time.Duration) *request {
	r := c.newRequest(nil, now)
	r.query = &Query{waker: w}
	return r
}

// Ping queues a ping: its answer is a sync point.
func (c *Core) Ping(w Waker, now time.Duration) *Query {
	r := c.query(w, now)
	c.stats.Pings++
	c.send(r, &wire.Ping{Req: r.number})
	return r.query
}

// Status queues a request for the server's counters.
func (c *Core) Status(w Waker, now time.Duration) *Query {
	r := c.query(w, now)
	c.send(r, &wire.Status{Req: r.number})
	return r.query
}

// Clock queues a message that moves the server's retention clock to at.
func (c *Core) Clock(w Waker, at, now time.Duration) *Query {
	r := c.query(w, now)
	c.send(r, &wire.Clock{Req: r.number, Now: at})
	return r.query
}

// idPool is what is left of the block ids leased for Create.
type idPool struct {
	next    occ.BlockID
	left    uint64
	asked   bool
	waiters []*Tx
}

// leaseChunk is how many ids are leased at a time for single blocks.
const leaseChunk = 256

// TakeID takes a new block id out of the pool, if there is one.
func (c *Core) TakeID() (occ.BlockID, bool) {
	if c.ids.left == 0 {
		return 0, false
	}
	id := c.ids.next
	c.ids.next++
	c.ids.left--
	return id, true
}

// AskIDs makes t wait until the pool has been refilled.
func (c *Core) AskIDs(t *Tx, now time.Duration) {
	t.waiting++
	c.ids.waiters = append(c.ids.waiters, t)
	if !c.ids.asked {
		c.ids.asked = true
		r := c.newRequest(nil, now)
		r.lease = max(1, min(leaseChunk, c.limits.LeaseBlocks))
		c.send(r, &wire.Lease{Req: r.number, Count: r.lease})
	}
}

// Lease queues a request for n consecutive ids, answered with a
// wire.LeaseReply.
func (c *Core) Lease(w Waker, n uint64, now time.Duration) *Query {
	r := c.query(w, now)
	r.lease = n
	c.send(r, &wire.Lease{Req: r.number, Count: n})
	return r.query
}

func (c *Core) leased(r *request, m *wire.LeaseReply) error {
	if m.Count == 0 || m.Count != r.lease || uint64(m.First)+m.Count < m.Count {
		return protocolError("a lease of %d ids from %d, where %d were asked for", m.Count, m.First, r.lease)
	}
	if r.query != nil {
		return nil
	}
	c.ids.next, c.ids.left, c.ids.asked = m.First, m.Count, false
	c.wakeIDs(func(t *Tx) { c.done(t) })
	return nil
}

func (c *Core) leaseRefused(why *Refusal) {
	c.ids.asked = false
	c.wakeIDs(func(t *Tx) {
		t.refusal = why
		c.abort(t, occ.AbortRefused, nil)
	})
}

func (c *Core) wakeIDs(f func(*Tx)) {
	waiters := c.ids.waiters
	c.ids.waiters = nil
	for _, t := range waiters {
		if t.state == Running {
			f(t)
		}
	}
}
