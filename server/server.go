package server

import (
	"cmp"
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/core"
	"github.com/tidemark/tidemark/server/record"
)

var (
	// ErrStopped: the server is stopping or has stopped.
	ErrStopped = errors.New("server: stopped")
	// ErrTooManyConnections: Options.Connections are open already.
	ErrTooManyConnections = errors.New("server: too many connections")
)

// Server serves one store. Its methods may be called from any goroutine.
type Server struct {
	opts    Options
	storage *storage
	begun   time.Time // the zero of the core's clock

	loads   *loadQueue
	bases   *baseRoom
	appends chan []record.Record // the group to be made durable; at most one
	stop    chan struct{}        // closed by Shutdown
	done    chan struct{}        // closed by the last owner

	owner sync.Mutex // whoever holds it is the owner of what follows

	core        *core.Core
	values      values
	checkpoints checkpoints
	conns       map[core.ConnID]*conn
	dirty       []*conn // with outgoing messages
	delayed     bool    // the group that forms waits for Options.CommitDelay
	cause       error   // why the server is to end, once effects are carried out
	finishing   bool    // ends when nothing is under way
	ended       bool
	err         error // why it ended, nil for an orderly stop; read after done

	goroutines sync.WaitGroup // all but Serve
	closing    sync.Once
	closeErr   error

	mu struct {
		sync.Mutex
		stopping  bool
		listeners []net.Listener // being served, oldest first
		open      map[*conn]struct{}
		lastConn  core.ConnID
	}
}

func newServer(opts Options, st *storage) *Server {
	s := &Server{
		opts:    opts,
		storage: st,
		begun:   time.Now(),
		appends: make(chan []record.Record, 1),
		stop:    make(chan struct{}),
		done:    make(chan struct{}),
		loads:   newLoadQueue(),
		bases:   newBaseRoom(),
		core:    core.New(opts.core(st)),
		values:  make(memoryValues),
		conns:   make(map[core.ConnID]*conn),
	}
	if st.blocks != nil {
		s.values = diskValues{st.blocks, opts.Logger}
		s.checkpoints.due, s.checkpoints.room = make(chan struct{}, 1), make(chan struct{}, 1)
	}
	s.mu.open = make(map[*conn]struct{})
	return s
}

// start ends the recovery and starts the goroutines. Nobody is served before it
// returns. After an error none runs.
func (s *Server) start() error {
	if s.enter() {
		s.core.Start(s.clock())
		s.core.Flush()
		s.leaveAsItIs(nil)
	}
	if err := s.firstCheckpoint(); err != nil {
		return err
	}
	for range logWriters {
		s.goroutines.Go(s.writeLog)
	}
	s.goroutines.Go(s.keepTime)
	if s.storage.blocks != nil {
		s.goroutines.Go(s.keepBlocks)
		for range loaders {
			s.goroutines.Go(s.loadFromDisk)
		}
	}
	return nil
}

// Serve accepts connections on l until the server stops, and closes l. It
// returns nil after an orderly stop, the failure of the log, or that of l.
// Several listeners may be served at once.
func (s *Server) Serve(l net.Listener) error {
	if !s.addListener(l) {
		<-s.done
		return errors.Join(cmp.Or(s.err, ErrStopped), l.Close())
	}
	defer s.removeListener(l)
	for {
		nc, err := l.Accept()
		switch {
		case err == nil:
			s.accepted(nc)
		case s.isStopping():
			<-s.done
			return s.err
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ECONNABORTED):
			s.opts.Logger.Warn("accept", "error", err)
			select { // others may close something meanwhile
			case <-time.After(50 * time.Millisecond):
			case <-s.stop:
			}
		default:
			return err
		}
	}
}

// accepted serves a connection of a listener, or tells the client why not.
func (s *Server) accepted(nc net.Conn) {
	err := s.ServeConn(nc)
	if err == nil {
		return
	}
	s.opts.Logger.Warn("connection refused", "from", nc.RemoteAddr(), "error", err)
	code := wire.CodeBusy
	if errors.Is(err, ErrStopped) {
		code = wire.CodeStopping
	}
	nc.SetWriteDeadline(time.Now().Add(time.Second)) // it fits the socket's buffer
	nc.Write(wire.Append(nil, &wire.Error{Code: code, Text: err.Error()}))
	nc.Close()
}

// ServeConn serves one client on nc in the background, until either side
// closes it; the server then closes nc. After an error nc is the caller's.
func (s *Server) ServeConn(nc net.Conn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.stopping {
		return ErrStopped
	}
	if len(s.mu.open) >= s.opts.Connections {
		return ErrTooManyConnections
	}
	s.mu.lastConn++
	c := &conn{server: s, id: s.mu.lastConn, net: nc, queue: newQueue(s.opts.QueueBytes, s.opts.QueueMessages)}
	c.lane.sends = c.queue
	s.mu.open[c] = struct{}{}
	s.goroutines.Go(func() {
		var writer sync.WaitGroup
		writer.Go(c.write)
		if !s.opened(c) || !c.read() {
			c.queue.close() // else the last owner does, which may have a last word
		}
		writer.Wait()
		s.mu.Lock()
		delete(s.mu.open, c)
		s.mu.Unlock()
	})
	return nil
}

// Addr is the address of the listener that has been served longest, nil if
// none is.
func (s *Server) Addr() net.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.mu.listeners) == 0 {
		return nil
	}
	return s.mu.listeners[0].Addr()
}

// Done is closed when the server has stopped, by Shutdown or by a failure;
// Err then says which.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err returns why the server stopped: nil while it has not and after an
// orderly stop.
func (s *Server) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

// Shutdown stops the server in an orderly way: it accepts nothing new, waits
// until what was validated is durable and answered, closes the connections,
// makes a checkpoint and releases the store. When ctx ends first, connections are closed without
// waiting for what is queued to be sent. Shutdown returns when every goroutine
// has ended; only the first call stops, all wait. It must also be called after
// a failure, to release the store.
func (s *Server) Shutdown(ctx context.Context) error {
	s.beginStop()
	ended := make(chan struct{})
	go func() {
		s.goroutines.Wait()
		close(ended)
	}()
	var err error
	select {
	case <-ended:
	case <-ctx.Done():
		err = ctx.Err()
		s.abortConns()
		<-ended
	}
	s.closing.Do(func() { s.closeErr = errors.Join(s.lastCheckpoint(ctx), s.storage.close()) })
	return errors.Join(err, s.closeErr)
}

// beginStop stops accepting and has the core told to finish.
func (s *Server) beginStop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.stopping {
		return
	}
	s.mu.stopping = true
	close(s.stop)
	for _, l := range s.mu.listeners {
		l.Close()
	}
}

// abortConns closes all connections at once.
func (s *Server) abortConns() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.mu.open {
		c.net.Close()
	}
}

func (s *Server) isStopping() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.stopping
}

func (s *Server) addListener(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.stopping {
		return false
	}
	s.mu.listeners = append(s.mu.listeners, l)
	return true
}

func (s *Server) removeListener(l net.Listener) {
	l.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.listeners = slices.DeleteFunc(s.mu.listeners, func(other net.Listener) bool { return other == l })
}
