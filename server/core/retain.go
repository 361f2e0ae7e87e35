package core

import (
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/record"
)

// horizonPause is the least time between two horizons, which are log writes.
const horizonPause = time.Second

// retentionMarks remember when stable was where: all that ended at or below a
// mark's timestamp had ended at its time.
type retentionMarks struct {
	marks  []retentionMark // ascending; at most markCount and a few
	now    time.Duration
	paused time.Duration // no new horizon before
	asked  occ.Timestamp // the last horizon that was queued for the log
}

type retentionMark struct {
	at     time.Duration
	stable occ.Timestamp
}

// markCount is how finely the retention window is divided: a version may
// outlive it by a fraction of one part.
const markCount = 64

// retain moves the retention clock and, when versions ended longer ago than
// the retention window, queues a horizon that makes them gone. It ends the
// leases of pins as well.
func (c *Core) retain(now time.Duration) {
	m := &c.marks
	m.now = max(m.now, now)
	c.endLeases(m.now)
	stable := c.versions.Stable()
	if n := len(m.marks); n == 0 || m.marks[n-1].stable < stable && m.now-m.marks[n-1].at >= c.cfg.Retention/markCount {
		m.marks = append(m.marks, retentionMark{at: m.now, stable: stable})
	}
	old := 0
	for old < len(m.marks) && m.now-m.marks[old].at > c.cfg.Retention {
		old++
	}
	if old == 0 {
		return
	}
	m.marks = append(m.marks[:0], m.marks[old-1:]...)
	horizon := m.marks[0].stable
	if horizon <= m.asked || m.now < m.paused {
		return
	}
	m.asked = horizon
	m.paused = m.now + horizonPause
	c.enqueue(step{record: &record.Horizon{At: horizon}})
}

// collect raises the horizon. What ended at or before it is let go by Sweep.
func (c *Core) collect(horizon occ.Timestamp) {
	c.versions.SetHorizon(horizon)
	c.marks.asked = max(c.marks.asked, horizon)
}
