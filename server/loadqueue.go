package server

import (
	"slices"
	"sync"

	"github.com/tidemark/tidemark/server/core"
)

// loadQueue are the loads that need the disk. Each connection has a lane of
// its own, and the lanes take turns, so that no connection waits for all that
// another one asked for. The length of a lane is bounded by the core, which
// bounds the reads of a connection that wait for data (Limits.Reads).
type loadQueue struct {
	mu     sync.Mutex
	ready  sync.Cond // with mu
	turns  []*lane   // those that may go on, whose turn is next first
	closed bool
}

// lane are the loads of one connection. A load begins only if its reply will
// have room among what waits to be sent: so a client that asks for much at once
// gets it as fast as it takes it.
type lane struct {
	sends *queue // what waits to be sent

	// With the mu of the loadQueue:
	loads   []parkedLoad // oldest first
	under   int          // loads under way
	loading int          // bytes of their replies
	inTurn  bool         // is among turns
	ended   bool
}

// parkedLoad is a load and the bytes of its reply, at most.
type parkedLoad struct {
	core.Load
	bytes int
}

func newLoadQueue() *loadQueue {
	q := &loadQueue{}
	q.ready.L = &q.mu
	return q
}

// push adds a load to a lane. bytes is the size of its reply at most.
func (q *loadQueue) push(l *lane, e core.Load, bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !l.ended {
		l.loads = append(l.loads, parkedLoad{e, bytes})
		q.consider(l)
	}
}

// next waits for a load, whose lane is to be told by done; ok is false when
// the queue was closed.
func (q *loadQueue) next() (l *lane, e parkedLoad, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for len(q.turns) == 0 && !q.closed {
			q.ready.Wait()
		}
		if q.closed {
			return nil, parkedLoad{}, false
		}
		l = q.turns[0]
		q.turns[0] = nil
		q.turns = q.turns[1:]
		l.inTurn = false
		if !l.mayGoOn() { // more was queued meanwhile
			continue
		}
		e = l.loads[0]
		l.loads[0] = parkedLoad{}
		l.loads = l.loads[1:]
		l.under, l.loading = l.under+1, l.loading+e.bytes
		q.consider(l)
		return l, e, true
	}
}

// done says that a load is no longer under way: its reply, if there is one,
// waits to be sent.
func (q *loadQueue) done(l *lane, e parkedLoad) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l.under, l.loading = l.under-1, l.loading-e.bytes
	q.consider(l)
}

// drained says that less waits to be sent than before.
func (q *loadQueue) drained(l *lane) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.consider(l)
}

// end throws away what waits in a lane, whose connection has ended.
func (q *loadQueue) end(l *lane) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l.ended, l.loads = true, nil
	if l.inTurn {
		l.inTurn = false
		q.turns = slices.DeleteFunc(q.turns, func(other *lane) bool { return other == l })
	}
}

func (q *loadQueue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.ready.Broadcast()
}

// consider gives a lane a turn if it may go on and waits for none. It is called
// whenever that may have changed.
func (q *loadQueue) consider(l *lane) {
	if !l.inTurn && l.mayGoOn() {
		l.inTurn = true
		q.turns = append(q.turns, l)
		q.ready.Signal()
	}
}

// mayGoOn reports whether the oldest load of the lane may begin: its reply
// fits a quarter of what may be queued, with what is queued and what is being
// loaded; or there is nothing of either.
func (l *lane) mayGoOn() bool {
	if len(l.loads) == 0 {
		return false
	}
	bytes, messages := l.sends.size()
	bytes, messages = bytes+l.loading, messages+l.under
	return messages == 0 || bytes+l.loads[0].bytes <= l.sends.maxBytes/4 && messages < l.sends.maxMessages/4
}
