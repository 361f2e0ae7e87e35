package live

import (
	"sync"
	"sync/atomic"
	"time"
)

// Window is how far, in trace time, an operation may run ahead of the oldest
// one that has not finished.
const Window = 50 * time.Millisecond

// gate lets events start in trace order, at most Window apart, and publishes
// the trace time.
type gate struct {
	now atomic.Int64 // trace time of the newest event that was started

	mu     sync.Mutex
	moved  sync.Cond
	events []started // those from base on, oldest first
	base   int       // number of events[0]
	failed bool      // let everything through
}

type started struct {
	at   time.Duration
	done bool
}

func newGate() *gate {
	g := &gate{}
	g.moved.L = &g.mu
	return g
}

// clock is the trace time.
func (g *gate) clock() time.Duration { return time.Duration(g.now.Load()) }

// enter waits until an event of trace time at may start, and starts it. Events
// are numbered in the order in which they enter.
func (g *gate) enter(at time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !g.failed && len(g.events) > 0 && g.events[0].at < at-Window {
		g.moved.Wait()
	}
	g.events = append(g.events, started{at: at})
	if now := g.clock(); at > now {
		g.now.Store(int64(at))
	}
}

// finished marks an event as done.
func (g *gate) finished(number int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.events[number-g.base].done = true
	n := 0
	for n < len(g.events) && g.events[n].done {
		n++
	}
	if n > 0 {
		g.events = g.events[n:]
		g.base += n
		g.moved.Broadcast()
	}
}

// drain waits until every event that was started is done.
func (g *gate) drain() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !g.failed && len(g.events) > 0 {
		g.moved.Wait()
	}
}

// open lets everything through: the replay has failed.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failed = true
	g.moved.Broadcast()
}
