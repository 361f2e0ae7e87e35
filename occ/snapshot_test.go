package occ

import (
	"math/rand/v2"
	"testing"
)

// twinSnapshot is the rule of section 5 as a set: every timestamp at which
// the transaction may still run, out of those up to the GLUB.
type twinSnapshot struct {
	lo    Timestamp
	reads []Interval
}

// times are the timestamps through glub at which all that was read is valid.
func (s *twinSnapshot) times(glub Timestamp) (set []Timestamp) {
	for at := s.lo; at <= glub; at++ {
		all := true
		for _, iv := range s.reads {
			all = all && iv.Contains(at)
		}
		if all {
			set = append(set, at)
		}
	}
	return set
}

func TestSnapshotAgainstTwin(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	fitted, refused := 0, 0
	for range 3000 {
		glub := Timestamp(rng.IntN(12))
		lo := Timestamp(rng.IntN(int(glub) + 1))
		s, tw := Snapshot{Lo: lo}, twinSnapshot{lo: lo}
		for range 12 {
			glub += Timestamp(rng.IntN(2))
			iv := Interval{From: Timestamp(rng.IntN(int(glub) + 1)), To: Open}
			if rng.IntN(3) > 0 {
				iv.To = iv.From + 1 + Timestamp(rng.IntN(int(glub-iv.From)+1))
			}
			with := twinSnapshot{lo, append(tw.reads[:len(tw.reads):len(tw.reads)], iv)}
			fits := s.Fits(iv, glub)
			if want := len(with.times(glub)) > 0; fits != want {
				t.Fatalf("%v fits after %v, lo %d, glub %d: %v, want %v", iv, tw.reads, lo, glub, fits, want)
			}
			if fits {
				fitted++
				s.Admit(iv)
				tw = with
			} else {
				refused++
			}
			if i := rng.IntN(len(tw.reads) + 1); i < len(tw.reads) && tw.reads[i].To == Open {
				// A deprecation arrives: it ends something behind the GLUB.
				tw.reads[i].To = glub + 1
				s.Close(glub + 1)
				glub++
			}
			times := tw.times(glub)
			if len(times) == 0 {
				t.Fatalf("nothing is left of %v, lo %d, glub %d", tw.reads, lo, glub)
			}
			first, last := times[0], times[len(times)-1]
			if s.Lo != first || s.Hi(glub) != last {
				t.Fatalf("[%d,%d] after %v, lo %d, glub %d; want [%d,%d]", s.Lo, s.Hi(glub), tw.reads, lo, glub, first, last)
			}
			closed := false
			for _, iv := range tw.reads {
				closed = closed || iv.To != Open
			}
			if at := s.AskAt(); closed && at != last || !closed && at != Latest {
				t.Fatalf("asks at %d after %v, hi is %d", at, tw.reads, last)
			}
		}
	}
	if fitted < 1000 || refused < 1000 {
		t.Fatalf("%d versions fitted and %d did not: the runs say little", fitted, refused)
	}
}
