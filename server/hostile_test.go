package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// TestSlowReader: a client that does not read is dropped when what it is told
// unasked fills its queue, and holds up nobody's commit.
func TestSlowReader(t *testing.T) {
	for name, opts := range map[string]Options{
		"bytes":    {QueueBytes: 8 << 10},
		"messages": {QueueMessages: 10},
	} {
		t.Run(name, func(t *testing.T) {
			s := running(t, opts)
			other := pipe(t, s).hello(occ.SessionID{})
			slow := pipe(t, s).hello(occ.SessionID{})
			const blocks = 400 // twice what fits a queue, and what the writer may have taken from it
			for b := range occ.BlockID(blocks) {
				slow.reads(b, 0, "")
			}
			for b := range occ.BlockID(blocks) {
				if at := other.committed(nil, write(b, "x")); at != occ.Timestamp(b)+1 {
					t.Fatalf("committed at %d", at)
				}
			}
			if _, err := slow.conn.Write(wire.Append(nil, &wire.Ping{Req: slow.next()})); err == nil {
				t.Fatal("the slow reader was not dropped")
			}
		})
	}
}

// lenient is the server's end of a connection that has all the time that the
// client may need, until the server's deadlines are enforced.
type lenient struct {
	net.Conn
	mu          sync.Mutex
	enforced    bool
	read, write time.Time
}

func (c *lenient) SetReadDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read = at
	return c.apply()
}

func (c *lenient) SetWriteDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.write = at
	return c.apply()
}

// apply enforces the deadlines, if it is time.
func (c *lenient) apply() error {
	if !c.enforced {
		return nil
	}
	return errors.Join(c.Conn.SetReadDeadline(c.read), c.Conn.SetWriteDeadline(c.write))
}

func (c *lenient) enforce() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.enforced = true
	return c.apply()
}

// lenientPipe is pipe to a server whose deadlines have no effect before enforce
// is called.
func lenientPipe(t *testing.T, s *Server) (c *rawClient, enforce func() error) {
	t.Helper()
	ours, theirs := net.Pipe()
	l := &lenient{Conn: theirs}
	if err := s.ServeConn(l); err != nil {
		t.Fatal(err)
	}
	return newRaw(t, ours), l.enforce
}

// TestNeverReads: of a client that asks for more and more and reads nothing no
// more is read than can be answered, and it is dropped when a write has waited
// too long. The others, who read, are given more time than the server would:
// they share the machine with it.
func TestNeverReads(t *testing.T) {
	s := running(t, Options{WriteTimeout: 10 * time.Millisecond})
	other, _ := lenientPipe(t, s)
	other.hello(occ.SessionID{})
	data := make([]byte, 4096)
	data[4095] = 1
	other.committed(nil, occ.Write{Block: 1, Data: data})
	slow, enforce := lenientPipe(t, s)
	slow.hello(occ.SessionID{}).reads(1, 1, string(data))
	if err := enforce(); err != nil {
		t.Fatal(err)
	}
	for {
		var b []byte
		for range 32 {
			b = wire.Append(b, &wire.Read{Req: slow.next(), Items: []wire.ReadItem{{Block: 1, At: occ.Latest, Have: wire.Absent}}})
		}
		if _, err := slow.conn.Write(b); err != nil {
			var timeout net.Error
			if errors.As(err, &timeout) && timeout.Timeout() {
				t.Fatal("the slow reader was not dropped")
			}
			break
		}
	}
	if at := other.committed(nil, write(1, "two")); at != 2 {
		t.Fatalf("committed at %d", at)
	}
}

