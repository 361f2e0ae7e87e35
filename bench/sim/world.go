package sim

import (
	"container/heap"
	"errors"
	"iter"
	"time"
)

// World is simulated time: one queue of events ordered by (time, sequence),
// and coroutines that are suspended while they wait for an event. Exactly one
// thing runs at any moment, on the caller's goroutine; there is no timer, no
// goroutine and no select. The same calls give the same run.
type World struct {
	now     time.Duration
	queue   eventQueue
	seq     uint64
	pending int // events in the queue that are not background
	procs   map[*proc]struct{}
	current *proc
}

// NewWorld returns a World at time 0.
func NewWorld() *World { return &World{procs: make(map[*proc]struct{})} }

// Now is the simulated time.
func (w *World) Now() time.Duration { return w.now }

type event struct {
	at         time.Duration
	seq        uint64
	run        func()
	background bool
}

type eventQueue []event

func (q eventQueue) Len() int { return len(q) }
func (q eventQueue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].seq < q[j].seq
}
func (q eventQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *eventQueue) Push(x any)   { *q = append(*q, x.(event)) }
func (q *eventQueue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = event{}
	*q = (*q)[:last]
	return e
}

// At has run called at time at, or now if that has passed. Events of the same
// time run in the order of their At calls.
func (w *World) At(at time.Duration, run func()) { w.schedule(at, run, false) }

// Every has run called each period until the World is done with. Such events
// alone do not keep a Run going.
func (w *World) Every(period time.Duration, run func()) {
	w.schedule(w.now+period, func() {
		run()
		w.Every(period, run)
	}, true)
}

func (w *World) schedule(at time.Duration, run func(), background bool) {
	w.seq++
	if !background {
		w.pending++
	}
	heap.Push(&w.queue, event{at: max(at, w.now), seq: w.seq, run: run, background: background})
}

// ErrStuck means that coroutines wait for something that will never happen.
var ErrStuck = errors.New("simulation is stuck: a transaction waits for a message that is not under way")

// Run runs events until nothing but periodic ones are left and every
// coroutine has ended.
func (w *World) Run() error {
	for w.pending > 0 {
		w.step()
	}
	if len(w.procs) > 0 {
		return ErrStuck
	}
	return nil
}

// RunUntil runs events until done reports true after one of them.
func (w *World) RunUntil(done func() bool) error {
	for !done() {
		if w.pending == 0 {
			return ErrStuck
		}
		w.step()
	}
	return nil
}

// Advance runs all events up to time at, periodic ones included, and leaves
// the clock there.
func (w *World) Advance(at time.Duration) {
	for len(w.queue) > 0 && w.queue[0].at <= at {
		w.step()
	}
	w.now = max(w.now, at)
}

func (w *World) step() {
	e := heap.Pop(&w.queue).(event)
	if !e.background {
		w.pending--
	}
	w.now = e.at
	e.run()
}

// Stop ends the coroutines that are still suspended: their waits return
// ErrStopped.
func (w *World) Stop() {
	for p := range w.procs {
		p.stop()
	}
	w.procs = nil
}

// ErrStopped is the result of a wait in a World that is being stopped.
var ErrStopped = errors.New("simulation stopped")

// proc is a coroutine.
type proc struct {
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
}

// Go starts f as a coroutine, now.
func (w *World) Go(f func()) {
	p := &proc{}
	p.next, p.stop = iter.Pull(func(yield func(struct{}) bool) {
		p.yield = yield
		f()
	})
	w.procs[p] = struct{}{}
	w.At(w.now, func() { w.resume(p) })
}

// resume runs p until it waits again or ends.
func (w *World) resume(p *proc) {
	if _, alive := w.procs[p]; !alive {
		return
	}
	outer := w.current
	w.current = p
	_, more := p.next()
	w.current = outer
	if !more {
		delete(w.procs, p)
	}
}

// call is what a coroutine waits for; it is a client.Call.
type call struct {
	w       *World
	woken   bool
	waiting *proc
}

// NewCall returns something that a coroutine can wait for.
func (w *World) NewCall() *call { return &call{w: w} }

// Wake lets the coroutine that waits for c go on, at the present time.
func (c *call) Wake() {
	c.woken = true
	if p := c.waiting; p != nil {
		c.waiting = nil
		c.w.At(c.w.now, func() { c.w.resume(p) })
	}
}

// wait suspends the running coroutine until c is woken or, if limit is
// positive, until it has passed. A nil c waits for the time alone.
func (w *World) wait(c *call, limit time.Duration) error {
	p := w.current
	if p == nil {
		panic("sim: a wait outside every coroutine")
	}
	if c == nil {
		c = w.NewCall()
	}
	if !c.woken {
		c.waiting = p
		if limit > 0 {
			w.At(w.now+limit, func() {
				if c.waiting == p {
					c.Wake()
				}
			})
		}
		if !p.yield(struct{}{}) {
			return ErrStopped
		}
	}
	c.woken = false
	return nil
}
