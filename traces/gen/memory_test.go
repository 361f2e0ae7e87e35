package gen

import (
	"io"
	"testing"
	"time"
)

// TestHourHoldsLittle: what a generator holds does not grow with the length of
// the trace.
func TestHourHoldsLittle(t *testing.T) {
	h := DefaultHour()
	h.Operations, h.Duration, h.WriteShare = 1_500_000, 15*time.Hour, 0.3
	g := newGenerator(h)
	waiting, open := 0, 0
	for {
		if _, err := g.Next(); err == io.EOF {
			break
		}
		waiting = max(waiting, len(g.waiting))
		if g.line%1000 == 0 {
			for i := range g.hosts {
				open = max(open, len(g.hosts[i].open))
				if n := len(g.hosts[i].wrote); n > remembered {
					t.Fatalf("a host remembers %d files", n)
				}
			}
		}
	}
	if limit := 4 * sliceTransactions; waiting > limit {
		t.Errorf("%d operations waited at once, more than %d", waiting, limit)
	}
	if open > 2*maxClosed {
		t.Errorf("a host notes %d open files", open)
	}
	if most := h.Hosts * groupFiles; len(g.groups) > most {
		t.Errorf("%d files of groups, more than %d", len(g.groups), most)
	}
}
