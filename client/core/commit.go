package core

import (
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// commitNumbers numbers the commits of the session and knows up to which all
// are answered.
type commitNumbers struct {
	last     uint64
	acked    uint64              // all up to here are answered
	answered map[uint64]struct{} // answered ones above acked
}

// unanswered is the number of outcomes that the server keeps for the session,
// at most, when it has taken in a commit that says what is answered.
func (n *commitNumbers) unanswered() uint64 { return n.last - n.acked }

func (n *commitNumbers) answer(seq uint64) {
	if n.answered == nil {
		n.answered = make(map[uint64]struct{})
	}
	n.answered[seq] = struct{}{}
	for {
		if _, ok := n.answered[n.acked+1]; !ok {
			return
		}
		n.acked++
		delete(n.answered, n.acked)
	}
}

// Commit ends t. A read-only transaction commits on the spot, whatever now
// is, and sends nothing (section 5), as does one that neither read nor wrote.
// Any other is queued for the server at local time now: t is then Committing
// and t.Waiting() is true until the answer has come. If too many commits are
// not answered it is held back, and t is still Running meanwhile.
func (c *Core) Commit(t *Tx, now time.Duration) {
	switch {
	case t.readOnly:
		c.settle(t)
		t.state = Committed
		if len(t.reads) > 0 {
			c.raiseFloor(t.snap.Lo)
		}
		c.stats.ReadOnly++
		c.record(t)
		c.end(t)
		return
	case len(t.reads) == 0 && len(t.writes) == 0:
		t.state = Committed
		c.stats.Empty++
		c.seq++
		c.end(t)
		return
	}
	t.waiting = 1
	switch {
	case len(t.writes) == 0:
		r := c.newRequest(t, now)
		t.state = Committing
		c.send(r, &wire.Validate{Req: r.number, Reads: t.readSet()})
	case c.full():
		c.held = append(c.held, heldCommit{t, now})
	default:
		c.sendCommit(t, now)
	}
}

// heldCommit is a commit that the server would refuse now, because its table
// of the session's outcomes is full. It follows when an earlier one has been
// answered. Until then its transaction is Running: it can be given up, and
// aborts as soon as a version that it read is superseded. There is no more
// than one for each running transaction, besides what a sweep will remove.
type heldCommit struct {
	t     *Tx
	since time.Duration
}

// full reports whether the server has no room for another outcome. A limit of
// 0 is none.
func (c *Core) full() bool {
	return c.limits.Outcomes > 0 && c.commits.unanswered() >= c.limits.Outcomes
}

// sendHeld queues those commits that the server has room for again.
func (c *Core) sendHeld() {
	for len(c.held) > 0 && !c.full() {
		h := c.held[0]
		c.held[0] = heldCommit{}
		if c.held = c.held[1:]; h.t.state == Running {
			c.sendCommit(h.t, h.since)
		}
	}
}

// sendCommit queues the commit of t, which asked for it at local time now.
func (c *Core) sendCommit(t *Tx, now time.Duration) {
	r := c.newRequest(t, now)
	t.state = Committing
	c.commits.last++
	r.seq = c.commits.last
	reads, writes := t.readSet(), c.writeSet(t)
	t.commit = &wire.Commit{
		Req: r.number, Seq: r.seq, Acked: c.commits.acked,
		Digest: wire.CommitDigest(reads, writes), Urgent: t.urgent, Reads: reads, Writes: writes,
	}
	c.send(r, t.commit)
}

// committed is the answer that r's transaction committed at at. It acts as a
// deprecation for every block that was written and puts the new versions into
// the cache (section 6).
func (c *Core) committed(r *request, at occ.Timestamp) {
	for _, w := range r.owner.writes {
		if v := c.cache.open(w.Block); v != nil {
			c.close(v, at, occ.AbortActive)
		}
		c.cache.install(w.Block, occ.Interval{From: at, To: occ.Open}, c.padded(w.Data))
	}
	c.finishCommit(r, at)
}

// finishCommit marks r's transaction as committed at at and wakes its owner.
func (c *Core) finishCommit(r *request, at occ.Timestamp) {
	t := r.owner
	if r.seq > 0 {
		c.commits.answer(r.seq)
	}
	c.raiseFloor(at)
	t.state = Committed
	t.commitAt = at
	if t.Writes() {
		c.stats.ReadWrite++
	} else {
		c.stats.Validated++
	}
	c.record(t)
	c.end(t)
	c.done(t)
}

// conflicted is the answer that r's transaction did not commit.
func (c *Core) conflicted(r *request, blocks []occ.Read) {
	if r.seq > 0 {
		c.commits.answer(r.seq)
	}
	c.abort(r.owner, occ.AbortConflict, blocks)
}

// outcome is the answer to a commit that was sent again: it installs,
// registers and closes nothing (section 8).
func (c *Core) outcome(r *request, m *wire.Outcome) {
	switch m.Status {
	case wire.OutcomeCommitted:
		c.finishCommit(r, m.At)
	case wire.OutcomeConflict:
		c.conflicted(r, nil)
	default:
		c.commits.answer(r.seq)
		c.inDoubt(r.owner)
	}
}

// inDoubt ends t without knowing how.
func (c *Core) inDoubt(t *Tx) {
	t.state = InDoubt
	t.waiting = 0
	c.stats.InDoubt++
	c.raiseFloorSeen(t)
	c.record(t)
	c.end(t)
	c.wake(t)
}

// refused is the answer that the server would not serve r. Of several blocks one
// may be damaged: the others are of use to whoever asked for them.
func (c *Core) refused(r *request, why *Refusal) {
	if why.Code == wire.CodeDamaged && len(r.fetches) > 1 {
		c.askApart(r)
		return
	}
	if r.seq > 0 {
		c.commits.answer(r.seq)
	}
	if t := r.owner; t != nil && (t.state == Running || t.state == Committing) {
		t.refusal = why
		c.abort(t, occ.AbortRefused, nil)
	}
	c.letGo(r)
	for _, f := range r.fetches {
		delete(c.fetches, f.fetchKey)
		for _, t := range f.waiters {
			if t.state == Running {
				t.refusal = why
				c.abort(t, occ.AbortRefused, nil)
			}
		}
	}
	if r.lease > 0 && r.query == nil {
		c.leaseRefused(why)
	}
	if r.query != nil {
		r.query.finish(nil, why)
		r.query = nil
	}
}

// Gone reports whether a version that t asked for has left the retention
// window: t has to be begun anew, see Restart.
func (t *Tx) Gone() bool { return t.gone }

// GoneAt is the timestamp that was gone, and the oldest one that was not.
func (t *Tx) GoneAt() (at, oldest occ.Timestamp) { return t.goneAt, t.oldest }
