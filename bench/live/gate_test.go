package live

import (
	"testing"
	"testing/synctest"
	"time"
)

// step says whether f is through once everything that can go on has.
func step(f func()) (through func() bool) {
	done := false
	go func() {
		f()
		done = true
	}()
	return func() bool {
		synctest.Wait()
		return done
	}
}

func TestGateKeepsEventsWithinTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		g.enter(time.Second)                                          // 0
		g.enter(time.Second)                                          // 1
		g.enter(time.Second + Window)                                 // 2: just near enough
		through := step(func() { g.enter(time.Second + Window + 1) }) // 3: not
		if through() {
			t.Fatal("an event has overtaken one more than the window earlier")
		}
		g.finished(1)
		if through() {
			t.Fatal("event 0 has not finished")
		}
		g.finished(2)
		g.finished(0)
		if !through() {
			t.Fatal("everything earlier has finished")
		}
		// Now event 3 is the oldest.
		if through := step(func() { g.enter(time.Second + 2*Window + 1) }); !through() {
			t.Fatal("event 4 is within the window of event 3")
		}
		through = step(func() { g.enter(time.Minute) })
		if through() {
			t.Fatal("events 3 and 4 have not finished")
		}
		g.finished(3)
		g.finished(4)
		if !through() {
			t.Fatal("events 3 and 4 have finished")
		}
	})
}

func TestGateClock(t *testing.T) {
	g := newGate()
	if g.clock() != 0 {
		t.Error("the clock does not begin at 0")
	}
	for _, c := range []struct{ at, want time.Duration }{{5, 5}, {7, 7}, {6, 7}, {7, 7}, {9, 9}} {
		g.enter(c.at)
		if got := g.clock(); got != c.want {
			t.Errorf("after an event at %d the clock says %d, not %d", c.at, got, c.want)
		}
	}
}

func TestGateDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		g.drain() // nothing has begun
		g.enter(1)
		g.enter(2)
		through := step(g.drain)
		g.finished(1)
		if through() {
			t.Fatal("event 0 is under way")
		}
		g.finished(0)
		if !through() {
			t.Fatal("everything has finished")
		}
	})
}

func TestOpenGateHoldsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		g.enter(0)
		enters, drains := step(func() { g.enter(time.Hour) }), step(g.drain)
		if enters() || drains() {
			t.Fatal("event 0 is under way")
		}
		g.open()
		if !enters() || !drains() {
			t.Fatal("the gate is open")
		}
		g.enter(2 * time.Hour)
		g.finished(1)
		g.finished(0)
		g.finished(2)
		g.drain()
	})
}
