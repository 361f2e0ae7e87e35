package core

import (
	"cmp"
	"slices"

	"github.com/tidemark/tidemark/occ"
)

// Disconnect ends the current connection: every open version, in the cache
// and in the read sets of running transactions, is valid through the GLUB of
// this moment and no further (section 8). Running read/write transactions
// abort; those whose commit is queued wait on, to be sent again by the next
// connection or given up by GiveUp; whoever waited for an answer is woken. A
// commit that was under way on two connections which the server ended because
// it could not read what it was sent is not sent a third time: it is in doubt.
func (c *Core) Disconnect() {
	c.online = false
	c.out = c.out[:0]
	c.cache.each(func(v *version) {
		if v.To == occ.Open {
			v.To = c.glub + 1
			v.bounded = true
		}
	})
	c.closes++
	requests := c.requests
	c.requests = make(map[uint64]*request)
	c.fetches = make(map[fetchKey]*fetch)
	c.latest = nil
	c.ids.asked, c.ids.waiters = false, nil
	c.held = nil // never sent: they abort below
	for t := c.running.next; t != &c.running; {
		next := t.next
		switch {
		case t.commit != nil && c.cannotRead && t.suspect:
			c.inDoubt(t) // the commit is what it cannot read, or was never heard of
		case t.commit != nil:
			t.suspect = t.suspect || c.cannotRead
			if !slices.Contains(c.inFlight, t) {
				c.inFlight = append(c.inFlight, t)
			}
			c.wake(t) // it waits on, unless its owner will not
		case !t.readOnly:
			t.state = Running
			c.abort(t, occ.AbortDisconnected, nil)
		case t.waiting > 0:
			t.waiting = 0
			c.wake(t)
		}
		t = next
	}
	c.cannotRead = false
	c.inFlight = slices.DeleteFunc(c.inFlight, func(t *Tx) bool { return t.state == InDoubt })
	slices.SortFunc(c.inFlight, func(a, b *Tx) int { return cmp.Compare(a.commit.Seq, b.commit.Seq) })
	for _, n := range sortedNumbers(requests) {
		c.letGo(requests[n])
		if q := requests[n].query; q != nil {
			q.finish(nil, ErrOffline)
		}
	}
}

// GiveUp says that there will be no further connection: commits that were
// queued are in doubt, and whoever waits for a server is woken.
func (c *Core) GiveUp() {
	for _, t := range c.inFlight {
		c.inDoubt(t)
	}
	c.inFlight = nil
	c.wakeAwaiting()
}

// AwaitServer has w woken when a server has welcomed the client, or never
// will.
func (c *Core) AwaitServer(w Waker) { c.awaiting = append(c.awaiting, w) }

// StopAwaiting takes w off those who wait for a server.
func (c *Core) StopAwaiting(w Waker) {
	c.awaiting = slices.DeleteFunc(c.awaiting, func(o Waker) bool { return o == w })
}

func (c *Core) wakeAwaiting() {
	awaiting := c.awaiting
	c.awaiting = nil
	for _, w := range awaiting {
		w.Wake()
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
