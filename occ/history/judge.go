package history

import (
	"fmt"
	"math"
	"time"

	"github.com/tidemark/tidemark/occ"
)

// newestRead returns the largest From that the event saw.
func (e *Event) newestRead() occ.Timestamp {
	var m occ.Timestamp
	for _, r := range e.Reads {
		m = max(m, r.From)
	}
	return m
}

// span returns the timestamps at all of which every version that e read must
// be valid.
func (e *Event) span() (first, last occ.Timestamp) {
	switch e.Kind {
	case ReadOnly:
		return e.Lo, e.Hi
	case Validated:
		return e.Commit, e.Commit
	case Committed:
		return e.Commit - 1, e.Commit - 1
	default:
		m := e.newestRead()
		return m, m
	}
}

// timestamp returns the event's place in the serial order; of an aborted
// attempt, what it raises the floor to.
func (e *Event) timestamp() occ.Timestamp {
	switch e.Kind {
	case ReadOnly:
		return e.Lo
	case Aborted:
		return e.newestRead()
	default:
		return e.Commit
	}
}

// need returns the timestamp up to which all commits must be known before e
// can be judged: then every version that it mentions, and the end of every
// such version inside its span, is known.
func (e *Event) need() occ.Timestamp {
	_, last := e.span()
	return max(last, e.newestRead())
}

// readRule is the rule that the reads of a kind of event come under.
func (k Kind) readRule() Rule {
	switch k {
	case ReadOnly:
		return Snapshot
	case Aborted:
		return Opacity
	default:
		return CommitReads
	}
}

// judge checks one event against all that it needs.
func (c *Checker) judge(e *Event, floor bounds) {
	before := c.res.Total
	judged := c.judgeReads(e)
	chosen := e.Kind == ReadOnly && e.Chosen
	if e.Kind == ReadOnly && e.Epsilon >= 0 && !chosen {
		limit := earlier(e.Begin, e.Epsilon)
		stable := c.applied.before(limit)
		judged = judged && e.Lo >= stable.high
		if e.Lo < stable.low {
			c.violate(Violation{Rule: Freshness, Event: *e, Detail: fmt.Sprintf(
				"lo is %d, but %d was applied before %v (begin %v, epsilon %v)", e.Lo, stable.low, limit, e.Begin, e.Epsilon)})
		}
	}
	if e.Kind != Aborted && !chosen {
		ts := e.timestamp()
		judged = judged && ts >= floor.high
		if ts < floor.low {
			c.violate(Violation{Rule: Causality, Event: *e, Detail: fmt.Sprintf(
				"its timestamp is %d, but the client had reached %d when it began", ts, floor.low)})
		}
	}
	if !judged && c.res.Total == before {
		c.res.TooOld++
	}
}

// judgeReads reports the first thing wrong with the reads of e. It returns
// false if history that is gone would be needed to judge them.
func (c *Checker) judgeReads(e *Event) (judged bool) {
	first, last := e.span()
	exempt := e.Kind == Aborted && e.NoOpacity
	switch {
	case first > last:
		c.violate(Violation{Rule: Snapshot, Event: *e, Detail: "lo is above hi"})
		return true
	case e.Kind == ReadOnly && e.Chosen && first < last:
		c.violate(Violation{Rule: Snapshot, Event: *e, Detail: "the chosen timestamp is two"})
		return true
	case last > c.through && e.Kind != Aborted:
		c.violate(Violation{Rule: e.Kind.readRule(), Event: *e, Detail: fmt.Sprintf("the newest commit is only %d", c.through)})
		return true
	}
	judged = true
	for i, r := range e.Reads {
		to, s := c.chains.find(r)
		if s == unwritten && c.gaps.contains(r.From) {
			s = written
		}
		fits := r.From <= first && last < to
		switch {
		case s == unwritten:
			c.violate(Violation{Rule: Unwritten, Event: *e, Block: r.Block, Detail: fmt.Sprintf(
				"block %d has no version %d", r.Block, r.From)})
			return true
		case s == forgotten && (exempt || fits):
			judged = false
		case !fits && !exempt:
			c.violate(explain(e, i, to))
			return true
		}
	}
	if !judged && !exempt {
		if i := secondVersion(e.Reads); i >= 0 {
			c.violate(explain(e, i, occ.Open))
			return true
		}
	}
	return judged
}

// explain says why read i of e, of a version that ends by to, is wrong.
func explain(e *Event, i int, to occ.Timestamp) Violation {
	v := Violation{Rule: TwoVersions, Event: *e}
	if j := secondVersion(e.Reads); j >= 0 {
		v.Block = e.Reads[j].Block
		v.Detail = fmt.Sprintf("block %d was read in version %d and in another", v.Block, e.Reads[j].From)
		return v
	}
	r := e.Reads[i]
	at, last := e.span()
	if r.From <= at {
		at = last
	}
	v.Rule, v.Block = e.Kind.readRule(), r.Block
	v.Detail = fmt.Sprintf("block %d was read in version %v, which is not its version at %d",
		r.Block, occ.Interval{From: r.From, To: to}, at)
	return v
}

// secondVersion returns the index of the first read of a block that an earlier
// one saw in another version, or -1. It allocates, and runs only when
// something is wrong already.
func secondVersion(reads []occ.Read) int {
	seen := make(map[occ.BlockID]occ.Timestamp, len(reads))
	for i, r := range reads {
		if from, ok := seen[r.Block]; ok && from != r.From {
			return i
		}
		seen[r.Block] = r.From
	}
	return -1
}

// earlier returns t - d for d >= 0, without wrapping around.
func earlier(t, d time.Duration) time.Duration {
	if t < math.MinInt64+d {
		return math.MinInt64
	}
	return t - d
}
