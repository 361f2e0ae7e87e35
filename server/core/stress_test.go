package core

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/occ"
)

// TestStress runs random requests of a few clients, with disconnections,
// resends, crashes, slow loads and slow logs, against the naive model of
// world: every stream keeps the order of section 3 and what it holds open is
// what the server has (invariants 2 and 3); every commit in the log read the
// newest versions (5), is there once, and nobody was told that it conflicted
// (8).
func TestStress(t *testing.T) {
	for seed := range uint64(60) {
		if problems := stress(seed, Config{}, 400); len(problems) > 0 {
			t.Fatalf("seed %d: %v", seed, problems[0])
		}
	}
}

// TestStressNoticesFaults shows that the stress test can fail.
func TestStressNoticesFaults(t *testing.T) {
	for name, f := range map[string]occ.Faults{
		"forget pending":   {ForgetPending: true},
		"skip read check":  {SkipReadCheck: true},
		"lose deprecation": {LoseDeprecation: true},
		"stable ahead":     {StableAhead: true},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(20) {
				if len(stress(seed, Config{Faults: f}, 400)) > 0 {
					return
				}
			}
			t.Error("not noticed")
		})
	}
}

// TestDeterministic runs one seed twice: the effects are the same, in the
// same order.
func TestDeterministic(t *testing.T) {
	run := func() string {
		var out strings.Builder
		s := newStress(7, Config{})
		s.trace = (&scripted{out: &out}).print
		for range 500 {
			s.step()
		}
		return out.String()
	}
	a, b := run(), run()
	if len(a) < 1000 || a != b {
		t.Fatalf("two runs of one seed differ:\n%s\n\n%s", a, b)
	}
}
