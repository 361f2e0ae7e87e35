package core

import (
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/record"
)

// step is something that waits for the log: a record, and who is answered
// when it is durable.
type step struct {
	record  record.Record
	outcome *outcome // of a commit
	bases   [][]byte // of a commit, if it came with them: one for each write
	bytes   int64    // of a commit: what it counts against Config.PendingBytes
	beyond  bool     // of a commit: was let in though that was reached, see full
	session *session // of a session or its end, or a commit
	conn    *conn    // of a hello or lease
	req     uint64
}

func (c *Core) enqueue(s step) { c.queue = append(c.queue, s) }

func (c *Core) enqueueLease(cn *conn, m *wire.Lease) {
	c.enqueue(step{
		record: &record.Lease{Session: cn.session.id, First: c.nextID, Count: m.Count},
		conn:   cn,
		req:    m.Req,
	})
	c.nextID += occ.BlockID(m.Count)
}

// Forming reports whether a group has formed that Flush would close.
func (c *Core) Forming() bool { return c.flight == 0 && len(c.queue) > 0 }

// Flush closes the forming group, if there is one and none is under way. A
// group is at most record.MaxGroupBytes, and makes no more data than that, or is
// one record.
func (c *Core) Flush() {
	if c.flight > 0 || len(c.queue) == 0 {
		return
	}
	c.records = c.records[:0]
	bytes, counted := 0, 0
	for _, s := range c.queue {
		n := record.Size(s.record)
		counted += max(n, int(s.bytes))
		if len(c.records) > 0 && counted > record.MaxGroupBytes-record.GroupOverhead {
			break
		}
		bytes += n
		c.records = append(c.records, s.record)
	}
	c.flight = len(c.records)
	c.counts.groups++
	c.counts.groupBytes += uint64(bytes)
	c.emit(Append{Records: c.records, Bytes: bytes})
}

// Durable says that the group under way is durable. The next one is closed
// first: its Append comes before the effects of this one, so that the log has
// something to do while values are put and answers sent.
func (c *Core) Durable() {
	group := append(c.applying[:0], c.queue[:c.flight]...)
	rest := copy(c.queue, c.queue[c.flight:])
	clear(c.queue[rest:])
	c.queue = c.queue[:rest]
	c.flight = 0
	clear(c.records)
	c.Flush()
	for _, s := range group {
		c.pending -= s.bytes
		c.beyond = c.beyond && !s.beyond
	}
	c.apply(group)
	clear(group)
	c.applying = group[:0]
	c.Flush() // what that has brought about
}

// apply makes a durable group visible in one atomic step (section 3): the
// versions first, with the items that they mean to each connection; then one
// message of items to each; only then whatever else was waiting.
func (c *Core) apply(group []step) {
	for _, s := range group {
		if r, ok := s.record.(*record.Commit); ok {
			c.applyCommit(r, s.bases, s.outcome.conn, s.outcome.req)
		}
	}
	c.flushItems()
	for _, s := range group {
		switch r := s.record.(type) {
		case *record.Commit:
			c.counts.commits++
			c.commitLogged(s.session, s.outcome, r)
		case *record.Session:
			c.sessionLogged(s.session)
			if s.conn.state == connGreeting {
				c.welcome(s.conn, s.req)
			}
		case *record.SessionEnd:
			c.endLogged(s.session)
		case *record.Epoch:
			c.logged.epoch = r.Epoch
		case *record.Lease:
			c.logged.nextID = r.First + occ.BlockID(r.Count)
			s.conn.leases--
			if s.conn.state != connGone {
				c.send(s.conn, &wire.LeaseReply{Req: s.req, First: r.First, Count: r.Count})
			}
		case *record.Horizon:
			c.collect(r.At)
		case *record.Pin:
			c.applyPin(r)
			c.pinned(s, r.At)
		case *record.Unpin:
			c.pinned(s, c.applyUnpin(r))
		}
	}
	c.releaseConflicts()
	c.Sweep()
}

// applyCommit applies one transaction: each block gets its new version, every
// holder but the writer a deprecation, and the writer, if it is still there,
// its answer and the new versions.
func (c *Core) applyCommit(r *record.Commit, bases [][]byte, writer *conn, req uint64) {
	keep := -1
	if writer != nil && writer.state != connGone {
		keep = writer.slot
		c.item(writer, wire.Item{Kind: wire.ItemCommitted, At: r.At, Req: req})
	}
	for i, w := range r.Writes {
		from := c.versions.Current(w.Block)
		c.supersede(w.Block, r.At)
		put := Put{Block: w.Block, From: r.At, Data: w.Data, Base: from, Ranges: w.Ranges}
		if bases != nil {
			put.BaseData = bases[i]
		}
		c.emit(put)
		heldAlready := false
		for slot := range c.holders.replace(w.Block, keep).slots() {
			if slot == keep {
				heldAlready = true
				continue
			}
			holder := c.slots[slot]
			c.unregistered(holder)
			if !c.cfg.Faults.LoseDeprecation && holder.state != connGone {
				c.counts.deprecations++
				c.item(holder, wire.Item{Kind: wire.ItemDeprecated, At: r.At, Block: w.Block, From: from})
			}
		}
		if keep >= 0 && !heldAlready {
			c.registered(writer, w.Block)
		}
	}
	c.versions.Apply(r.At, r.Writes, c.weight)
}

// releaseConflicts answers the conflicts with what has become visible, in the
// order in which they were found.
func (c *Core) releaseConflicts() {
	waiting := c.conflicts[:0]
	for _, o := range c.conflicts {
		if o.after > c.versions.Stable() {
			waiting = append(waiting, o)
		} else {
			c.tellConflict(o)
		}
	}
	clear(c.conflicts[len(waiting):])
	c.conflicts = waiting
}
