package gen

import (
	"cmp"
	"slices"
)

// start is where a transaction begins.
type start struct {
	at   int64 // microseconds since hourStart
	host int   // number of the host
}

// starts returns when the transactions of a slice begin, and at whose hosts,
// in order of time. A burst lies within its slice: one that is longer goes
// faster.
func starts(r random, p slice, hosts int) []start {
	list := make([]start, 0, p.transactions)
	length := p.end - p.begin
	for fresh := p.newHosts[0]; int64(len(list)) < p.transactions; {
		left := p.transactions - int64(len(list))
		var host int
		if fresh < p.newHosts[1] {
			host = int(fresh)
			fresh++
			left -= p.newHosts[1] - fresh // each of the others needs one
		} else {
			host = int(busy(r, int64(hosts)))
		}
		n := min(1+r.exponential(meanBurst-1), left)
		first := len(list)
		at := int64(0)
		for range n {
			list = append(list, start{at, host})
			at += 1 + r.exponential(meanGap)
		}
		lead := int64(0)
		if at < length {
			lead = r.below(length - at)
		}
		for i := first; i < len(list); i++ {
			if at >= length {
				list[i].at = portion(length, list[i].at, at)
			}
			list[i].at += p.begin + lead
		}
	}
	slices.SortStableFunc(list, func(a, b start) int { return cmp.Compare(a.at, b.at) })
	return list
}

// busy chooses a host, those with low numbers more often: the lowest of three.
func busy(r random, hosts int64) int64 { return min(r.below(hosts), r.below(hosts), r.below(hosts)) }
