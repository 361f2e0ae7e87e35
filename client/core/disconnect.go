package core

import (
	"slices"

	"github.com/tidemark/tidemark/occ"
)

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
