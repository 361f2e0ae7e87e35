package server

import (
	"bytes"
	"net"
	"os"
	"testing"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// stuckConn is a connection whose writes fail with a timeout after half of
// their bytes, as those to a client do that reads again too late.
type stuckConn struct {
	net.Conn
	during func() // called by a write
	writes int
	closed bool
}

func (c *stuckConn) SetWriteDeadline(time.Time) error { return nil }

func (c *stuckConn) Write(b []byte) (int, error) {
	if c.closed {
		return 0, net.ErrClosed
	}
	c.writes++
	c.during()
	return len(b) / 2, os.ErrDeadlineExceeded
}

func (c *stuckConn) Close() error {
	c.closed = true
	return nil
}

// TestNothingFollowsAFailedWrite: what is queued while a write fails is not
// sent behind the gap, by the reader or by the writer, whoever failed.
func TestNothingFollowsAFailedWrite(t *testing.T) {
	for name, send := range map[string]func(*conn){
		"reader first": func(c *conn) { c.answer(); c.write() },
		"writer first": func(c *conn) { c.queue.signal(); c.write(); c.answer() },
		"reader again": func(c *conn) { c.answer(); c.answer() },
	} {
		t.Run(name, func(t *testing.T) {
			opts := Options{}.withDefaults()
			stuck := &stuckConn{}
			c := &conn{server: &Server{opts: opts, loads: newLoadQueue()}, net: stuck, queue: newQueue(opts.QueueBytes, opts.QueueMessages)}
			stuck.during = func() { c.queue.push([]wire.Message{&wire.Pong{Req: 2}}, true) }
			c.queue.push([]wire.Message{&wire.Pong{Req: 1}}, false)
			send(c)
			if stuck.writes != 1 || !stuck.closed {
				t.Fatalf("%d writes, closed %v", stuck.writes, stuck.closed)
			}
		})
	}
}

// TestMuchAskedAtOnce: a client may ask for more at once than may be queued
// for it, as long as it reads the answers.
func TestMuchAskedAtOnce(t *testing.T) {
	const blocks, requests = 256, 16
	s := running(t, Options{QueueBytes: 4 << 20})
	c := pipe(t, s).hello(occ.SessionID{})
	var writes []occ.Write
	var items []wire.ReadItem
	for b := range occ.BlockID(blocks) {
		writes = append(writes, occ.Write{Block: b, Data: bytes.Repeat([]byte{1}, 4096)})
		items = append(items, wire.ReadItem{Block: b, At: occ.Latest, Have: wire.Absent})
	}
	c.committed(nil, writes...)
	var asked []wire.Message
	for range requests {
		asked = append(asked, &wire.Read{Req: c.next(), Items: items})
	}
	c.send(asked...)
	for range requests {
		if r := expect[*wire.ReadReply](c); len(r.Results) != blocks || len(r.Results[blocks-1].Data) != 4096 {
			t.Fatalf("%d results", len(r.Results))
		}
	}
}

// sink is a connection that takes everything.
type sink struct {
	net.Conn
	bytes int
}

func (s *sink) SetWriteDeadline(time.Time) error { return nil }

func (s *sink) Write(b []byte) (int, error) {
	s.bytes += len(b)
	return len(b), nil
}

// TestReaderWaitsForWriter: while the writer sends, the reader leaves a little
// to it, but waits for its turn when much is queued.
func TestReaderWaitsForWriter(t *testing.T) {
	opts := Options{}.withDefaults()
	to := &sink{}
	c := &conn{server: &Server{opts: opts, loads: newLoadQueue()}, net: to, queue: newQueue(opts.QueueBytes, 8)}
	c.sending.Lock() // the writer's turn
	c.queue.push([]wire.Message{&wire.Pong{}, &wire.Pong{}}, false)
	c.answer()
	if to.bytes > 0 || len(c.queue.wake) != 1 {
		t.Fatalf("%d bytes, %d wake-ups", to.bytes, len(c.queue.wake))
	}
	c.queue.push([]wire.Message{&wire.Pong{}}, false)
	if !c.queue.filling() {
		t.Fatal("three of eight are not much")
	}
	answered := make(chan struct{})
	go func() {
		c.answer()
		close(answered)
	}()
	c.sending.Unlock()
	<-answered
	if to.bytes == 0 {
		t.Fatal("the reader did not wait")
	}
}
