package core

import (
	"time"

	"github.com/google/btree"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/record"
)

// horizonPause is the least time between two horizons, which are log writes.
const horizonPause = time.Second

// valueSizes knows what all versions weigh, and which have ended.
type valueSizes struct {
	bytes   int64                 // data and overhead of all versions, and of those not yet applied
	current map[occ.BlockID]int64 // what the current version of a block weighs
	ended   *btree.BTreeG[endedVersion]
}

// endedVersion is a superseded version; version 0 weighs nothing.
type endedVersion struct {
	end    occ.Timestamp
	block  occ.BlockID
	from   occ.Timestamp
	weight int64
}

// endedBefore orders versions by their ends; a block has one version that
// ended at a given timestamp.
func endedBefore(a, b endedVersion) bool {
	if a.end != b.end {
		return a.end < b.end
	}
	return a.block < b.block
}

// supersede notes that version from of b ended at end, where one begins that
// weighs weight, which is counted already.
func (v *valueSizes) supersede(b occ.BlockID, from, end occ.Timestamp, weight int64) {
	v.ended.ReplaceOrInsert(endedVersion{end: end, block: b, from: from, weight: v.current[b]})
	v.current[b] = weight
}

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
// the retention window, queues a horizon that makes them gone. Each timestamp
// ended a version, so a horizon that rises always has something to collect.
func (c *Core) retain(now time.Duration) {
	m := &c.marks
	m.now = max(m.now, now)
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

// collect raises the horizon and drops the versions that ended at or before
// it.
func (c *Core) collect(horizon occ.Timestamp) {
	c.versions.SetHorizon(horizon)
	c.marks.asked = max(c.marks.asked, horizon)
	for {
		v, ok := c.values.ended.Min()
		if !ok || v.end > horizon {
			return
		}
		c.values.ended.DeleteMin()
		c.versions.Collect(v.block)
		c.values.bytes -= v.weight
		if v.from > 0 {
			c.emit(Drop{Block: v.block, From: v.from})
		}
	}
}
