package core

import (
	"slices"
	"time"

	"github.com/tidemark/tidemark/occ"
)

// maxSyncPoints bounds the list of sync points. Any subset is safe: a thinner
// list only makes lower bounds higher than they need be.
const maxSyncPoints = 512

// syncPoint says that stable covers everything committed before the local
// time at (protocol, section 4).
type syncPoint struct {
	at     time.Duration
	stable occ.Timestamp
}

// syncPoints holds the useful sync points, strictly ascending in both fields:
// a point is useless when another one is at least as late and covers no more.
type syncPoints struct {
	points []syncPoint
}

func (s *syncPoints) add(at time.Duration, stable occ.Timestamp) {
	i := len(s.points)
	for i > 0 && s.points[i-1].at >= at {
		i--
	}
	if i < len(s.points) && s.points[i].stable <= stable {
		return // a point as late covers no more
	}
	from := i
	for from > 0 && s.points[from-1].stable >= stable {
		from--
	}
	s.points = slices.Replace(s.points, from, i, syncPoint{at, stable})
	if len(s.points) > maxSyncPoints {
		s.thin()
	}
}

// thin drops every second point of the older half.
func (s *syncPoints) thin() {
	half := len(s.points) / 2
	kept := s.points[:0]
	for i, p := range s.points {
		if i >= half || i%2 == 1 {
			kept = append(kept, p)
		}
	}
	s.points = kept
}

// after returns the smallest stable among the points strictly later than t:
// clocks tick coarsely, so a point at t itself may have been taken before
// something that happened at t.
func (s *syncPoints) after(t time.Duration) (occ.Timestamp, bool) {
	n := len(s.points)
	if n == 0 || s.points[n-1].at <= t {
		return 0, false
	}
	lo, hi := 0, n-1
	for lo < hi {
		mid := (lo + hi) / 2
		if s.points[mid].at > t {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return s.points[lo].stable, true
}

func (s *syncPoints) clear() { s.points = nil }
