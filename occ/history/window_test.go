package history

import (
	"testing"
	"time"

	"github.com/tidemark/tidemark/occ"
)

// overwrite records commits 1 to n of block 7.
func overwrite(c *Checker, n occ.Timestamp) {
	for ts := occ.Timestamp(1); ts <= n; ts++ {
		c.Record(commitOf(0, ts, nil, 7))
	}
}

func TestWindowEdge(t *testing.T) {
	// With 10 commits and a window of 4 the horizon is 6: the versions of 7
	// that are known are 6 to 10.
	tests := []struct {
		name       string
		event      Event
		old, wrong int
	}{
		{"oldest version kept", readOnly(6, 6, reads(7, 6)), 0, 0},
		{"one older", readOnly(5, 5, reads(7, 5)), 1, 0},
		{"one older, certainly wrong", readOnly(5, 6, reads(7, 5)), 0, 1},
		{"old lo, but block never written", readOnly(1, 10, reads(9, 0)), 0, 0},
		{"opacity of old versions", aborted(reads(7, 5, 9, 0)), 1, 0},
		{"opacity of old and new", aborted(reads(7, 5, 7, 8)), 0, 1},
		{"opacity not asked, but was 5 ever written", torn(aborted(reads(7, 5, 7, 8))), 1, 0},
		{"two old versions", aborted(reads(7, 4, 7, 5)), 0, 1},
		{"old, but never written", readOnly(3, 3, reads(7, 3, 9, 2)), 0, 1},
	}
	for _, test := range tests {
		c := New(Options{Window: 4})
		overwrite(c, 10)
		c.Record(test.event)
		if r := c.Finish(); r.TooOld != test.old || r.Total != test.wrong {
			t.Errorf("%s: %d too old, violations %v", test.name, r.TooOld, r.Violations)
		} else if (r.Err() == nil) != (test.old+test.wrong == 0) {
			t.Errorf("%s: error %v", test.name, r.Err())
		}
	}
}

func TestForgottenFreshnessAndFloor(t *testing.T) {
	run := func(e Event) Result {
		c := New(Options{Window: 4})
		for ts := occ.Timestamp(1); ts <= 10; ts++ {
			c.Applied(time.Duration(10*ts), ts)
			c.Record(seqs(commitOf(1, ts, nil, 7), uint64(2*ts), uint64(2*ts+1)))
		}
		c.Record(e)
		return c.Finish()
	}
	other := func(e Event, begin time.Duration) Event {
		e.Client = 2
		return at(e, begin, 0)
	}
	// Begun after 3 was applied, or after 3 was committed, or just when 5 was
	// applied, so that 4 was required: all forgotten.
	for _, e := range []Event{other(readOnly(2, 10, nil), 35), other(readOnly(4, 10, nil), 50), seqs(readOnly(2, 10, nil), 8, 30)} {
		if r := run(e); r.TooOld != 1 || r.Total != 0 {
			t.Errorf("%+v: %d too old, %v", e, r.TooOld, r.Violations)
		}
	}
	// So recent that it must be right all the same.
	for _, e := range []Event{other(readOnly(9, 10, nil), 35), seqs(readOnly(9, 10, nil), 8, 30)} {
		if r := run(e); r.Err() != nil {
			t.Errorf("%+v: %v", e, r.Err())
		}
	}
	// Still remembered.
	for _, e := range []Event{other(readOnly(7, 10, nil), 85), seqs(readOnly(7, 10, nil), 18, 30)} {
		if r := run(e); r.Total != 1 || r.TooOld != 0 {
			t.Errorf("%+v: %d too old, %v", e, r.TooOld, r.Violations)
		}
	}
}

func TestMemoryIsBoundedByWindow(t *testing.T) {
	const window, clients, blocks, commits = 50, 4, 10, 5000
	c := New(Options{Window: window})
	for ts := occ.Timestamp(1); ts <= commits; ts++ {
		client := int(ts) % clients
		e := commitOf(client, ts, nil, occ.BlockID(ts%blocks))
		c.Applied(time.Duration(ts), ts)
		c.Record(seqs(e, uint64(2*ts), uint64(2*ts+1)))
	}
	versions := 0
	for _, chain := range c.chains {
		versions += len(chain)
	}
	floors := 0
	for _, f := range c.floors {
		floors += len(f.list)
	}
	if versions > window+blocks || len(c.recent) > window || len(c.applied.list) > window+1 || floors > window+clients {
		t.Errorf("kept: %d versions, %d commits, %d stable timestamps, %d floors", versions, len(c.recent), len(c.applied.list), floors)
	}
	if r := c.Finish(); r.Err() != nil {
		t.Error(r.Err())
	}
}

func TestStableWithoutCommitsIsBounded(t *testing.T) {
	c := New(Options{Window: 5, Pending: 10})
	for ts := occ.Timestamp(1); ts <= 100; ts++ {
		c.Applied(time.Duration(ts), ts)
	}
	if n := len(c.applied.list); n != 15 {
		t.Errorf("%d stable timestamps kept", n)
	}
	// 85 is the newest one forgotten; 90 is remembered.
	if got := c.applied.before(84); got != (bounds{0, 85}) {
		t.Errorf("before 84: %+v", got)
	}
	if got := c.applied.before(91); got != (bounds{90, 90}) {
		t.Errorf("before 91: %+v", got)
	}
}

func TestPendingIsBounded(t *testing.T) {
	c := New(Options{Pending: 10})
	c.Record(commitOf(0, 1, nil, 7))
	// Timestamp 2 does not come, and then comes too late.
	for ts := occ.Timestamp(3); ts < 103; ts++ {
		c.Record(commitOf(0, ts, nil, 7))
		if n := c.ahead.len() + c.waiting.len(); n > 10 {
			t.Fatalf("%d wait", n)
		}
		if len(c.writes) != c.ahead.len() {
			t.Fatalf("%d write sets of %d commits ahead", len(c.writes), c.ahead.len())
		}
	}
	c.Record(commitOf(1, 2, nil, 8))
	if r := c.Finish(); r.Total != 0 || r.TooOld != 1 || r.Newest != 102 {
		t.Errorf("late commit: %v, %v", r, r.Violations)
	}

	c = New(Options{Pending: 10})
	for range 25 {
		c.Record(readOnly(1, 1, reads(7, 1)))
	}
	c.Record(commitOf(0, 1, nil, 7))
	if r := c.Finish(); r.Total != 0 || r.TooOld != 15 {
		t.Errorf("readers ahead of their commit: %v, %v", r, r.Violations)
	}
}

func TestGapsSplit(t *testing.T) {
	var g gaps
	g.add(5, 4)
	g.add(10, 14)
	g.add(20, 20)
	for _, ts := range []occ.Timestamp{12, 10, 14, 20, 15} {
		g.remove(ts)
	}
	if g.count != 2 || !g.contains(11) || !g.contains(13) {
		t.Errorf("left: %+v", g)
	}
	for _, ts := range []occ.Timestamp{0, 9, 10, 12, 14, 20, 21} {
		if g.contains(ts) {
			t.Errorf("%d is in %+v", ts, g)
		}
	}
}
