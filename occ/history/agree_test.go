package history

import (
	"math/rand/v2"
	"testing"
)

func check(opts Options, events []Event, applied []point) Result {
	c := New(opts)
	for _, p := range applied {
		c.Applied(p.t, p.stable)
	}
	for _, e := range events {
		c.Record(e)
	}
	return c.Finish()
}

// wrongEvents counts the distinct events among the violations.
func wrongEvents(r Result) int {
	type id struct {
		client int
		end    uint64
	}
	seen := map[id]bool{}
	for _, v := range r.Violations {
		if !v.whole {
			seen[id{v.Event.Client, v.Event.EndSeq}] = true
		}
	}
	return len(seen)
}

const keepAll = 1 << 20

func TestCheckerAgreesWithTwin(t *testing.T) {
	valid, invalid := 0, 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		events, applied := generate(rng, 20+rng.IntN(100))
		what := "nothing changed"
		if seed%4 != 0 {
			events, what = mutate(rng, events)
		}
		if seed%3 == 0 {
			events = interleave(rng, events)
		}
		wrong, disorder := twin(events, applied)
		r := check(Options{Keep: keepAll}, events, applied)
		if r.TooOld != 0 {
			t.Fatalf("seed %d (%s): %d not judged although all history is kept", seed, what, r.TooOld)
		}
		if bad := wrong > 0 || disorder; bad != (r.Total > 0) {
			t.Fatalf("seed %d (%s): twin finds %d wrong (disorder %v), checker %v", seed, what, wrong, disorder, r.Err())
		}
		if !disorder && wrongEvents(r) != wrong {
			t.Fatalf("seed %d (%s): twin finds %d wrong events, checker %v", seed, what, wrong, r.Violations)
		}
		if seed%4 == 0 && r.Total > 0 {
			t.Fatalf("seed %d: a correct history is refused: %v", seed, r.Err())
		}
		if r.Total == 0 {
			valid++
		} else {
			invalid++
		}
	}
	if valid < 700 || invalid < 700 {
		t.Errorf("one-sided histories: %d valid, %d invalid", valid, invalid)
	}
}

// With little memory the checker may give up, but it must not be mistaken.
func TestLittleMemoryNeverMistaken(t *testing.T) {
	gaveUp, clean, caught := 0, 0, 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 2))
		events, applied := generate(rng, 20+rng.IntN(150))
		what := "nothing changed"
		if seed%2 != 0 {
			events, what = mutate(rng, events)
		}
		if seed%3 == 0 {
			events = interleave(rng, events)
		}
		opts := Options{Window: 1 + rng.IntN(20), Pending: 1 + rng.IntN(30), Keep: keepAll}
		wrong, disorder := twin(events, applied)
		r := check(opts, events, applied)
		bad := wrong > 0 || disorder
		if r.Total > 0 && !bad {
			t.Fatalf("seed %d (%s) %+v: false alarm: %v", seed, what, opts, r.Violations)
		}
		if bad && r.Err() == nil {
			t.Fatalf("seed %d (%s) %+v: twin finds %d wrong (disorder %v), checker nothing", seed, what, opts, wrong, disorder)
		}
		switch {
		case r.Total > 0:
			caught++
		case r.TooOld > 0:
			gaveUp++
		default:
			clean++
		}
	}
	if gaveUp < 100 || clean < 100 || caught < 100 {
		t.Errorf("one-sided histories: %d given up, %d clean, %d caught", gaveUp, clean, caught)
	}
}
