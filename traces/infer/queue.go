package infer

import "github.com/tidemark/tidemark/traces"

// step is what is held back until its turn: a whole transaction of one line,
// or the begin, an operation or the end of an open.
type step struct {
	what  what
	id    TxID  // of a transaction of one line
	open  *open // else the open
	op    traces.Op
	waits []TxID
}

type what uint8

const (
	single what = iota
	openBegins
	openDoes
	openEnds // op has nothing but the time
)

// queue is a ring of steps that grows as needed.
type queue struct {
	ring []step // a power of two long
	head int
	size int
}

func (q *queue) push(s step) {
	if q.size == len(q.ring) {
		bigger := make([]step, max(64, 2*len(q.ring)))
		n := copy(bigger, q.ring[q.head:])
		copy(bigger[n:], q.ring[:q.head])
		q.ring, q.head = bigger, 0
	}
	q.ring[(q.head+q.size)&(len(q.ring)-1)] = s
	q.size++
}

// front returns the oldest step, valid until the next push.
func (q *queue) front() *step { return &q.ring[q.head] }

func (q *queue) pop() step {
	s := q.ring[q.head]
	q.ring[q.head] = step{} // lets go of what it points to
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.size--
	return s
}
