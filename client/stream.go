package client

import (
	"context"
	"errors"
	"net"
	"runtime"
	"sync"
	"time"

	"github.com/tidemark/tidemark/occ/wire"
)

// writeTimeout is about how long the server may take to read maxWrite bytes
// before the connection counts as lost.
const writeTimeout = 30 * time.Second

// keepBuffer is the largest output buffer that is kept for the next write.
const keepBuffer = 256 << 10

// stream is the Transport over a byte stream: TCP, or a pipe inside the
// process. One goroutine writes everything that was queued in one go, one
// reads and hands the frames over.
type stream struct {
	conn     net.Conn
	silence  time.Duration
	receiver Receiver
	wg       sync.WaitGroup
	queued   chan struct{} // capacity 1: something is in out, or closed is set
	renew    time.Time     // when the writer is to renew its deadline

	mu struct {
		sync.Mutex
		out    []byte
		closed bool
	}
}

func newStream(conn net.Conn, r Receiver, silence time.Duration) *stream {
	s := &stream{conn: conn, silence: silence, receiver: r, queued: make(chan struct{}, 1)}
	s.wg.Add(2)
	go s.write()
	go s.read()
	return s
}

// Dial connects to a server's TCP address.
func dialTCP(addr string, silence time.Duration) Connect {
	return func(ctx context.Context, r Receiver) (Transport, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", addr)
		if err != nil {
			return nil, err
		}
		return newStream(conn, r, silence), nil
	}
}

func (s *stream) Send(frame []byte) {
	s.mu.Lock()
	if !s.mu.closed {
		s.mu.out = append(s.mu.out, frame...)
	}
	s.mu.Unlock()
	s.signal()
}

func (s *stream) signal() {
	select {
	case s.queued <- struct{}{}:
	default:
	}
}

func (s *stream) write() {
	defer s.wg.Done()
	var spare []byte
	for range s.queued {
		// Whoever else is about to queue something, because one message woke
		// several transactions, does so first: one write takes it all.
		runtime.Gosched()
		s.mu.Lock()
		out, closed := s.mu.out, s.mu.closed
		s.mu.out = spare // the two buffers swap: each has one owner at a time
		s.mu.Unlock()
		if closed {
			return
		}
		if len(out) > 0 {
			if err := s.writeAll(out); err != nil {
				s.shut() // the reader tells the receiver
				return
			}
		}
		if spare = out[:0]; cap(spare) > keepBuffer {
			spare = nil
		}
	}
}

// maxWrite is what is written under one deadline, in bytes.
const maxWrite = 1 << 20

// writeAll writes p, for each part of which the server has writeTimeout, or an
// eighth less: a deadline that is set for each write is dear.
func (s *stream) writeAll(p []byte) error {
	for len(p) > 0 {
		n := min(len(p), maxWrite)
		if now := time.Now(); now.After(s.renew) {
			if err := s.conn.SetWriteDeadline(now.Add(writeTimeout)); err != nil {
				return err
			}
			s.renew = now.Add(writeTimeout / 8)
		}
		if _, err := s.conn.Write(p[:n]); err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

func (s *stream) read() {
	defer s.wg.Done()
	r := wire.NewReader(&listener{conn: s.conn, silence: s.silence}, wire.MaxFrame)
	for {
		body, err := r.Next()
		if err == nil {
			err = s.receiver.Receive(body)
		}
		if err != nil {
			s.shut()
			s.receiver.Lost(err)
			return
		}
	}
}

// listener reads from a connection that counts as lost when nothing has come
// for about silence.
type listener struct {
	conn    net.Conn
	silence time.Duration
	renew   time.Time
}

func (l *listener) Read(p []byte) (int, error) {
	if now := time.Now(); now.After(l.renew) {
		if err := l.conn.SetReadDeadline(now.Add(l.silence)); err != nil {
			return 0, err
		}
		l.renew = now.Add(l.silence / 4)
	}
	return l.conn.Read(p)
}

// shut ends both goroutines.
func (s *stream) shut() {
	s.mu.Lock()
	closed := s.mu.closed
	s.mu.closed = true
	s.mu.out = nil
	s.mu.Unlock()
	if !closed {
		s.conn.Close()
	}
	s.signal()
}

func (s *stream) Close() error {
	s.shut()
	s.wg.Wait()
	return nil
}

// chanCall is the Call of a goroutine.
type chanCall chan struct{}

func (c chanCall) Wake() {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (s *stream) NewCall() Call { return make(chanCall, 1) }

func (s *stream) Await(ctx context.Context, c Call, limit time.Duration) error {
	var woken chanCall
	if c != nil {
		woken = c.(chanCall)
	}
	var timeout <-chan time.Time
	if limit > 0 {
		t := time.NewTimer(limit)
		defer t.Stop()
		timeout = t.C
	}
	done := ctx.Done()
	if done == nil && timeout == nil {
		<-woken
		return nil
	}
	select {
	case <-woken:
		return nil
	case <-timeout:
		return nil
	case <-done:
		return context.Cause(ctx)
	}
}

// Backend is a server in this process, such as *server.Server.
type Backend interface {
	// ServeConn serves one client on conn, in the background, until either
	// side closes it.
	ServeConn(conn net.Conn) error
}

// localPipe connects to a server in this process.
func localPipe(b Backend, silence time.Duration) Connect {
	return func(_ context.Context, r Receiver) (Transport, error) {
		ours, theirs := net.Pipe()
		if err := b.ServeConn(theirs); err != nil {
			return nil, errors.Join(err, ours.Close(), theirs.Close())
		}
		return newStream(ours, r, silence), nil
	}
}
