package core

import (
	"slices"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// Receive takes in one message of the current connection. The items of a
// message are handled in order, each one closing before it installs, and the
// GLUB rises after the last (section 3). Transactions that can go on are
// woken. An error means that the server broke the protocol: the caller gives
// the connection up.
func (c *Core) Receive(m wire.Message) error {
	switch m := m.(type) {
	case *wire.Pong:
		if m.Req == 0 {
			return c.raise(m.Stable) // a heartbeat makes no sync point
		}
		return c.reply(m.Req, m.Stable, func(r *request) error { return nil }, m)
	case *wire.ReadReply:
		return c.receiveRead(m)
	case *wire.Items:
		return c.receiveItems(m)
	case *wire.Validated:
		return c.reply(m.Req, m.Stable, func(r *request) error { return c.committed(r, m.Stable) }, m)
	case *wire.Conflict:
		return c.reply(m.Req, m.Stable, func(r *request) error { return c.conflicted(r, m.Blocks) }, m)
	case *wire.Outcome:
		return c.reply(m.Req, m.Stable, func(r *request) error { return c.outcome(r, m) }, m)
	case *wire.LeaseReply:
		return c.reply(m.Req, m.Stable, func(r *request) error { return c.leased(r, m) }, m)
	case *wire.StatusReply:
		return c.reply(m.Req, m.Stable, func(r *request) error { return nil }, m)
	case *wire.Welcome:
		return c.reply(m.Req, m.Stable, func(r *request) error { return c.welcomed(r, m) }, m)
	case *wire.Error:
		refusal := &Refusal{Code: m.Code, Limit: m.Limit, Value: m.Value, Text: m.Text}
		if m.Req == 0 {
			return refusal
		}
		return c.reply(m.Req, m.Stable, func(r *request) error { return c.refused(r, refusal) }, m)
	}
	return protocolError("a message of type %d, which servers do not send", m.Type())
}

// raise moves the GLUB to stable.
func (c *Core) raise(stable occ.Timestamp) error {
	if stable < c.glub {
		return protocolError("stable went back from %d to %d", c.glub, stable)
	}
	c.glub = stable
	return nil
}

// reply does what every answer has in common: it takes the request off the
// list, does what the answer means, raises the GLUB, records the sync point,
// and wakes those who waited for it.
func (c *Core) reply(number uint64, stable occ.Timestamp, effect func(*request) error, m wire.Message) error {
	r, err := c.answered(number)
	if err != nil {
		return err
	}
	if err := effect(r); err != nil {
		return err
	}
	return c.synced(r, stable, m)
}

// synced is the end of every reply (see reply).
func (c *Core) synced(r *request, stable occ.Timestamp, m wire.Message) error {
	if err := c.raise(stable); err != nil {
		return err
	}
	c.syncs.add(r.start, stable)
	if t := r.owner; t != nil && t.state == Running && t.readOnly && !t.loKnown {
		t.snap.Lo = max(t.snap.Lo, stable)
		t.loKnown = true
	}
	for _, t := range r.waiters {
		c.done(t)
	}
	if q := r.query; q != nil {
		q.finish(m, nil)
	}
	return nil
}

// done is the end of one thing that t waited for.
func (c *Core) done(t *Tx) {
	if t.waiting == 0 || t.state == Aborted {
		return
	}
	if t.waiting--; t.waiting == 0 {
		c.wake(t)
	}
}

func (c *Core) receiveRead(m *wire.ReadReply) error {
	r, err := c.answered(m.Req)
	if err != nil {
		return err
	}
	if len(m.Results) != len(r.fetches) {
		return protocolError("%d results for %d blocks", len(m.Results), len(r.fetches))
	}
	got := make([]*version, len(r.fetches))
	for i, res := range m.Results {
		f := r.fetches[i]
		delete(c.fetches, f.fetchKey)
		switch res.Status {
		case wire.StatusCurrent, wire.StatusClosed:
			iv := occ.Interval{From: res.From, To: occ.Open}
			if res.Status == wire.StatusClosed {
				iv.To = res.To
			}
			if len(res.Data) > c.blockSize || iv.From > m.Stable || iv.To <= iv.From {
				return protocolError("version %v of block %d, %d bytes, at stable %d", iv, f.block, len(res.Data), m.Stable)
			}
			c.stats.BytesRead += uint64(len(res.Data))
			got[i] = c.cache.install(f.block, iv, c.padded(res.Data))
			c.cache.pin(got[i]) // until the transactions that wait for it have it
		case wire.StatusGone:
			c.cache.evictThrough(res.Horizon)
		default:
			return protocolError("read status %d", res.Status)
		}
	}
	if err := c.synced(r, m.Stable, m); err != nil {
		return err
	}
	for i, f := range r.fetches {
		for _, t := range f.waiters {
			if t.state != Running {
				continue
			}
			if got[i] == nil {
				t.gone = true
			} else {
				c.arrived(t, got[i])
			}
			c.done(t)
		}
	}
	for _, v := range got {
		if v != nil {
			c.cache.unpin(v)
		}
	}
	return nil
}

func (c *Core) receiveItems(m *wire.Items) error {
	var replies []*request
	for _, it := range m.Items {
		if it.At > m.Stable {
			return protocolError("an item at %d in a message with stable %d", it.At, m.Stable)
		}
		switch it.Kind {
		case wire.ItemDeprecated:
			c.stats.Deprecations++
			if v := c.cache.find(it.Block, it.From); v != nil && v.To == occ.Open {
				if it.At <= it.From {
					return protocolError("version %d of block %d ended at %d", it.From, it.Block, it.At)
				}
				c.close(v, it.At, occ.AbortActive)
			}
		case wire.ItemDropped:
			if v := c.cache.find(it.Block, it.From); v != nil && v.To == occ.Open {
				c.close(v, it.At+1, occ.AbortDisconnected)
			}
		case wire.ItemCommitted:
			r, err := c.answered(it.Req)
			if err != nil {
				return err
			}
			if err := c.committed(r, it.At); err != nil {
				return err
			}
			replies = append(replies, r)
		}
	}
	if err := c.raise(m.Stable); err != nil {
		return err
	}
	for _, r := range replies {
		c.syncs.add(r.start, m.Stable)
		for _, t := range r.waiters {
			c.done(t)
		}
	}
	return nil
}

// close ends the open version v at to. Running transactions that read it
// learn of it: a read-only one narrows its range, a read/write one aborts.
func (c *Core) close(v *version, to occ.Timestamp, reason occ.AbortReason) {
	v.To = to
	if v.pins == 0 {
		return
	}
	c.closes++
	if c.cfg.NoActiveAborts {
		return
	}
	for t := c.running.next; t != &c.running; {
		next := t.next
		if !t.readOnly && t.state == Running && t.seen(v.block) == v {
			c.abort(t, reason, []occ.Read{{Block: v.block, From: to}})
		}
		t = next
	}
}

// Disconnect ends the current connection: every open version, in the cache
// and in the read sets of running transactions, is valid through the GLUB of
// this moment and no further (section 8). Running read/write transactions
// abort; those whose commit is queued are in doubt; whoever waited is woken.
func (c *Core) Disconnect() {
	c.online = false
	c.out = c.out[:0]
	c.cache.each(func(v *version) {
		if v.To == occ.Open {
			v.To = c.glub + 1
		}
	})
	c.closes++
	requests := c.requests
	c.requests = make(map[uint64]*request)
	c.fetches = make(map[fetchKey]*fetch)
	c.latest = nil
	c.ids.asked = false
	for t := c.running.next; t != &c.running; {
		next := t.next
		switch {
		case t.state == Committing && t.Writes():
			c.inDoubt(t)
		case !t.readOnly:
			t.state = Running
			c.abort(t, occ.AbortDisconnected, nil)
		case t.waiting > 0:
			t.waiting = 0
			c.wake(t)
		}
		t = next
	}
	for _, n := range sortedNumbers(requests) {
		if q := requests[n].query; q != nil {
			q.finish(nil, ErrOffline)
		}
	}
}

func sortedNumbers(requests map[uint64]*request) []uint64 {
	numbers := make([]uint64, 0, len(requests))
	for n := range requests {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return numbers
}
