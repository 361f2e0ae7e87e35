package server

import (
	"net"
	"time"
)

// incoming is what a client sends. It may be silent between messages, as an
// idle client is, but not within one, nor before the first.
type incoming struct {
	conn    net.Conn
	limit   time.Duration // for one message to arrive, once it has begun
	partial func() bool   // whether part of a message has arrived
	waiting bool          // there is a deadline
	first   bool          // it is the one for the first message
}

// within sets the deadline for the first message.
func (in *incoming) within(d time.Duration) {
	in.first, in.waiting = true, true
	in.conn.SetReadDeadline(time.Now().Add(d))
}

// greeted says that the first message has come.
func (in *incoming) greeted() { in.first = false }

// Read implements io.Reader.
func (in *incoming) Read(b []byte) (int, error) {
	if partial := in.partial(); !in.first && partial != in.waiting {
		in.waiting = partial
		var until time.Time
		if partial {
			until = time.Now().Add(in.limit)
		}
		in.conn.SetReadDeadline(until)
	}
	return in.conn.Read(b)
}
