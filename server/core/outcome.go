package core

import (
	"slices"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

type outcomeState uint8

const (
	outcomePending   outcomeState = iota // validated, not yet durable; or a conflict that is not told yet
	outcomeCommitted                     // at outcome.at
	outcomeRefused                       // did not commit: a conflict or a limit
)

// outcome is one entry of a session's outcome table (section 8).
type outcome struct {
	seq    uint64
	digest uint32
	state  outcomeState
	at     occ.Timestamp

	// While pending: who sent it, nil if all askers are resends; those; and
	// for a conflict what has changed, to be told when stable reaches after.
	conn    *conn
	req     uint64
	waiters []waiter
	changed []occ.Read
	after   occ.Timestamp
}

// waiter is a commit that was sent again and waits for its outcome.
type waiter struct {
	conn *conn
	req  uint64
}

// waitersLeft forgets the waiters whose connections have ended, and returns how
// many are left.
func (o *outcome) waitersLeft() int {
	o.waiters = slices.DeleteFunc(o.waiters, func(w waiter) bool { return w.conn.state == connGone })
	return len(o.waiters)
}

// find returns the entry of a number, nil if there is none.
func (s *session) find(seq uint64) *outcome {
	i, ok := s.search(seq)
	if !ok {
		return nil
	}
	return s.outcomes[i]
}

// search returns the place of a number among the outcomes.
func (s *session) search(seq uint64) (int, bool) {
	return slices.BinarySearchFunc(s.outcomes, seq, func(o *outcome, seq uint64) int {
		switch {
		case o.seq < seq:
			return -1
		case o.seq > seq:
			return 1
		}
		return 0
	})
}

// add makes the entry of a number above all others.
func (s *session) add(seq uint64, digest uint32) *outcome {
	o := &outcome{seq: seq, digest: digest}
	s.outcomes = append(s.outcomes, o)
	s.next = seq + 1
	return o
}

// trim raises the mark to acked: the client says that it has seen the outcomes
// up to there; it cannot have seen what is pending.
func (s *session) trim(acked uint64) {
	first, _ := s.search(s.mark + 1)
	for _, o := range s.outcomes[first:] {
		if o.seq > acked {
			break
		}
		if o.state == outcomePending {
			acked = o.seq - 1
			break
		}
	}
	s.mark = max(s.mark, acked)
	s.forget()
}

// forget forgets the outcomes up to the mark, but for commits that the log does
// not know to be acknowledged: they belong into a state.
func (s *session) forget() {
	end, _ := s.search(s.mark + 1)
	first := end
	for i := end - 1; i >= 0; i-- {
		if o := s.outcomes[i]; o.state == outcomeCommitted && o.seq > s.logged.mark {
			first--
			s.outcomes[first] = o
		}
	}
	clear(s.outcomes[:first])
	s.outcomes = s.outcomes[first:]
}

// unacknowledged is how many outcomes are above the mark.
func (s *session) unacknowledged() int {
	i, _ := s.search(s.mark + 1)
	return len(s.outcomes) - i
}

// busy reports whether an outcome is pending.
func (s *session) busy() bool {
	return slices.ContainsFunc(s.outcomes, func(o *outcome) bool { return o.state == outcomePending })
}

// resent answers a commit whose number was used before. Only a resend of the
// same request is entitled to an answer, and it conveys the outcome alone.
func (c *Core) resent(cn *conn, m *wire.Commit) {
	s := cn.session
	o := s.find(m.Seq)
	switch {
	case !m.Resend:
		c.sequenceError(cn, m.Req, "a sequence number is used again")
	case m.Seq <= s.mark:
		c.tell(cn, m.Req, wire.OutcomeUnknown, 0)
	case o == nil:
		c.tell(cn, m.Req, wire.OutcomeConflict, 0)
	case o.digest != m.Digest:
		c.sequenceError(cn, m.Req, "a sequence number is used again for another request")
	case o.state == outcomePending && o.waitersLeft() == MaxWaiters:
		c.refuse(cn, busy(m.Req, MaxWaiters+1, MaxWaiters, "resends wait for one commit"))
	case o.state == outcomePending:
		o.waiters = append(o.waiters, waiter{conn: cn, req: m.Req})
	default:
		c.tellRecorded(cn, m.Req, o)
	}
}

func (c *Core) sequenceError(cn *conn, req uint64, text string) {
	c.refuse(cn, wire.Error{Req: req, Code: wire.CodeSequence, Text: text})
}

func (c *Core) tell(cn *conn, req uint64, status wire.OutcomeStatus, at occ.Timestamp) {
	c.send(cn, &wire.Outcome{Req: req, Status: status, At: at})
}

func (c *Core) tellRecorded(cn *conn, req uint64, o *outcome) {
	if o.state == outcomeCommitted {
		c.tell(cn, req, wire.OutcomeCommitted, o.at)
	} else {
		c.tell(cn, req, wire.OutcomeConflict, 0)
	}
}

// settle ends the pending state of o and answers the resends that wait.
func (c *Core) settle(o *outcome, state outcomeState) {
	o.state = state
	for _, w := range o.waiters {
		if w.conn.state != connGone {
			c.tellRecorded(w.conn, w.req, o)
		}
	}
	o.conn, o.waiters, o.changed = nil, nil, nil
}
