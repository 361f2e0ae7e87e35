package history

import (
	"cmp"
	"slices"

	"github.com/tidemark/tidemark/occ"
)

// steps is a timestamp that only rises, remembered along a key that only
// rises: stable over time, or a client's floor over its sequence numbers. The
// old end can be forgotten.
type steps[K cmp.Ordered] struct {
	list []step[K] // keys and values strictly rising
	base step[K]   // the newest one forgotten
	cut  bool      // base is set
}

type step[K cmp.Ordered] struct {
	key   K
	value occ.Timestamp
}

// bounds encloses a timestamp that may be known only in part. Something that
// must not lie below it is wrong below low, right from high on, and cannot be
// judged in between.
type bounds struct {
	low, high occ.Timestamp
}

// raise notes that the value is at least v from key on. A key below an earlier
// one counts as that one, which asks less of everybody and so is safe.
func (s *steps[K]) raise(key K, v occ.Timestamp) {
	last := s.base
	if n := len(s.list); n > 0 {
		last = s.list[n-1]
	} else if !s.cut {
		if v > 0 {
			s.list = append(s.list, step[K]{key, v})
		}
		return
	}
	if v <= last.value {
		return
	}
	if n := len(s.list); n > 0 && key <= last.key {
		s.list[n-1].value = v
	} else {
		s.list = append(s.list, step[K]{max(key, last.key), v})
	}
}

// before returns the value reached at keys strictly below key.
func (s *steps[K]) before(key K) bounds {
	if s.cut && key <= s.base.key {
		return bounds{0, s.base.value}
	}
	i, _ := slices.BinarySearchFunc(s.list, key, func(e step[K], k K) int { return cmp.Compare(e.key, k) })
	v := s.base.value
	if i > 0 {
		v = s.list[i-1].value
	}
	return bounds{v, v}
}

// trim forgets values up to horizon, and the oldest beyond limit.
func (s *steps[K]) trim(horizon occ.Timestamp, limit int) {
	n := max(0, len(s.list)-limit)
	for n < len(s.list) && s.list[n].value <= horizon {
		n++
	}
	if n > 0 {
		s.base, s.cut = s.list[n-1], true
		s.list = s.list[n:]
	}
}
