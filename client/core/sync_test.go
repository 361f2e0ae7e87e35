package core

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tidemark/tidemark/occ"
)

// smallest is what after should return of points: the smallest stable of
// those strictly later than bound.
func smallest(points []syncPoint, bound time.Duration) (occ.Timestamp, bool) {
	best, ok := occ.Open, false
	for _, p := range points {
		if p.at > bound {
			best, ok = min(best, p.stable), true
		}
	}
	return best, ok
}

func TestSyncPointsAgainstTwin(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		var s syncPoints
		var all []syncPoint
		for range 60 {
			p := syncPoint{time.Duration(rng.IntN(40)), occ.Timestamp(rng.IntN(40))}
			s.add(p.at, p.stable)
			all = append(all, p)
			for bound := time.Duration(-1); bound <= 40; bound++ {
				want, known := smallest(all, bound)
				got, ok := s.after(bound)
				if ok != known || ok && got != want {
					t.Fatalf("after %v of %v: %d, %v; want %d, %v", bound, all, got, ok, want, known)
				}
			}
		}
	}
}

// A thinned list answers with a point that was really recorded and is late
// enough, and answers whenever the full one would.
func TestThinnedSyncPointsAreSafe(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var s syncPoints
	var all []syncPoint
	at, stable := time.Duration(0), occ.Timestamp(0)
	for i := range 4 * maxSyncPoints {
		at += time.Duration(rng.IntN(3))
		stable += occ.Timestamp(rng.IntN(3))
		before := len(s.points)
		s.add(at, stable)
		all = append(all, syncPoint{at, stable})
		if len(s.points) > maxSyncPoints {
			t.Fatalf("%d points are kept", len(s.points))
		}
		thinned := len(s.points) < before-1
		if i%50 != 0 && !thinned {
			continue
		}
		for bound := time.Duration(-1); bound <= at+1; bound += 1 + time.Duration(rng.IntN(8)) {
			want, known := smallest(all, bound)
			got, ok := s.after(bound)
			if ok != known || got < want && ok {
				t.Fatalf("after %v: %d, %v; the full list says %d, %v", bound, got, ok, want, known)
			}
			found := false
			for _, p := range all {
				found = found || p.at > bound && p.stable == got
			}
			if ok && !found {
				t.Fatalf("after %v: %d, which no point later than that covers", bound, got)
			}
		}
	}
}
