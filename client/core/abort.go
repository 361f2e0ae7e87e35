package core

import "github.com/tidemark/tidemark/occ"

// raiseFloorSeen raises the causality floor to the largest start that the
// owner of an attempt saw (section 5).
func (c *Core) raiseFloorSeen(t *Tx) {
	for _, v := range t.reads {
		c.raiseFloor(v.From)
	}
}

func (c *Core) raiseFloor(to occ.Timestamp) {
	if !c.cfg.Faults.FloorNotRaised {
		c.floor = max(c.floor, to)
	}
}

// abort ends t without effect.
func (c *Core) abort(t *Tx, reason occ.AbortReason, blocks []occ.Read) {
	if t.state == Aborted || t.state == Committed {
		return
	}
	t.state = Aborted
	t.reason = reason
	t.conflicts = blocks
	c.stats.Aborts[reason]++
	c.raiseFloorSeen(t)
	c.record(t)
	c.end(t)
	if t.waiting > 0 {
		c.abandoned += t.waiting
		t.waiting = 0
		c.sweep()
	}
	if reason != occ.AbortByCaller {
		if f := t.onAbort; f != nil {
			t.onAbort = nil
			f()
		}
		c.wake(t)
	}
}

func (c *Core) wake(t *Tx) {
	if t.waker != nil {
		t.waker.Wake()
	}
}

// Abort gives t up. It does nothing once the commit is queued or the
// transaction has ended. A read-only transaction is given up the same way.
func (c *Core) Abort(t *Tx) {
	if t.state == Running {
		c.abort(t, occ.AbortByCaller, nil)
	}
}
