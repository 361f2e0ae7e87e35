package history

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/occ"
)

func TestInDoubtForgivesMissingTimestamps(t *testing.T) {
	run := func(doubts int, events ...Event) Result {
		c := New(Options{})
		for _, e := range append(base(), events...) {
			c.Record(e)
		}
		for range doubts {
			c.InDoubt()
		}
		return c.Finish()
	}
	// Timestamp 5 is missing; it wrote block 7, as a reader saw.
	gap := []Event{commitOf(1, 6, reads(7, 5), 8), readOnly(5, 6, reads(7, 5))}
	if r := run(1, gap...); r.Err() != nil || r.Forgiven != 1 {
		t.Errorf("forgiven %d, %v", r.Forgiven, r.Err())
	}
	if r := run(0, gap...); r.Total != 1 || r.Violations[0].Rule != CommitOrder {
		t.Errorf("nothing in doubt: %v", r.Violations)
	}
	if r := run(1, append(gap, commitOf(1, 8, nil, 8))...); r.Total != 1 || r.Violations[0].Rule != CommitOrder {
		t.Errorf("one in doubt, two missing: %v", r.Violations)
	}
	// The commit in doubt is the newest.
	newest := readOnly(5, 5, reads(7, 5))
	if r := run(1, newest); r.Err() != nil || r.Newest != 4 {
		t.Errorf("newest %d, %v", r.Newest, r.Err())
	}
	if r := run(1, readOnly(6, 6, reads(7, 5))); r.Total != 1 || r.Violations[0].Rule != Snapshot {
		t.Errorf("beyond the one in doubt: %v", r.Violations)
	}
	// What is known still counts around the gap.
	if r := run(1, commitOf(1, 6, reads(7, 1), 8)); r.Total != 1 || r.Violations[0].Rule != CommitReads {
		t.Errorf("stale read beside a gap: %v", r.Violations)
	}
}

func TestUnknownIsExact(t *testing.T) {
	run := func(e Event) Result {
		c := New(Options{})
		for _, e := range base() {
			c.Record(e)
		}
		c.Record(e)
		c.Unknown(5, []occ.BlockID{7})
		return c.Finish()
	}
	if r := run(readOnly(5, 5, reads(7, 5))); r.Err() != nil {
		t.Error(r.Err())
	}
	if r := run(readOnly(5, 5, reads(7, 3))); r.Total != 1 || r.Violations[0].Rule != Snapshot {
		t.Errorf("got %v", r.Violations)
	}
	r := run(commitOf(1, 5, nil, 7))
	if r.Total != 1 || !strings.HasPrefix(r.Violations[0].String(), "invariant 5 (commit order): commit of unknown outcome at 5") {
		t.Errorf("got %v", r.Violations)
	}
}

// Correct histories in which some clients did not learn of their commits.
func TestDoubtRaisesNoFalseAlarm(t *testing.T) {
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		events, applied := generate(rng, 20+rng.IntN(100))
		c := New(Options{})
		for _, p := range applied {
			c.Applied(p.t, p.stable)
		}
		var doubts uint64
		for _, e := range events {
			switch {
			case e.Kind != Committed || rng.IntN(4) > 0:
				c.Record(e)
			case rng.IntN(2) == 0:
				c.Unknown(e.Commit, e.Writes)
			default:
				e.Kind = Aborted // what it read still counts
				c.Record(e)
				c.InDoubt()
				doubts++
			}
		}
		if r := c.Finish(); r.Err() != nil || r.Forgiven > doubts {
			t.Fatalf("seed %d: forgiven %d of %d, %v", seed, r.Forgiven, doubts, r.Err())
		}
	}
}