// TestPipelinedReads: a client that asks for much at once and reads the
// answers is served whatever the size of its queue.
func TestPipelinedReads(t *testing.T) {
	for name, opts := range map[string]Options{
		"bytes":    {QueueBytes: 16 << 10},
		"messages": {QueueMessages: 8},
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, listen(t, running(t, opts))).hello(occ.SessionID{})
			data := make([]byte, 4096)
			data[4095] = 1
			c.committed(nil, occ.Write{Block: 1, Data: data})
			const reads = 500
			sent := make(chan error, 1)
			var b []byte
			for range reads {
				b = wire.Append(b, &wire.Read{Req: c.next(), Items: []wire.ReadItem{{Block: 1, At: occ.Latest, Have: wire.Absent}}})
			}
			go func() {
				_, err := c.conn.Write(b)
				sent <- err
			}()
			for range reads {
				expect[*wire.ReadReply](c)
			}
			if err := <-sent; err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestSilence: a client that says nothing after its hello is dropped, one that
// pings is not, and the slot of the first is free again.
func TestSilence(t *testing.T) {
	s := running(t, Options{Connections: 1, Limits: wire.Limits{Silence: 20 * time.Millisecond}})
	addr := listen(t, s)
	silent := dial(t, addr).hello(occ.SessionID{})
	if _, err := silent.reader.Next(); !errors.Is(err, io.EOF) {
		t.Fatalf("the silent client got %v", err)
	}
	begun := time.Now()
	for welcomed := false; !welcomed; { // the slot is free just after the connection has ended
		if time.Since(begun) > patience {
			t.Fatal("the slot is not free again")
		}
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		c := newRaw(t, nc)
		_, _ = nc.Write(wire.Append(nil, &wire.Hello{Req: c.next(), Version: wire.Version})) // which may have refused it
		m, _ := c.receive()
		_, welcomed = m.(*wire.Welcome)
		nc.Close()
	}
}

// TestGarbage: bytes that are no messages end the connection, which is told
// why where that makes sense; others do not notice.
func TestGarbage(t *testing.T) {
	s := running(t, Options{})
	addr := listen(t, s)
	other := dial(t, addr).hello(occ.SessionID{})
	for name, c := range map[string]struct {
		bytes []byte
		code  wire.ErrorCode // 0: nothing is told
	}{
		"not a frame":      {[]byte("GET / HTTP/1.1\r\n\r\n" + string(make([]byte, 100))), wire.CodeMalformed},
		"huge frame":       {[]byte{0xff, 0xff, 0xff, 0xff, 0x7f, 1}, wire.CodeTooLarge},
		"server's message": {wire.Append(nil, &wire.Pong{Req: 1}), wire.CodeMalformed},
		"before hello":     {wire.Append(nil, &wire.Ping{Req: 1}), wire.CodeMalformed},
		"cut off":          {wire.Append(nil, &wire.Hello{Req: 1, Version: wire.Version})[:5], 0},
	} {
		t.Run(name, func(t *testing.T) {
			bad := dial(t, addr)
			if _, err := bad.conn.Write(c.bytes); err != nil {
				t.Fatal(err)
			}
			if c.code == 0 {
				bad.conn.(*net.TCPConn).CloseWrite()
			}
			told := bad.ended()
			if c.code == 0 && told != nil || c.code != 0 && (told == nil || told.Code != c.code) {
				t.Fatalf("told %+v, want code %d", told, c.code)
			}
		})
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		bad := dial(t, addr)
		b := make([]byte, rng.IntN(200))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		bad.conn.Write(b)
		bad.conn.(*net.TCPConn).CloseWrite()
		bad.ended()
	}
	other.committed(nil, write(1, "x"))
}

// TestConnectionLimit: one connection too many is told so.
func TestConnectionLimit(t *testing.T) {
	s := running(t, Options{Connections: 1})
	addr := listen(t, s)
	a := dial(t, addr).hello(occ.SessionID{})
	if told := dial(t, addr).ended(); told == nil || told.Code != wire.CodeBusy {
		t.Fatalf("told %+v", told)
	}
	ours, theirs := net.Pipe()
	defer ours.Close()
	if err := s.ServeConn(theirs); !errors.Is(err, ErrTooManyConnections) {
		t.Fatalf("ServeConn: %v", err)
	}
	a.committed(nil, write(1, "x"))
}

// TestHandshakeTimeout: a connection that says nothing ends; one that has
// said hello may be silent.
func TestHandshakeTimeout(t *testing.T) {
	s := running(t, Options{Handshake: 50 * time.Millisecond})
	polite, enforce := lenientPipe(t, s)
	polite.hello(occ.SessionID{})
	if err := enforce(); err != nil {
		t.Fatal(err)
	}
	pipe(t, s).ended()
	polite.settled()
}

// TestHalfMessage: a message that does not end ends the connection, and the log
// says why; silence between messages does not.
func TestHalfMessage(t *testing.T) {
	var log logged
	s := running(t, Options{ReadTimeout: 50 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	idle := pipe(t, s).hello(occ.SessionID{})
	frame := wire.Append(nil, &wire.Read{Req: 300, Items: make([]wire.ReadItem, 300)})
	for _, n := range []int{1, len(frame) - 1} {
		a := pipe(t, s).hello(occ.SessionID{})
		_, _ = a.conn.Write(frame[:n]) // the server may not wait for all of it
		a.ended()
	}
	if text := log.String(); strings.Count(text, "i/o timeout") != 2 {
		t.Errorf("the log does not say why: %s", text)
	}
	idle.settled()
}

// logged keeps what is logged.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestFencing: a second connection of a session ends the first.
func TestFencing(t *testing.T) {
	s := running(t, Options{})
	a := pipe(t, s).hello(occ.SessionID{})
	b := pipe(t, s).hello(a.welcome.Session)
	a.ended()
	if b.welcome.Session != a.welcome.Session {
		t.Fatalf("%+v", b.welcome)
	}
	b.committed(nil, write(1, "x"))
}

// TestShutdownDoesNotWait: a client that does not read delays an orderly stop
// only until the context ends.
func TestShutdownDoesNotWait(t *testing.T) {
	s := running(t, Options{WriteTimeout: time.Hour})
	a := pipe(t, s).hello(occ.SessionID{})
	a.send(&wire.Ping{Req: a.next()})
	if _, err := a.conn.Read(make([]byte, 1)); err != nil { // the rest is never read
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	select {
	case <-s.Done():
	default:
		t.Fatal("not done")
	}
}

// TestCounters has clients increment shared counters, retrying conflicts: no
// increment is lost.
func TestCounters(t *testing.T) {
	const clients, increments, counters = 6, 20, 3
	s := running(t, Options{})
	addr := listen(t, s)
	var all sync.WaitGroup
	for i := range clients {
		c := dial(t, addr).hello(occ.SessionID{})
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 4))
			for range increments {
				for !c.increment(occ.BlockID(rng.IntN(counters))) {
				}
			}
		})
	}
	all.Wait()
	total := 0
	c := dial(t, addr).hello(occ.SessionID{})
	for b := range occ.BlockID(counters) {
		total += len(c.read(b).Data)
	}
	if total != clients*increments {
		t.Fatalf("%d increments, want %d", total, clients*increments)
	}
}

// increment makes a block longer by one byte; false if it conflicted. Other
// messages than the answer are deprecations.
func (c *rawClient) increment(b occ.BlockID) bool {
	c.send(&wire.Read{Req: c.next(), Items: []wire.ReadItem{{Block: b, At: occ.Latest, Have: wire.Absent}}})
	for {
		m, err := c.receive()
		if err != nil {
			c.t.Error(err)
			return true
		}
		switch m := m.(type) {
		case *wire.ReadReply:
			r := m.Results[0]
			c.send(c.commit([]occ.Read{{Block: b, From: r.From}}, occ.Write{Block: b, Data: append(r.Data, 1)}))
		case *wire.Conflict:
			return false
		case *wire.Items:
			if slices.ContainsFunc(m.Items, func(it wire.Item) bool { return it.Kind == wire.ItemCommitted }) {
				return true
			}
		}
	}
}
