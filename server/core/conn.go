package core

import (
	"slices"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

type connState uint8

const (
	connFresh    connState = iota // no hello yet
	connGreeting                  // its new session is on its way to disk
	connOpen
	connGone // disconnected or hung up; may still be referred to
)

// conn is one connection. Its registrations end with it; its session and the
// commits that it sent do not (section 8).
type conn struct {
	id       ConnID
	slot     int // its bit in holder sets, free again once all bits are cleared
	state    connState
	session  *session
	replaced bool // the session it named is unknown, and so are its resends
	lastSent time.Duration
	regs     registrations
	loads    map[LoadID]struct{} // that its parked reads wait for
	leases   uint64              // leases, pins and unpins that wait for the log
	items    []wire.Item         // of the group that is being applied
}

// Connect opens a connection. Its first message must be a Hello.
func (c *Core) Connect(id ConnID) {
	if c.conns[id] != nil {
		return
	}
	slot := slices.Index(c.slots, nil)
	if slot < 0 {
		slot = len(c.slots)
		c.slots = append(c.slots, nil)
	}
	cn := &conn{id: id, slot: slot, lastSent: c.now}
	c.slots[slot] = cn
	c.conns[id] = cn
}

// Disconnect forgets a connection: its registrations (of many a piece, and Sweep
// the others), parked reads, and the commits that are held back. Its session
// stays, and all other commits that it sent still commit. A connection that the
// core does not know is ignored.
func (c *Core) Disconnect(id ConnID) {
	if cn := c.conns[id]; cn != nil {
		c.forget(cn)
	}
}

func (c *Core) forget(cn *conn) {
	c.forgetReads(cn)
	if cn.session != nil && cn.session.conn == cn {
		cn.session.conn = nil
	}
	cn.state = connGone
	delete(c.conns, cn.id)
	c.leaving = append(c.leaving, cn)
	c.leave(maxLeave)
	c.release(cn)
}

// Reject ends a connection whose bytes made no sense: it is told why, with
// request number 0.
func (c *Core) Reject(id ConnID, code wire.ErrorCode, text string) {
	if cn := c.conns[id]; cn != nil {
		c.reject(cn, 0, code, text)
	}
}

// reject refuses a request and ends the connection.
func (c *Core) reject(cn *conn, req uint64, code wire.ErrorCode, text string) {
	c.counts.rejected++
	c.send(cn, &wire.Error{Req: req, Code: code, Text: text})
	c.hangup(cn, text)
}

func (c *Core) hangup(cn *conn, reason string) {
	c.emit(Hangup{Conn: cn.id, Reason: reason})
	c.forget(cn)
}

// refuse answers a request with an error; the connection goes on.
func (c *Core) refuse(cn *conn, e wire.Error) {
	c.counts.refused++
	c.send(cn, &e)
}

// send queues a message with the stable timestamp of now.
func (c *Core) send(cn *conn, m wire.Message) { c.stamp(cn, m, c.versions.Stable()) }

// stamp is the one gate through which every message leaves and gets its
// stable timestamp, the only place where a reply becomes a sync point
// (section 4). Stable must be covered by the items already queued for cn and
// those in m.
func (c *Core) stamp(cn *conn, m wire.Message, stable occ.Timestamp) {
	switch m := m.(type) {
	case *wire.Welcome:
		m.Stable = stable
	case *wire.Pong:
		m.Stable = stable
	case *wire.ReadReply:
		m.Stable = stable
	case *wire.Items:
		m.Stable = stable
	case *wire.Conflict:
		m.Stable = stable
	case *wire.Validated:
		m.Stable = stable
	case *wire.Outcome:
		m.Stable = stable
	case *wire.LeaseReply:
		m.Stable = stable
	case *wire.StatusReply:
		m.Stable = stable
	case *wire.PinReply:
		m.Stable = stable
	case *wire.PinsReply:
		m.Stable = stable
	case *wire.ChangesReply:
		m.Stable = stable
	case *wire.Error:
		m.Stable = stable
	}
	cn.lastSent = c.now
	c.counts.sent[m.Type()]++
	c.emit(Send{Conn: cn.id, Message: m})
}
