package server

import (
	"sync"

	"github.com/tidemark/tidemark/occ/wire"
)

// queue is what waits to be sent on one connection. The owner of the core
// pushes; whoever sends takes everything at once.
type queue struct {
	maxBytes, maxMessages int
	wake                  chan struct{} // capacity 1

	mu struct {
		sync.Mutex
		messages []wire.Message
		bytes    int
		closed   bool
	}
}

func newQueue(maxBytes, maxMessages int) *queue {
	return &queue{maxBytes: maxBytes, maxMessages: maxMessages, wake: make(chan struct{}, 1)}
}

// push appends messages and reports whether there was room for them. wake is
// false if the caller sends them itself.
func (q *queue) push(messages []wire.Message, wake bool) bool {
	bytes := 0
	for _, m := range messages {
		bytes += estimate(m)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.mu.closed {
		return true // nobody will miss them
	}
	if q.mu.bytes+bytes > q.maxBytes || len(q.mu.messages)+len(messages) > q.maxMessages {
		return false
	}
	q.mu.bytes += bytes
	q.mu.messages = append(q.mu.messages, messages...)
	if wake {
		q.signal()
	}
	return true
}

// close lets the writer end once it has sent what is queued.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.mu.closed = true
	q.signal()
}

// filling reports whether more than a quarter of what may be queued is: the
// answers to what is read then have to wait. The rest is for what the client
// did not ask for.
func (q *queue) filling() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.mu.bytes > q.maxBytes/4 || len(q.mu.messages) > q.maxMessages/4
}

// size is how much is queued.
func (q *queue) size() (bytes, messages int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.mu.bytes, len(q.mu.messages)
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take exchanges spare, an empty slice, for all that is queued. done says
// that nothing will follow.
func (q *queue) take(spare []wire.Message) (messages []wire.Message, done bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	messages = q.mu.messages
	q.mu.messages, q.mu.bytes = spare, 0
	return messages, q.mu.closed
}

// What a message takes besides its parts, and the result of a read besides its
// data: package core counts the same when it makes Limits.ReadBlocks fit.
const (
	messageBytes = 64
	resultBytes  = 64
)

// estimate is about what a message takes in memory and on the wire, in bytes.
func estimate(m wire.Message) int {
	n := messageBytes
	switch m := m.(type) {
	case *wire.ReadReply:
		for i := range m.Results {
			n += resultBytes + len(m.Results[i].Data)
		}
	case *wire.Items:
		n += 40 * len(m.Items)
	case *wire.Conflict:
		n += 16 * len(m.Blocks)
	case *wire.ChangesReply:
		n += 16 * len(m.Blocks)
	case *wire.PinsReply:
		for i := range m.Pins {
			n += 40 + len(m.Pins[i].Name)
		}
	case *wire.StatusReply:
		n += 40 * len(m.Values)
	}
	return n
}
