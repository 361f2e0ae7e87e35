package client

import (
	"context"
	"time"
)

// Transport carries frames between one DB and a server, and is the one place
// where a transaction waits. TCP and in-process connections block a goroutine
// there; a simulator suspends a coroutine.
type Transport interface {
	// Send queues a frame, which it copies, behind those sent before. It
	// never waits: what is queued is bounded by the requests that a DB can
	// have under way. After the connection is lost it does nothing.
	Send(frame []byte)
	// NewCall returns something to wait for.
	NewCall() Call
	// Await returns nil when c has been woken since it was last awaited,
	// ctx's error when ctx ends first, or nil after limit, if that is
	// positive. A nil c only waits for the time to pass.
	Await(ctx context.Context, c Call, limit time.Duration) error
	// Close ends the connection and returns when nothing of the transport
	// runs any more. The receiver hears of it through Lost, unless it has
	// heard already. A second Close does nothing.
	Close() error
}

// Call is what one transaction at a time waits for. Wake may be called from
// anywhere, any number of times, and does not block; a Wake before the wait
// is not lost.
type Call interface{ Wake() }

// Receiver is the DB's side of a connection. A Transport calls its methods
// from one goroutine at a time, in the order of the frames.
type Receiver interface {
	// Receive takes one frame without its length prefix. It does not keep
	// body. After an error the transport gives the connection up.
	Receive(body []byte) error
	// Lost says, once, that nothing more will come.
	Lost(cause error)
}

// Connect opens a connection on which frames that arrive go to r.
type Connect func(ctx context.Context, r Receiver) (Transport, error)
