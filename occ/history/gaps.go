package history

import (
	"slices"

	"github.com/tidemark/tidemark/occ"
)

// gaps are the timestamps that were passed over because their commits did not
// come: rising, disjoint, inclusive ranges.
type gaps struct {
	ranges []gap
	count  uint64 // timestamps in all ranges
}

type gap struct {
	first, last occ.Timestamp
}

// add appends a range that lies above all others.
func (g *gaps) add(first, last occ.Timestamp) {
	if first > last {
		return
	}
	g.ranges = append(g.ranges, gap{first, last})
	g.count += uint64(last-first) + 1
}

// find returns the index of the first range that does not end below t, and
// whether it contains t.
func (g *gaps) find(t occ.Timestamp) (int, bool) {
	i, _ := slices.BinarySearchFunc(g.ranges, t, func(r gap, t occ.Timestamp) int {
		if r.last < t {
			return -1
		}
		return 1
	})
	return i, i < len(g.ranges) && g.ranges[i].first <= t
}

func (g *gaps) contains(t occ.Timestamp) bool {
	if len(g.ranges) == 0 {
		return false
	}
	_, in := g.find(t)
	return in
}

// remove takes t, which is in a range, out of it.
func (g *gaps) remove(t occ.Timestamp) {
	i, in := g.find(t)
	if !in {
		return
	}
	g.count--
	r := g.ranges[i]
	switch {
	case r.first == r.last:
		g.ranges = slices.Delete(g.ranges, i, i+1)
	case t == r.first:
		g.ranges[i].first++
	case t == r.last:
		g.ranges[i].last--
	default:
		g.ranges[i].last = t - 1
		g.ranges = slices.Insert(g.ranges, i+1, gap{t + 1, r.last})
	}
}
