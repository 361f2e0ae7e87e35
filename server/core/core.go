package core

import (
	"container/list"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/record"
)

// Core is the deciding half of a server. See the package comment for how to
// embed it. It is not safe for concurrent use.
type Core struct {
	cfg      Config
	now      time.Duration // of the last Tick
	stopping bool

	versions *occ.Versions
	values   valueSizes
	marks    retentionMarks
	pins     pins
	epoch    uint64      // highest in the log
	nextID   occ.BlockID // first block id that was never leased

	conns     map[ConnID]*conn
	slots     []*conn // nil where free
	leaving   []*conn // gone, but in holder sets
	holders   holders
	sessions  map[occ.SessionID]*session
	created   []*session // those of sessions, oldest first, and some ended ones
	logged    logged
	reads     map[LoadID]*parkedRead
	lastLoad  LoadID
	conflicts []*outcome // conflicts with transactions that are not yet applied
	fair      fairness

	bases Bases // of the commit being received, see ReceiveBased

	pending  int64           // bytes of the commits in queue
	beyond   bool            // one of them is, see full
	queue    []step          // what waits for the log, oldest first
	flight   int             // how many of queue are in the group under way
	records  []record.Record // of the group under way
	applying []step          // the group that Durable applies
	touched  []*conn         // connections with items, while a group is applied

	making   stateMaking
	outcomes []record.Outcome // of a session that is being encoded
	scratch  []byte           // a session that was

	counts         counters
	effects, spare []Effect
}

// New returns a core with an empty store.
func New(cfg Config) *Core {
	return &Core{
		cfg:      cfg.withDefaults(),
		versions: occ.NewVersions(cfg.Faults),
		values:   newValueSizes(),
		nextID:   1,
		logged:   logged{nextID: 1, sessions: list.New()},
		conns:    make(map[ConnID]*conn),
		holders:  holders{sets: make(map[occ.BlockID]slotSet)},
		sessions: make(map[occ.SessionID]*session),
		reads:    make(map[LoadID]*parkedRead),
	}
}

// Limits returns the limits in force.
func (c *Core) Limits() wire.Limits { return c.cfg.Limits }

// Stable is the newest durable and applied timestamp.
func (c *Core) Stable() occ.Timestamp { return c.versions.Stable() }

// Horizon is the oldest timestamp that can still be read.
func (c *Core) Horizon() occ.Timestamp { return c.versions.Horizon() }

// Start ends recovery: now is the time, as for Tick. All versions that the
// log still describes were rebuilt, so the horizon is the one that was logged
// last; they are kept for a whole retention window from now. The epoch is
// logged, if it is new.
func (c *Core) Start(now time.Duration) {
	c.now = now
	if !c.cfg.ExternalClock {
		c.retain(now)
	}
	if c.cfg.Epoch > c.epoch {
		c.enqueue(step{record: &record.Epoch{Epoch: c.cfg.Epoch}})
		c.epoch = c.cfg.Epoch
	}
}

// Tick tells the time, counted from any fixed moment; it drives retention and
// heartbeats, ends a reservation (see fairness), and does a Sweep. Time that runs
// backwards is ignored.
func (c *Core) Tick(now time.Duration) {
	c.now = max(c.now, now)
	if !c.cfg.ExternalClock {
		c.retain(c.now)
	}
	for _, cn := range c.slots {
		if cn != nil && cn.state == connOpen && c.now-cn.lastSent >= c.cfg.Heartbeat {
			c.send(cn, &wire.Pong{})
		}
	}
	c.expire()
	c.Sweep()
}

// Stop makes the core refuse all further requests. Commits that are held back
// are validated now. What is queued for the log still commits and is answered;
// Idle says when that is done.
func (c *Core) Stop() {
	c.stopping = true
	c.letGo()
}

// Idle reports whether nothing waits for the log.
func (c *Core) Idle() bool { return len(c.queue) == 0 }

// Take returns the effects since the last Take, in the order in which they
// must be carried out. The slice is valid until the next Take.
func (c *Core) Take() []Effect {
	taken := c.effects
	clear(c.spare) // lets go of what the slice before this one held
	c.effects, c.spare = c.spare[:0], taken
	return taken
}

func (c *Core) emit(e Effect) { c.effects = append(c.effects, e) }
