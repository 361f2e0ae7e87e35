package core

import (
	"bytes"
	"container/list"

	"github.com/tidemark/tidemark/server/record"
)

// maxStateStep is how many sessions and outcomes of sessions one NextState looks
// at, to within a session, so that nothing waits long for it.
const maxStateStep = 512

// stateMaking is a state that is being encoded. The sessions that it holds are
// those up to order last; those up to order encoded are done. Of one that is
// not, and changes, keep takes down what the state says.
type stateMaking struct {
	head, tail    []byte // what goes before and behind the sessions; without a tail nothing is made
	next          *list.Element
	encoded, last uint64
}

// BeginState begins the state of this moment: what the durable groups so far
// mean, but for the versions of blocks, in the encoding of record.AppendState.
// With the versions that were put and not dropped up to here it is a checkpoint,
// from which Restore goes on as Recover would after those groups. What is
// decided but not durable is not in it. The same groups give the same bytes,
// whatever else happened.
//
// NextState returns it in pieces. To begin one before another is complete is a
// fault of the program and panics.
func (c *Core) BeginState() {
	if c.making.tail != nil {
		panic("core: a state is begun while another is in the making")
	}
	s := record.State{
		Stable:  c.versions.Stable(),
		Horizon: c.versions.Horizon(),
		Epoch:   c.logged.epoch,
		Next:    c.logged.nextID,
	}
	for _, p := range c.pins.applied {
		s.Pins = append(s.Pins, record.Pin{Name: p.name, At: p.at, Lease: p.lease})
	}
	c.making = stateMaking{
		head: record.AppendStateHead(nil, &s, c.logged.sessions.Len()),
		tail: record.AppendStatePins(nil, s.Pins),
		next: c.logged.sessions.Front(),
	}
	if newest := c.logged.sessions.Back(); newest != nil {
		c.making.last = newest.Value.(*session).logged.order
	}
}

// NextState appends a piece of the state that was begun last, of bounded work,
// to dst and returns the longer slice. complete says that it was the last piece;
// to ask for one behind it is a fault of the program and panics. Other inputs may
// come between the pieces: they change nothing in them.
func (c *Core) NextState(dst []byte) (_ []byte, complete bool) {
	m := &c.making
	if m.tail == nil {
		panic("core: no state is in the making")
	}
	dst = append(dst, m.head...)
	m.head = nil
	for budget := maxStateStep; m.encoded < m.last; {
		if budget <= 0 {
			return dst, false
		}
		s := m.next.Value.(*session)
		budget -= 1 + len(s.outcomes)
		m.next = m.next.Next()
		m.encoded = s.logged.order
		if s.logged.kept == nil {
			dst = c.appendSession(dst, s)
			continue
		}
		dst = append(dst, s.logged.kept...)
		s.logged.kept = nil
		if s.logged.over {
			c.logged.sessions.Remove(s.logged.place)
		}
	}
	dst = append(dst, m.tail...)
	c.making = stateMaking{}
	return dst, true
}

// keep takes down what the state in the making says of s, which is about to
// change, if it says anything and that is not encoded yet. It reports whether
// the state still needs s.
func (c *Core) keep(s *session) bool {
	if s.logged.order <= c.making.encoded || s.logged.order > c.making.last {
		return false
	}
	if s.logged.kept == nil {
		c.scratch = c.appendSession(c.scratch[:0], s)
		s.logged.kept = bytes.Clone(c.scratch)
	}
	return true
}

// appendSession appends what the log says of s.
func (c *Core) appendSession(dst []byte, s *session) []byte {
	outcomes := c.outcomes[:0]
	for _, o := range s.outcomes {
		if o.state == outcomeCommitted && o.seq > s.logged.mark {
			outcomes = append(outcomes, record.Outcome{Seq: o.seq, Digest: o.digest, At: o.at})
		}
	}
	c.outcomes = outcomes
	return record.AppendSessionState(dst, &record.SessionState{ID: s.id, Mark: s.logged.mark, Next: s.logged.next, Outcomes: outcomes})
}
