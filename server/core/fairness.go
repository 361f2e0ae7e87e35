package core

import (
	"slices"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// Bounds of fairness.
const (
	// ReservationTime is how old a reservation may grow. It ages from the
	// first Tick after it was made and ends at one, so that no commit is held
	// back longer than this and two ticks.
	ReservationTime = 100 * time.Millisecond
	// maxReserved is how many blocks are reserved: those that changed first.
	maxReserved = 64
	// maxHeld and maxHeldBytes bound the commits that are held back, each
	// counted as for Config.PendingBytes, and with its reads. One beyond is
	// decided at once.
	maxHeld      = 256
	maxHeldBytes = 16 << 20
)

// fairness lets a transaction through that lost several times in a row. When
// a commit marked urgent conflicts, the blocks that it read are reserved for
// its session until that session's next urgent commit is decided: commits of
// other sessions that write one of them are held back, in the order in which
// they came, and are decided when the reservation ends as if they had come
// then. No commit is held back twice, there is one reservation at a time, and
// all held commits are decided before the next one, so nobody waits for more
// than one.
//
// A held commit is not in the outcome table. When its connection ends, it is
// as if it had never been received: the client sends it again.
type fairness struct {
	reservation
	aging bool          // a Tick has come since it was made
	since time.Duration // that Tick
	next  reservation   // asked for, to be made if none stands
	held  []heldCommit
	bytes uint64 // of held
}

// reservation keeps blocks for a session; without one it is none.
type reservation struct {
	session *session
	blocks  map[occ.BlockID]struct{}
}

type heldCommit struct {
	conn  *conn
	m     *wire.Commit
	bases Bases
}

func (c *Core) heldBytes(m *wire.Commit) uint64 {
	return uint64(len(m.Reads))*commitEntryBytes + uint64(c.pendingBytes(m.Writes))
}

// lost notes that an urgent commit conflicted. The first to do so since the
// last decision gets the next reservation.
func (f *fairness) lost(s *session, reads, changed []occ.Read) {
	if f.next.session != nil {
		return
	}
	f.next = reservation{session: s, blocks: make(map[occ.BlockID]struct{})}
	for _, set := range [2][]occ.Read{changed, reads} {
		for _, r := range set {
			if len(f.next.blocks) < maxReserved {
				f.next.blocks[r.Block] = struct{}{}
			}
		}
	}
}

// hold holds m back if it must wait: it writes a reserved block, or stands
// behind a commit of its session that waits. It reports whether it did.
func (c *Core) hold(cn *conn, m *wire.Commit) bool {
	f := &c.fair
	if f.session == nil || f.session == cn.session || m.Seq < cn.session.next {
		return false
	}
	behind := slices.ContainsFunc(f.held, func(h heldCommit) bool { return h.conn == cn })
	if !behind && !slices.ContainsFunc(m.Writes, func(w occ.Write) bool { _, ok := f.blocks[w.Block]; return ok }) {
		return false
	}
	n := c.heldBytes(m)
	if len(f.held) >= maxHeld || f.bytes+n > maxHeldBytes {
		c.decideHeld(cn) // first those before it
		return false
	}
	f.held = append(f.held, heldCommit{cn, m, c.bases})
	f.bytes += n
	c.counts.held++
	return true
}

// decideHeld decides what is held of a connection.
func (c *Core) decideHeld(cn *conn) {
	for _, h := range c.takeHeld(cn) {
		c.decide(h.conn, h.m, h.bases)
	}
}

// takeHeld takes out what is held of a connection.
func (c *Core) takeHeld(cn *conn) (taken []heldCommit) {
	f := &c.fair
	f.held = slices.DeleteFunc(f.held, func(h heldCommit) bool {
		if h.conn != cn {
			return false
		}
		taken = append(taken, h)
		f.bytes -= c.heldBytes(h.m)
		return true
	})
	return taken
}

// decided ends the reservation of s, whose urgent commit was decided, and
// makes the next one if there is none.
func (c *Core) decided(s *session, urgent bool) {
	if urgent && c.fair.session == s {
		c.letGo()
		return
	}
	c.reserve()
}

// reserve makes the reservation that was asked for, unless one stands.
func (c *Core) reserve() {
	f := &c.fair
	if f.session == nil && f.next.session != nil {
		f.reservation, f.aging = f.next, false
		c.counts.reservations++
	}
	f.next = reservation{}
}

// letGo ends the reservation and decides what was held back. An urgent commit
// among that gets the next reservation before the session that had this one.
func (c *Core) letGo() {
	f := &c.fair
	held, again := f.held, f.next
	f.reservation, f.next, f.held, f.bytes = reservation{}, reservation{}, nil, 0
	for _, h := range held {
		c.decide(h.conn, h.m, h.bases)
	}
	if f.next.session == nil {
		f.next = again
	}
	c.reserve()
}

// release drops what is held of a connection that ended, and ends the
// reservation of its session.
func (c *Core) release(cn *conn) {
	c.takeHeld(cn)
	if c.fair.session != nil && c.fair.session == cn.session {
		c.letGo()
	}
}

// expire ends a reservation that is too old.
func (c *Core) expire() {
	f := &c.fair
	switch {
	case f.session == nil:
	case !f.aging:
		f.aging, f.since = true, c.now
	case c.now-f.since >= ReservationTime:
		c.letGo()
	}
}
