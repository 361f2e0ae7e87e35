package core

import (
	"testing"

	"github.com/tidemark/tidemark/occ"
)

// Transactions that are begun, wait for an answer and are given up, over and
// over, while the server is silent: what is kept of them is bounded.
func TestAbandonedWaitsAreSwept(t *testing.T) {
	c := New(Config{CacheBytes: 1 << 10})
	c.online = true
	listed := func() (n int) {
		for _, f := range c.fetches {
			n += len(f.waiters)
		}
		for _, r := range c.requests {
			n += len(r.waiters)
		}
		return n + len(c.ids.waiters)
	}
	var live []*Tx
	for i := range 50 * minSweep {
		tx := new(Tx)
		c.Begin(tx, i%3 == 0, 0, 1)
		if i%5 == 0 {
			c.AskIDs(tx, 1)
		} else {
			c.Ask(tx, []occ.BlockID{7}, 1)
		}
		c.TakeMessages()
		if i%1000 == 0 {
			live = append(live, tx)
			continue
		}
		c.Abort(tx)
		if i%97 != 0 { // to count them takes long
			continue
		}
		if got, most := listed(), 2*(max(minSweep, len(c.requests)+c.runningCount)+len(live)); got > most {
			t.Fatalf("%d waits are listed after %d transactions, more than %d", got, i, most)
		}
	}
	for _, tx := range live {
		if !tx.Waiting() {
			t.Fatal("one that still waits was forgotten")
		}
	}
	if listed() < len(live) {
		t.Errorf("%d waits are listed for %d transactions", listed(), len(live))
	}
}
