package core

import (
	"container/list"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/record"
)

// logged is what the log says so far, which lags behind what was decided: only
// that belongs into a state. What it says of sessions is changed in this file
// alone, so that a state in the making is told before.
type logged struct {
	epoch     uint64
	nextID    occ.BlockID
	sessions  *list.List // of *session: those in the log, in its order
	lastOrder uint64     // of sessions
}

// loggedSession is what the log says of a session so far; the commits that it
// has are among session.outcomes.
type loggedSession struct {
	order      uint64        // of the sessions in the log, from 1; 0 if it is not there yet
	place      *list.Element // in logged.sessions
	mark, next uint64
	kept       []byte // what the state in the making says of it, if that is no longer so
	over       bool   // its end is in the log: it stands there for the state in the making
}

// sessionLogged notes that the log has s.
func (c *Core) sessionLogged(s *session) {
	c.logged.lastOrder++
	s.logged.order = c.logged.lastOrder
	s.logged.place = c.logged.sessions.PushBack(s)
}

// endLogged notes that the log has the end of s.
func (c *Core) endLogged(s *session) {
	if s.logged.over = c.keep(s); !s.logged.over {
		c.logged.sessions.Remove(s.logged.place)
	}
}

// commitLogged notes that the log has a commit of s, whose outcome is o.
func (c *Core) commitLogged(s *session, o *outcome, r *record.Commit) {
	c.keep(s)
	o.at = r.At
	c.settle(o, outcomeCommitted)
	s.logged.next = r.Seq + 1
	s.logged.mark = max(s.logged.mark, r.Acked)
	s.forget()
}

// trimLogged notes that the log has a mark of s.
func (c *Core) trimLogged(s *session, upTo uint64) {
	c.keep(s)
	s.logged.mark = max(s.logged.mark, upTo)
	s.trim(upTo)
}
