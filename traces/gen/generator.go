package gen

import (
	"cmp"
	"io"
	"slices"

	"github.com/tidemark/tidemark/traces"
)

// generator makes an hour, one slice after the other. What it holds does not
// grow with the length of the trace.
type generator struct {
	h       Hour
	sharing odds
	r       random
	plan    *schedule
	hosts   []host
	groups  map[int64]int // by number of a group's file: the host that wrote it last
	last    int64         // the latest time of an operation

	// waiting are operations that are made and have not left, in order of
	// time; of them, next is the next one and those before ready can leave.
	waiting     []traces.Op
	next, ready int
	line        int64
}

func newGenerator(h Hour) *generator {
	g := &generator{
		h: h, sharing: oddsOf(h.SharingShare), r: newRandom(h.Seed, 0),
		plan: newSchedule(h), hosts: make([]host, h.Hosts), groups: make(map[int64]int),
		last: h.Duration.Microseconds() - 1,
	}
	ids := make([]uint32, (h.Hosts*clients+reportHosts-1)/reportHosts)
	for i := range ids {
		ids[i] = firstHost + uint32(i)
	}
	g.r.shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	for i := range g.hosts {
		g.hosts[i] = host{number: i, id: ids[i]}
	}
	return g
}

// Next returns the operations in order of time.
func (g *generator) Next() (traces.Op, error) {
	for g.next == g.ready {
		if !g.slice() {
			return traces.Op{}, io.EOF
		}
	}
	op := g.waiting[g.next]
	g.next++
	g.line++
	op.Line = g.line
	return op, nil
}

// slice makes the transactions that begin in the next slice of the trace. It
// reports whether anything was left to do.
func (g *generator) slice() bool {
	g.waiting = slices.Delete(g.waiting, 0, g.next)
	p, more := g.plan.take()
	if more {
		deck := deal(g.r, p)
		for i, s := range starts(g.r, p, len(g.hosts)) {
			g.transaction(deck[i], s)
		}
		// Those of one time leave as they were made.
		slices.SortStableFunc(g.waiting, func(a, b traces.Op) int { return cmp.Compare(a.Time, b.Time) })
	}
	g.next, g.ready = 0, len(g.waiting)
	if more { // later slices begin after this one
		g.ready, _ = slices.BinarySearchFunc(g.waiting, hourStart+p.end, func(op traces.Op, end int64) int { return cmp.Compare(op.Time, end) })
	}
	return more || g.ready > 0
}

// emit adds an operation and returns its time, which is not after the end of
// the trace.
func (g *generator) emit(h *host, at int64, t traces.Type, a traces.Action, id traces.FID, off, size int64) int64 {
	at = min(at, g.last)
	g.waiting = append(g.waiting, traces.Op{
		Time: hourStart + at, Type: t, Action: a, FID: id, Off: off, Size: size, Host: h.id,
	})
	return at
}
