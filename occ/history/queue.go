package history

import "github.com/tidemark/tidemark/occ"

// queue hands out its items by timestamp, equal ones in the order in which
// they were put in. It is a binary heap.
type queue[T any] struct {
	heap []queued[T]
	seq  uint64
}

type queued[T any] struct {
	at   occ.Timestamp
	seq  uint64
	item T
}

func (a queued[T]) less(b queued[T]) bool {
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}

func (q *queue[T]) len() int { return len(q.heap) }

// min returns the smallest timestamp; the queue must not be empty.
func (q *queue[T]) min() occ.Timestamp { return q.heap[0].at }

func (q *queue[T]) push(at occ.Timestamp, item T) {
	q.heap = append(q.heap, queued[T]{at, q.seq, item})
	q.seq++
	h := q.heap
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h[i].less(h[parent]) {
			return
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

// pop removes the first item; the queue must not be empty.
func (q *queue[T]) pop() T {
	h := q.heap
	first, n := h[0].item, len(h)-1
	h[0], h[n] = h[n], queued[T]{}
	h = h[:n]
	q.heap = h
	for i := 0; ; {
		child := 2*i + 1
		if child >= n {
			return first
		}
		if child+1 < n && h[child+1].less(h[child]) {
			child++
		}
		if !h[child].less(h[i]) {
			return first
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
