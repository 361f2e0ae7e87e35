package server

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// incoming is what a client sends. It may be silent between messages for a
// while, as an idle client is, which pings now and then; less long within a
// message, and before the first.
type incoming struct {
	conn    net.Conn
	limit   time.Duration // for each maxWrite bytes of a message to arrive, once it has begun
	silence time.Duration // between messages; 0 for ever
	partial func() bool   // whether part of a message has arrived

	phase   phase
	set     time.Time // when the deadline was set
	arrived int       // bytes since then
}

// phase says what is waited for.
type phase uint8

const (
	forFirst phase = iota // the first message
	forNext               // another message
	forRest               // the rest of a message
)

// within sets the deadline for the first message.
func (in *incoming) within(d time.Duration) { in.conn.SetReadDeadline(time.Now().Add(d)) }

// greeted says that the first message has come.
func (in *incoming) greeted() { in.phase, in.set = forNext, time.Time{} }

// Read implements io.Reader.
func (in *incoming) Read(b []byte) (int, error) {
	if in.phase != forFirst {
		in.renew()
	}
	n, err := in.conn.Read(b)
	in.arrived += n
	if in.phase == forNext && errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("the client was silent for %v: %w", in.silence, err)
	}
	return n, err
}

// renew sets the deadline for what is waited for now. Between messages it need
// not be exact, and is left alone if it is young.
func (in *incoming) renew() {
	next := forNext
	if in.partial() {
		next = forRest
	}
	now := time.Now()
	switch {
	case next != in.phase || in.set.IsZero():
	case next == forRest && in.arrived >= maxWrite:
	case next == forNext && in.silence > 0 && now.Sub(in.set) > in.silence/8:
	default:
		return
	}
	in.phase, in.set, in.arrived = next, now, 0
	var until time.Time
	if next == forRest {
		until = now.Add(in.limit)
	} else if in.silence > 0 {
		until = now.Add(in.silence)
	}
	in.conn.SetReadDeadline(until)
}
