package history

import "github.com/tidemark/tidemark/occ"

// commit takes in the commit at ts. It returns what is wrong with the
// timestamp, if anything; the commit then has no effect.
func (c *Checker) commit(ts occ.Timestamp, writes []occ.BlockID) (why string) {
	switch {
	case ts == 0 || ts == occ.Open:
		return "not a commit timestamp"
	case ts <= c.through:
		if !c.gaps.contains(ts) {
			return "another commit has this timestamp"
		}
		// Events were judged without these writes: they may have passed
		// where they should not have.
		c.gaps.remove(ts)
		c.res.TooOld++
		c.apply(ts, writes)
	case ts == c.through+1 && c.ahead.len() == 0:
		c.through = ts
		c.apply(ts, writes)
		c.settle()
	default:
		if _, known := c.writes[ts]; known {
			return "another commit has this timestamp"
		}
		c.writes[ts] = writes
		c.ahead.push(ts, ts)
		c.advance()
	}
	return ""
}

// apply adds the versions of one commit. A late one does not enter the window
// list: its versions go when later ones of the same blocks do.
func (c *Checker) apply(ts occ.Timestamp, writes []occ.BlockID) {
	for _, b := range writes {
		c.chains.write(b, ts)
	}
	if c.opts.Window > 0 && ts == c.through {
		c.recent = append(c.recent, commit{ts, writes})
	}
}

// advance applies the commits that follow on without a gap.
func (c *Checker) advance() {
	moved := false
	for c.ahead.len() > 0 && c.ahead.min() == c.through+1 {
		ts := c.ahead.pop()
		c.through = ts
		c.apply(ts, c.writes[ts])
		delete(c.writes, ts)
		moved = true
	}
	if moved {
		c.settle()
	}
}

// settle judges the events that waited for commits up to through, and only
// then lets history leave the window.
func (c *Checker) settle() {
	for c.waiting.len() > 0 && c.waiting.min() <= c.through {
		h := c.waiting.pop()
		c.judge(&h.event, h.floor)
	}
	h := c.horizon()
	n := 0
	for n < len(c.recent) && c.recent[n].ts <= h {
		for _, b := range c.recent[n].writes {
			c.chains.trim(b, h)
		}
		c.recent[n].writes = nil
		n++
	}
	c.recent = c.recent[n:]
}

// passOver gives up waiting for the timestamps below the first commit ahead,
// of which there must be one.
func (c *Checker) passOver() {
	next := c.ahead.min()
	c.gaps.add(c.through+1, next-1)
	c.through = next - 1
	c.advance()
}

// relieve keeps the waiting lines within their limit.
func (c *Checker) relieve() {
	for c.ahead.len()+c.waiting.len() > c.opts.Pending {
		if c.ahead.len() > 0 {
			c.passOver()
			continue
		}
		c.waiting.pop()
		c.res.TooOld++
	}
}
