package history

import (
	"fmt"
	"math"
	"time"

	"github.com/tidemark/tidemark/occ"
)

const (
	defaultPending = 1 << 16
	defaultKeep    = 20
)

// Options sets the limits of a Checker. The zero value keeps all history.
type Options struct {
	// Window is how many timestamps of history are kept behind the newest
	// commit up to which none is missing; 0 keeps all. It should cover the
	// commits of the server's retention window.
	Window int
	// Pending is how many events and commits may wait for commits that are not
	// recorded yet; 0 means 65,536. Beyond it, missing timestamps are passed
	// over, and events that need later ones are given up as TooOld.
	Pending int
	// Keep is how many violations are kept; 0 means 20.
	Keep int
}

// Checker judges a history while it is recorded. It is not safe for use by
// several goroutines at once.
type Checker struct {
	opts    Options
	res     Result
	chains  chains
	applied steps[time.Duration]
	floors  map[int]*steps[uint64]
	inDoubt uint64

	through occ.Timestamp                   // every timestamp up to here is known or passed over
	ahead   queue[occ.Timestamp]            // commits beyond through
	writes  map[occ.Timestamp][]occ.BlockID // their write sets
	gaps    gaps                            // what was passed over, all at or below through
	recent  []commit                        // the commits of the window, oldest first
	waiting queue[*held]                    // events that mention timestamps beyond through
}

type commit struct {
	ts     occ.Timestamp
	writes []occ.BlockID
}

// held is an event that waits, with its client's floor as it was recorded.
type held struct {
	event Event
	floor bounds
}

// New returns a Checker of an empty history.
func New(opts Options) *Checker {
	if opts.Window < 0 {
		opts.Window = 0
	}
	if opts.Pending <= 0 {
		opts.Pending = defaultPending
	}
	if opts.Keep <= 0 {
		opts.Keep = defaultKeep
	}
	return &Checker{
		opts:   opts,
		chains: chains{},
		floors: map[int]*steps[uint64]{},
		writes: map[occ.Timestamp][]occ.BlockID{},
	}
}

// Record takes in one finished event. Events of one client come in the order
// in which they ended; those of different clients in any order. The checker
// keeps the slices of the event; they must not be changed.
func (c *Checker) Record(e Event) {
	if e.Kind >= kinds {
		c.violate(Violation{Rule: Malformed, Event: e, Detail: "no such kind of event"})
		return
	}
	c.res.Checked[e.Kind]++
	if e.Kind == InDoubt {
		c.InDoubt()
		e.Kind = Aborted
	}
	floor := c.floor(&e)
	if e.Kind == Committed {
		if why := c.commit(e.Commit, e.Writes); why != "" {
			c.violate(Violation{Rule: CommitOrder, Event: e, Detail: why})
			return
		}
	}
	if need := e.need(); need > c.through {
		c.waiting.push(need, &held{e, floor})
	} else {
		c.judge(&e, floor)
	}
	c.relieve()
}

// Unknown takes in a commit from the server's log whose client never learned
// that it happened. The checker keeps writes.
func (c *Checker) Unknown(ts occ.Timestamp, writes []occ.BlockID) {
	if why := c.commit(ts, writes); why != "" {
		c.violate(Violation{Rule: CommitOrder, Detail: fmt.Sprintf("commit of unknown outcome at %d: %s", ts, why), whole: true})
	}
	c.relieve()
}

// InDoubt says that one more commit ended with its outcome unknown and is not
// given by Unknown: if it happened, its timestamp will be missing.
func (c *Checker) InDoubt() { c.inDoubt++ }

// Applied says that at time t the server's stable timestamp had reached
// stable. Calls come in the order of t, and before the events that began after
// t. What comes out of order is taken in its weakest sense.
func (c *Checker) Applied(t time.Duration, stable occ.Timestamp) {
	c.applied.raise(t, stable)
	c.applied.trim(c.horizon(), c.stepLimit())
}

// Finish judges what still waits and returns the result. The history is
// complete: nothing may be given to the checker afterwards.
func (c *Checker) Finish() Result {
	for c.ahead.len() > 0 {
		c.passOver()
	}
	c.res.Newest = c.through
	if missing := c.gaps.count; missing > c.inDoubt {
		c.violate(Violation{Rule: CommitOrder, whole: true, Detail: fmt.Sprintf(
			"%d timestamps have no commit, the first is %d; the newest commit is %d; %d commits are in doubt",
			missing, c.gaps.ranges[0].first, c.through, c.inDoubt)})
	} else {
		// The other commits in doubt may be the newest of all.
		c.res.Forgiven = missing
		last := c.through + occ.Timestamp(c.inDoubt-missing)
		c.gaps.add(c.through+1, last)
		c.through = last
	}
	for c.waiting.len() > 0 {
		h := c.waiting.pop()
		c.judge(&h.event, h.floor)
	}
	return c.res
}

// floor returns what rule 6 asks of e, and raises the floor for later events.
func (c *Checker) floor(e *Event) bounds {
	s := c.floors[e.Client]
	if s == nil {
		s = &steps[uint64]{}
		c.floors[e.Client] = s
	}
	floor := s.before(e.BeginSeq)
	s.raise(e.EndSeq, e.timestamp())
	s.trim(c.horizon(), c.stepLimit())
	return floor
}

// horizon is the start of the window: versions that ended at or before it are
// forgotten.
func (c *Checker) horizon() occ.Timestamp {
	if w := occ.Timestamp(c.opts.Window); w > 0 && c.through > w {
		return c.through - w
	}
	return 0
}

func (c *Checker) stepLimit() int {
	if c.opts.Window == 0 || c.opts.Window > math.MaxInt-c.opts.Pending {
		return math.MaxInt
	}
	return c.opts.Window + c.opts.Pending
}

func (c *Checker) violate(v Violation) {
	c.res.Total++
	if len(c.res.Violations) < c.opts.Keep {
		c.res.Violations = append(c.res.Violations, v)
	}
}
