package core

import (
	"fmt"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/record"
)

// ReplayError says that a log does not describe a store: its groups are
// intact, but a record cannot follow those before it.
type ReplayError struct {
	Record int // its index in the group
	Reason string
}

// Error returns one line.
func (e *ReplayError) Error() string {
	return fmt.Sprintf("log record %d of the group cannot be applied: %s", e.Record, e.Reason)
}

// Recover applies one group of the log. The groups must come in log order,
// before Start. It copies what it keeps of recs. After an error, which is a
// *ReplayError, the core is of no use.
func (c *Core) Recover(recs []record.Record) error {
	for i, r := range recs {
		if reason := c.replay(r); reason != "" {
			return &ReplayError{Record: i, Reason: reason}
		}
	}
	c.Sweep()
	return nil
}

// replay applies one record; it returns why it cannot.
func (c *Core) replay(r record.Record) string {
	switch r := r.(type) {
	case *record.Commit:
		return c.replayCommit(r)
	case *record.Session:
		if c.sessions[r.ID] != nil {
			return "the session exists"
		}
		s := c.addSession(r.ID)
		s.recovered = true
		c.sessionLogged(s)
	case *record.SessionEnd:
		s := c.sessions[r.ID]
		if s == nil {
			return "the session does not exist"
		}
		c.endSession(s)
		c.endLogged(s)
	case *record.Lease:
		if r.First != c.nextID || r.Count > uint64(maxBlock-c.nextID) {
			return fmt.Sprintf("a lease of %d block ids from %d, not from %d", r.Count, r.First, c.nextID)
		}
		c.nextID += occ.BlockID(r.Count)
		c.logged.nextID = c.nextID
	case *record.Trim:
		s := c.sessions[r.Session]
		if s == nil || r.UpTo >= s.next {
			return "outcomes are trimmed that do not exist"
		}
		c.trimLogged(s, r.UpTo)
	case *record.Horizon:
		if r.At > c.versions.Stable() {
			return fmt.Sprintf("horizon %d above timestamp %d", r.At, c.versions.Stable())
		}
		c.collect(r.At)
	case *record.Epoch:
		if r.Epoch <= c.epoch {
			return fmt.Sprintf("epoch %d after epoch %d", r.Epoch, c.epoch)
		}
		c.epoch, c.logged.epoch = r.Epoch, r.Epoch
	case *record.Pin:
		return c.replayPin(r)
	case *record.Unpin:
		return c.replayUnpin(r)
	default:
		return "unknown record"
	}
	return ""
}

func (c *Core) replayCommit(r *record.Commit) string {
	s := c.sessions[r.Session]
	switch {
	case r.At != c.versions.Stable()+1:
		return fmt.Sprintf("timestamp %d after %d", r.At, c.versions.Stable())
	case s == nil:
		return "a commit of an unknown session"
	case r.Seq < s.next || r.Acked >= r.Seq:
		return fmt.Sprintf("commit number %d of a session, acknowledged %d, next %d", r.Seq, r.Acked, s.next)
	case len(r.Writes) == 0 || c.writesTwice(r.Writes):
		return "a commit without writes, or with two of one block"
	}
	for _, w := range r.Writes {
		if n := covers(w); n > c.cfg.BlockSize {
			return fmt.Sprintf("block %d has %d bytes, a block is %d", w.Block, n, c.cfg.BlockSize)
		}
	}
	kept := *r
	kept.Writes = make([]occ.Write, len(r.Writes))
	for i, w := range r.Writes {
		kept.Writes[i] = cloned(w)
	}
	o := s.add(r.Seq, r.Digest)
	s.trim(r.Acked)
	c.commitLogged(s, o, r)
	c.values.bytes += c.cost(kept.Writes)
	c.applyCommit(&kept, nil, nil, 0)
	c.counts.recovered++
	return ""
}
