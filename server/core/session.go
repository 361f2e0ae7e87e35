package core

import (
	"slices"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/record"
)

// session is what outlives a client's connections: its outcome table.
type session struct {
	id   occ.SessionID
	conn *conn // the one connection that may speak for it, nil for none

	// outcomes are the commits from validation on, in the order of their
	// numbers. A number above mark and below next that is not among them did
	// not commit.
	outcomes []*outcome
	mark     uint64 // all up to here are acknowledged and trimmed
	next     uint64 // the next new number
	// recovered is set while numbers may be skipped: the log does not tell
	// which conflicts a client was told of before the restart. What a client
	// did not hear of, it sends again before anything new.
	recovered bool
	ended     bool

	logged loggedSession
}

// hello opens a connection. A session that the server does not know is
// replaced by a new one; outcomes of the old one are unknown.
func (c *Core) hello(cn *conn, m *wire.Hello) {
	switch {
	case m.Version != wire.Version:
		c.reject(cn, m.Req, wire.CodeVersion, "unknown protocol version")
		return
	case m.Store != (occ.StoreID{}) && m.Store != c.cfg.Store:
		c.reject(cn, m.Req, wire.CodeWrongStore, "this is another store")
		return
	}
	if s := c.sessions[m.Session]; s != nil {
		if s.conn != nil {
			c.hangup(s.conn, "another connection took over the session")
		}
		c.attach(cn, s)
		c.welcome(cn, m.Req)
		return
	}
	cn.replaced = m.Session != (occ.SessionID{})
	id := c.cfg.NewSession()
	if c.sessions[id] != nil || id == (occ.SessionID{}) || !c.makeRoom() {
		c.reject(cn, m.Req, wire.CodeBusy, "no session to be had")
		return
	}
	s := c.addSession(id)
	c.attach(cn, s)
	cn.state = connGreeting
	c.enqueue(step{record: &record.Session{ID: id}, session: s, conn: cn, req: m.Req})
}

func (c *Core) attach(cn *conn, s *session) {
	s.conn = cn
	cn.session = s
}

func (c *Core) welcome(cn *conn, req uint64) {
	cn.state = connOpen
	c.send(cn, &wire.Welcome{
		Req:       req,
		Store:     c.cfg.Store,
		Session:   cn.session.id,
		Epoch:     c.cfg.Epoch,
		BlockSize: c.cfg.BlockSize,
		Retention: c.cfg.Retention,
		Limits:    c.cfg.Limits,
	})
}

func (c *Core) addSession(id occ.SessionID) *session {
	if len(c.created) >= 2*MaxSessions {
		c.created = slices.DeleteFunc(c.created, func(s *session) bool { return s.ended })
	}
	s := &session{id: id, next: 1, logged: loggedSession{next: 1}}
	c.sessions[id] = s
	c.created = append(c.created, s)
	return s
}

func (c *Core) endSession(s *session) {
	s.ended = true
	delete(c.sessions, s.id)
}

// makeRoom ends the oldest idle session if there are as many as there may be,
// and reports whether there is room for another. Resends of the ended one
// will be answered "outcome unknown".
func (c *Core) makeRoom() bool {
	if len(c.sessions) < MaxSessions {
		return true
	}
	for range len(c.created) {
		s := c.created[0]
		c.created = c.created[1:]
		switch {
		case s.ended:
		case s.conn != nil || s.busy():
			c.created = append(c.created, s)
		default:
			c.evict(s)
			return true
		}
	}
	return false
}

// evict ends a session that has no connection and no commit under way.
func (c *Core) evict(s *session) {
	c.endSession(s)
	c.enqueue(step{record: &record.SessionEnd{ID: s.id}, session: s})
}
