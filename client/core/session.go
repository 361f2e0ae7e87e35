package core

import (
	"fmt"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// maxBlockSize is the largest block that a client accepts, in bytes.
const maxBlockSize = 1 << 20

// Hello queues the first message of a connection: for a new session on the
// first one, for the same session later.
func (c *Core) Hello(w Waker, now time.Duration) *Query {
	r := c.query(w, now)
	c.send(r, &wire.Hello{
		Req: r.number, Version: wire.Version, Session: c.session, Store: c.store, Epoch: c.epoch, Stable: c.glub,
	})
	return r.query
}

// StoreChange says that a reconnection led to another store, or to an older
// state of the same one (a restored backup). That has an epoch whose upper 32
// bits are others than before, however far it has come since. Everything that
// the client knew has been discarded.
type StoreChange struct {
	Was, Is occ.StoreID
	// GLUB is how far the client knew the store, Stable how far it is now.
	GLUB, Stable occ.Timestamp
}

func (e *StoreChange) Error() string {
	if e.Was != e.Is {
		return fmt.Sprintf("the server has another store: it was %s, now it is %s", e.Was, e.Is)
	}
	return fmt.Sprintf("the store is a restored backup: it was known up to %d, and is at %d now", e.GLUB, e.Stable)
}

// Changed is the last change of store that nobody has accepted yet, nil if
// there is none.
func (c *Core) Changed() *StoreChange { return c.changed }

// Epoch is the epoch of the server. Its upper 32 bits change when the store is
// restored from a backup.
func (c *Core) Epoch() uint64 { return c.epoch }

// Generation is the upper half of the epoch, known once a server has welcomed
// the client. Timestamps of different generations of a store do not compare.
func (c *Core) Generation() uint32 { return occ.Generation(c.epoch) }

// Accept goes on with the store as it is now.
func (c *Core) Accept() { c.changed = nil }

// welcomed takes in the answer to Hello. The commits that lost connections
// left without an answer are sent again, in the order of their numbers and
// before anything else (section 8).
func (c *Core) welcomed(m *wire.Welcome, now time.Duration) error {
	first := c.blockSize == 0
	switch {
	case m.BlockSize == 0 || m.BlockSize > maxBlockSize:
		return protocolError("a block size of %d bytes", m.BlockSize)
	case m.Limits.ReadBlocks == 0:
		return protocolError("a limit of no blocks for a read")
	case !first && m.Store == c.store && int(m.BlockSize) != c.blockSize:
		return protocolError("a block size of %d bytes, which was %d", m.BlockSize, c.blockSize)
	}
	if !first {
		c.stats.Reconnects++
		if c.store == (occ.StoreID{}) { // the client has left its store already
			if c.changed != nil {
				c.changed.Is, c.changed.Stable = m.Store, m.Stable
			}
			c.abortRunning()
		} else if m.Store != c.store || m.Stable < c.glub || m.Epoch < c.epoch || occ.Generation(m.Epoch) != occ.Generation(c.epoch) {
			c.discard(&StoreChange{Was: c.store, Is: m.Store, GLUB: c.glub, Stable: m.Stable})
		}
	}
	if m.Session != c.session {
		// The server does not know the session: nor how its commits ended.
		for _, t := range c.inFlight {
			c.inDoubt(t)
		}
		c.inFlight = nil
		c.commits = commitNumbers{}
	}
	if int(m.BlockSize) != c.blockSize {
		c.blockSize = int(m.BlockSize)
		c.zeros = make([]byte, c.blockSize)
	}
	c.session, c.store, c.epoch = m.Session, m.Store, m.Epoch
	c.limits = m.Limits
	c.online = true
	c.resend(now)
	c.wakeAwaiting()
	return nil
}

// resend queues the commits of lost connections again.
func (c *Core) resend(now time.Duration) {
	for _, t := range c.inFlight {
		r := c.newRequest(t, now)
		r.seq, r.resend = t.commit.Seq, true
		again := *t.commit
		again.Req, again.Acked, again.Resend = r.number, c.commits.acked, true
		c.stats.Resent++
		c.send(r, &again)
	}
	c.inFlight = nil
}

// LeaveStore says that the server refused the client because it has another
// store: the client forgets its own, and takes whatever the server has.
func (c *Core) LeaveStore() {
	c.discard(&StoreChange{Was: c.store, GLUB: c.glub})
	c.store, c.session = occ.StoreID{}, occ.SessionID{}
	c.wakeAwaiting() // they are to be told
}

// abortRunning ends what runs on a store that is no more.
func (c *Core) abortRunning() {
	for t := c.running.next; t != &c.running; {
		next := t.next
		if t.commit == nil {
			c.abort(t, occ.AbortStoreChanged, nil)
		}
		t = next
	}
}

// discard forgets the store: another one has taken its place.
func (c *Core) discard(why *StoreChange) {
	c.changed = why
	c.abortRunning()
	for _, t := range c.inFlight {
		c.commits.answer(t.commit.Seq)
		c.inDoubt(t)
	}
	c.inFlight = nil
	c.cache = newCache(c.cfg.CacheBytes, &c.stats)
	c.glub, c.floor = 0, 0
	c.syncs.clear()
	c.ids = idPool{}
}

// Refresh queues a ping that nobody waits for: it keeps a sync point recent
// and the connection in use.
func (c *Core) Refresh(now time.Duration) {
	if !c.online || c.latest != nil {
		return
	}
	r := c.newRequest(nil, now)
	c.stats.Refreshes++
	c.send(r, &wire.Ping{Req: r.number})
}

// SyncAge is how old the newest sync point is at local time now; ok is false
// if there is none.
func (c *Core) SyncAge(now time.Duration) (age time.Duration, ok bool) {
	n := len(c.syncs.points)
	if n == 0 {
		return 0, false
	}
	return now - c.syncs.points[n-1].at, true
}

// After makes t run at or after at: a causality token from elsewhere
// (section 2, point 6). at must not be above the GLUB.
func (c *Core) After(t *Tx, at occ.Timestamp) { t.snap.Lo = max(t.snap.Lo, at) }
