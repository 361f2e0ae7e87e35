package core

import (
	"slices"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// receiveItems takes in what the groups that were just applied mean to this
// client (section 3).
func (c *Core) receiveItems(m *wire.Items) error {
	commits, err := c.checkItems(m)
	if err != nil {
		return err
	}
	next := 0
	for _, it := range m.Items {
		switch it.Kind {
		case wire.ItemDeprecated:
			c.stats.Deprecations++
			c.closeIf(it, it.At, occ.AbortActive)
		case wire.ItemDropped:
			c.closeIf(it, it.At+1, occ.AbortDisconnected)
		case wire.ItemCommitted:
			c.committed(commits[next], it.At)
			next++
		}
	}
	c.glub = m.Stable
	for _, r := range commits {
		c.answered(r)
		c.syncs.add(r.start, m.Stable)
		for _, t := range r.waiters {
			c.done(t)
		}
	}
	return nil
}

// checkItems checks m before anything of it takes effect, and returns the
// requests that its commit replies answer.
func (c *Core) checkItems(m *wire.Items) (commits []*request, err error) {
	if err := c.checkStable(m.Stable); err != nil {
		return nil, err
	}
	last := occ.Timestamp(0) // of the commits so far
	for _, it := range m.Items {
		if it.At > m.Stable {
			return nil, protocolError("an item at %d in a message with stable %d", it.At, m.Stable)
		}
		switch it.Kind {
		case wire.ItemDeprecated, wire.ItemDropped:
			if it.At < it.From || it.At == it.From && it.Kind == wire.ItemDeprecated {
				return nil, protocolError("version %d of block %d ended at %d", it.From, it.Block, it.At)
			}
		case wire.ItemCommitted:
			r, err := c.pending(it.Req, m.Type())
			if err != nil {
				return nil, err
			}
			if it.At <= last || slices.Contains(commits, r) {
				return nil, protocolError("request %d committed at %d, behind %d", it.Req, it.At, last)
			}
			for _, w := range r.owner.writes {
				if v := c.cache.open(w.Block); v != nil && v.From >= it.At {
					return nil, protocolError("a commit at %d overwrites version %d", it.At, v.From)
				}
			}
			last = it.At
			commits = append(commits, r)
		}
	}
	return commits, nil
}

// closeIf ends the version that it names, unless the client has another one,
// or knows its end already.
func (c *Core) closeIf(it wire.Item, to occ.Timestamp, reason occ.AbortReason) {
	if v := c.cache.find(it.Block, it.From); v != nil && v.To == occ.Open {
		c.close(v, to, reason)
	}
}

// close ends the open version v at to. Running transactions that read it
// learn of it: a read-only one narrows its range, a read/write one aborts,
// or goes on without a chance if it is urgent.
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
			if t.urgent {
				c.doom(t)
			} else {
				c.abort(t, reason, []occ.Read{{Block: v.block, From: to}})
			}
		}
		t = next
	}
}
