package sim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/core"
)

// Options are the parameters of the simulated world. The zero value of a
// field takes its default.
type Options struct {
	// Latency is one way between client and server, 0.5 ms by default.
	Latency time.Duration
	// LogSync is how long the log takes to make a group durable, 1 ms by
	// default. It is never 0: otherwise nothing would ever be pending.
	LogSync time.Duration
	// Bandwidth is bytes per second in each direction of a connection, 0
	// for no limit.
	Bandwidth float64
	// BlockSize is the store's block size in bytes, 4096 by default.
	BlockSize int
	// Retention is how long superseded versions stay readable.
	Retention time.Duration
	// MemoryBytes bounds the simulated server's values.
	MemoryBytes int64
	// Applied, if set, is told when a stable timestamp was reached.
	Applied func(at time.Duration, stable occ.Timestamp)
	// Faults breaks rules on purpose.
	Faults occ.Faults
}

// WithDefaults returns the options with defaults for what is zero.
func (o Options) WithDefaults() Options {
	if o.Latency == 0 {
		o.Latency = 500 * time.Microsecond
	}
	if o.LogSync <= 0 {
		o.LogSync = time.Millisecond
	}
	if o.BlockSize == 0 {
		o.BlockSize = core.DefaultBlockSize
	}
	return o
}

// Server is a server core in a World: its effects are carried out on a
// simulated network, a log that takes its time and values in memory.
type Server struct {
	w        *World
	o        Options
	core     *core.Core
	links    map[core.ConnID]*link
	lastConn core.ConnID
	values   map[core.Ref][]byte
	ranges   map[core.Ref]int // bytes in the ranges from which a value was made, if it was
	stable   occ.Timestamp
	logBytes uint64
	err      error
}

// NewServer puts a server with an empty store into w.
func NewServer(w *World, o Options) *Server {
	o = o.WithDefaults()
	s := &Server{w: w, o: o, links: make(map[core.ConnID]*link), values: make(map[core.Ref][]byte), ranges: make(map[core.Ref]int)}
	sessions := uint64(0)
	s.core = core.New(core.Config{
		Store: occ.StoreID{'s', 'i', 'm'}, Epoch: 1, BlockSize: uint64(o.BlockSize),
		Retention: o.Retention, MemoryBytes: o.MemoryBytes, Faults: o.Faults,
		NewSession: func() (id occ.SessionID) {
			sessions++
			binary.BigEndian.PutUint64(id[8:], sessions)
			return id
		},
	})
	s.core.Start(w.now)
	s.perform()
	w.Every(time.Second, func() {
		s.core.Tick(w.now)
		for s.core.Sweep() {
			s.perform()
		}
		s.perform()
	})
	return s
}

// Err is the first thing that went wrong inside the simulated server.
func (s *Server) Err() error { return s.err }

// LogBytes is the size of all records that were logged.
func (s *Server) LogBytes() uint64 { return s.logBytes }

// Stable is the server's stable timestamp.
func (s *Server) Stable() occ.Timestamp { return s.stable }

// ValueBytes is the size of a version's data without trailing zeros.
func (s *Server) ValueBytes(b occ.BlockID, from occ.Timestamp) int {
	return len(s.values[core.Ref{Block: b, From: from}])
}

// SentBytes is the size of the data of the write that made a version.
func (s *Server) SentBytes(b occ.BlockID, from occ.Timestamp) int {
	if n, ok := s.ranges[core.Ref{Block: b, From: from}]; ok {
		return n
	}
	return s.ValueBytes(b, from)
}

// put keeps a version.
func (s *Server) put(p core.Put) {
	s.values[p.Ref()] = p.Value(s.value)
	if p.Ranges != nil {
		n := 0
		for _, r := range p.Ranges {
			n += len(r.Data)
		}
		s.ranges[p.Ref()] = n
	}
}

func (s *Server) value(r core.Ref) []byte { return s.values[r] }

func (s *Server) fail(err error) { s.err = errors.Join(s.err, err) }

// receive takes in a frame that has arrived from a client.
func (s *Server) receive(l *link, frame []byte) {
	if s.links[l.id] != l {
		return
	}
	body, _, err := wire.SplitFrame(frame, wire.MaxFrame)
	var m wire.Message
	if err == nil {
		m, err = wire.Decode(body)
	}
	if err != nil {
		s.fail(fmt.Errorf("frame from a client: %w", err))
		return
	}
	s.core.Receive(l.id, m)
	s.perform()
}

// perform carries out the core's effects, in order, until there are none.
func (s *Server) perform() {
	s.core.Flush()
	for effects := s.core.Take(); len(effects) > 0; effects = s.core.Take() {
		for _, e := range effects {
			switch e := e.(type) {
			case core.Send:
				s.send(e)
			case core.Put:
				s.put(e)
			case core.Drop:
				delete(s.values, core.Ref(e))
				delete(s.ranges, core.Ref(e))
			case core.Load:
				s.loaded(e)
			case core.Append:
				s.logBytes += uint64(e.Bytes)
				s.w.At(s.w.now+s.o.LogSync, s.durable)
			case core.Hangup:
				s.hangup(e)
			}
		}
		s.core.Flush()
	}
}

func (s *Server) send(e core.Send) {
	if l := s.links[e.Conn]; l != nil {
		l.toClient(e.Message)
	}
}

func (s *Server) loaded(e core.Load) {
	data := make([][]byte, len(e.Refs))
	for i, r := range e.Refs {
		data[i] = s.values[r]
	}
	s.core.Loaded(e.ID, data)
}

func (s *Server) durable() {
	s.core.Durable()
	if t := s.core.Stable(); t != s.stable {
		s.stable = t
		if s.o.Applied != nil {
			s.o.Applied(s.w.now, t)
		}
	}
	s.perform()
}

func (s *Server) hangup(e core.Hangup) {
	l := s.links[e.Conn]
	if l == nil {
		return
	}
	s.fail(fmt.Errorf("the server hung up connection %d: %s", e.Conn, e.Reason))
	l.cut()
	l.receiver.Lost(errors.New(e.Reason))
}
