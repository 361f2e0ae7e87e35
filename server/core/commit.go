package core

import (
	"bytes"
	"math"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/record"
)

// commit handles a read/write transaction: it is decided now, or held back for
// a transaction that lost too often.
func (c *Core) commit(cn *conn, m *wire.Commit) {
	switch {
	case m.Digest != wire.CommitDigest(m.Reads, m.Writes):
		c.reject(cn, m.Req, wire.CodeMalformed, "a commit's digest does not match its content")
		return
	case len(m.Writes) == 0 || c.writesTwice(m.Writes):
		c.reject(cn, m.Req, wire.CodeMalformed, "a commit without writes, or with two of one block")
		return
	case !basesRead(m):
		c.reject(cn, m.Req, wire.CodeMalformed, "a commit of ranges of a block that it did not read")
		return
	case m.Resend && cn.replaced:
		c.tell(cn, m.Req, wire.OutcomeUnknown, 0)
		return
	case m.Acked >= m.Seq || m.Seq == math.MaxUint64:
		c.sequenceError(cn, m.Req, "impossible sequence numbers")
		return
	}
	if c.bases.Err != nil {
		c.decideHeld(cn) // first those before it
	} else if c.hold(cn, m) {
		return
	}
	c.decide(cn, m, c.bases)
	c.decided(cn.session, m.Urgent)
}

// decide validates a read/write transaction (section 7) and queues it for the
// log. Its number is looked at before anything else, so that whatever becomes
// of it, it is judged at most once.
func (c *Core) decide(cn *conn, m *wire.Commit, bases Bases) {
	s := cn.session
	s.trim(min(m.Acked, s.next-1))
	switch {
	case m.Seq < s.next:
		c.resent(cn, m)
		return
	case m.Seq > s.next && !s.recovered:
		c.sequenceError(cn, m.Req, "a sequence number is left out")
		return
	}
	if !m.Resend {
		s.recovered = false
	}
	if !c.within(cn, m.Req, uint64(s.unacknowledged())+1, c.cfg.Limits.Outcomes, "outcome table") {
		s.next = m.Seq + 1 // used up: a number without an entry did not commit
		return
	}
	o := s.add(m.Seq, m.Digest)
	s.trim(m.Acked)
	if e := c.exceeded(m); e.Code != 0 {
		o.state = outcomeRefused
		c.refuse(cn, e)
		return
	}
	if m.Resend {
		o.waiters = []waiter{{conn: cn, req: m.Req}}
	} else {
		o.conn, o.req = cn, m.Req
	}
	if changed := c.versions.Validate(m.Reads); changed != nil {
		c.conflict(o, changed)
		if m.Urgent {
			c.fair.lost(s, m.Reads, changed)
		}
		return
	}
	if bases.Err != nil {
		o.state, o.conn, o.waiters = outcomeRefused, nil, nil
		c.refuse(cn, wire.Error{Req: m.Req, Code: wire.CodeDamaged, Text: bases.Err.Error()})
		return
	}
	c.values.bytes += c.cost(m.Writes)
	beyond, bytes := c.full(), c.pendingBytes(m.Writes)
	c.beyond = c.beyond || beyond
	c.pending += bytes
	c.enqueue(step{
		bytes:  bytes,
		beyond: beyond,
		record: &record.Commit{
			At:      c.versions.Assign(m.Writes),
			Session: s.id,
			Seq:     m.Seq,
			Acked:   m.Acked,
			Digest:  m.Digest,
			Writes:  m.Writes,
		},
		bases:   bases.Data,
		outcome: o,
		session: s,
	})
}

// conflict tells the sender which blocks changed: at once if all that changed
// is visible, else when it is, so that a retry does not read the same doomed
// versions again.
func (c *Core) conflict(o *outcome, changed []occ.Read) {
	c.counts.conflicts++
	o.changed = changed
	for _, r := range changed {
		o.after = max(o.after, r.From)
	}
	if o.after > c.versions.Stable() {
		c.conflicts = append(c.conflicts, o)
		return
	}
	c.tellConflict(o)
}

func (c *Core) tellConflict(o *outcome) {
	if o.conn != nil && o.conn.state != connGone {
		c.send(o.conn, &wire.Conflict{Req: o.req, Blocks: o.changed})
	}
	c.settle(o, outcomeRefused)
}

// Oversized returns the error for a commit that exceeds a published limit,
// whatever else there is; its code is 0 if none is exceeded. It trims the zeros
// at the end of the data, which is neither stored nor counted. It may be called
// at any time and by any goroutine, on a commit that the core does not have yet.
func (c *Core) Oversized(m *wire.Commit) wire.Error {
	l := c.cfg.Limits
	if n := uint64(len(m.Reads)); n > l.CommitReads {
		return tooLarge(m.Req, n, l.CommitReads, "read set")
	}
	if n := uint64(len(m.Writes)); n > l.CommitWrites {
		return tooLarge(m.Req, n, l.CommitWrites, "write set")
	}
	var total uint64
	for i := range m.Writes {
		w := &m.Writes[i]
		if n := covers(*w); n > c.cfg.BlockSize {
			return tooLarge(m.Req, n, c.cfg.BlockSize, "block")
		}
		w.Data = bytes.TrimRight(w.Data, "\x00")
		total += commitBytes(*w)
	}
	total += uint64(len(m.Reads)) * commitEntryBytes
	if total > l.CommitBytes {
		return tooLarge(m.Req, total, l.CommitBytes, "commit")
	}
	return wire.Error{}
}

// exceeded is Oversized, and the same for what there is no room for now.
func (c *Core) exceeded(m *wire.Commit) wire.Error {
	if e := c.Oversized(m); e.Code != 0 {
		return e
	}
	if c.full() && (!m.Urgent || c.beyond) {
		return busy(m.Req, uint64(c.pending), uint64(c.cfg.PendingBytes), "bytes of commits wait for the log")
	}
	if after := c.values.bytes + c.cost(m.Writes); after > c.cfg.MemoryBytes {
		return wire.Error{
			Req: m.Req, Code: wire.CodeStoreFull, Text: "the memory budget for versions is used up",
			Limit: uint64(c.cfg.MemoryBytes), Value: uint64(after),
		}
	}
	if after := c.versions.Bytes() + c.versions.Growth(m.Writes); after > c.cfg.IndexBytes {
		return wire.Error{
			Req: m.Req, Code: wire.CodeStoreFull, Text: "the memory budget for the index of versions is used up",
			Limit: uint64(c.cfg.IndexBytes), Value: uint64(after),
		}
	}
	return wire.Error{}
}

// full reports whether as much waits for the log as may. What a commit would add
// makes no difference: where there is room for a small one, there is for the
// largest, which therefore waits no longer than others. One urgent commit at a
// time is let in all the same: it has been refused before, perhaps for this
// reason each time.
func (c *Core) full() bool { return c.pending >= c.cfg.PendingBytes }

// commitEntryBytes is what an entry of a read or write set counts against
// Limits.CommitBytes besides data: a bound for its encoding on the wire and
// in the log.
const commitEntryBytes = 20

// writesTwice reports whether a block stands twice in a write set.
func (c *Core) writesTwice(writes []occ.Write) bool {
	if len(writes) <= 16 {
		for i := range writes {
			for j := range i {
				if writes[i].Block == writes[j].Block {
					return true
				}
			}
		}
		return false
	}
	seen := make(map[occ.BlockID]struct{}, len(writes))
	for _, w := range writes {
		seen[w.Block] = struct{}{}
	}
	return len(seen) < len(writes)
}
