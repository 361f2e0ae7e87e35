package core

import (
	"errors"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/history"
	"github.com/tidemark/tidemark/occ/wire"
)

// Config is what a Core is told once.
type Config struct {
	// CacheBytes bounds the cache: block data plus a fixed overhead for each
	// version. What running transactions have read comes on top.
	CacheBytes int64
	// NoActiveAborts lets a doomed read/write transaction run on until the
	// server refuses it; opacity is then not promised (section 2, point 5).
	NoActiveAborts bool
	// Client is the number under which events are recorded.
	Client int
	// Recorder, if set, receives every finished transaction and attempt.
	Recorder history.Recorder
	// Now is asked for the local time only when an event is recorded.
	Now func() time.Duration
	// Faults breaks rules on purpose, in tests.
	Faults occ.Faults
}

// Core is a client library instance's state. See the package comment.
type Core struct {
	cfg       Config
	blockSize int
	limits    wire.Limits
	zeros     []byte // what an empty block reads as

	// The stream: what the current connection vouches for.
	glub      occ.Timestamp
	requests  map[uint64]*request
	fetches   map[fetchKey]*fetch
	abandoned int      // waits that ended before their answer, since the last sweep
	latest    *request // the newest request under way that will make a sync point
	lastReq   uint64
	out       []wire.Message
	online    bool
	// cannotRead says that the server ended the connection over something it
	// could not read, and perhaps never will.
	cannotRead bool
	awaiting   []Waker // who waits for a server

	// The session, and the store as the server last welcomed the client to
	// it.
	session  occ.SessionID
	store    occ.StoreID
	epoch    uint64
	inFlight []*Tx // commits queued on lost connections, by their numbers
	held     []heldCommit
	changed  *StoreChange

	floor occ.Timestamp
	syncs syncPoints
	cache *cache

	running      Tx // sentinel of the list of running transactions
	runningCount int
	closes       uint64 // counts the closed versions that transactions had read
	seq          uint64 // orders begins and ends, for the history

	commits commitNumbers
	ids     idPool
	stats   Stats
}

// New returns the Core of a client that is not connected yet.
func New(cfg Config) *Core {
	c := &Core{cfg: cfg, limits: wire.DefaultLimits()}
	c.cache = newCache(cfg.CacheBytes, &c.stats)
	c.requests = make(map[uint64]*request)
	c.fetches = make(map[fetchKey]*fetch)
	c.running.prev, c.running.next = &c.running, &c.running
	return c
}

// GLUB is the newest stable timestamp that the client knows of.
func (c *Core) GLUB() occ.Timestamp { return c.glub }

// Floor is the causality floor: no later transaction of this client runs
// below it (section 5).
func (c *Core) Floor() occ.Timestamp { return c.floor }

// Online reports whether a server has welcomed the client on the current
// connection.
func (c *Core) Online() bool { return c.online }

// Store is the id of the store, known once a server has welcomed the client.
func (c *Core) Store() occ.StoreID { return c.store }

// BlockSize is the store's block size in bytes, known once a server has
// welcomed the client.
func (c *Core) BlockSize() int { return c.blockSize }

// Limits are the server's published limits.
func (c *Core) Limits() wire.Limits { return c.limits }

// Requests is the number of requests that the server has not answered.
func (c *Core) Requests() int { return len(c.requests) }

// Running is the number of transactions that have begun and not ended.
func (c *Core) Running() int { return c.runningCount }

// Stats returns a copy of the counters.
func (c *Core) Stats() Stats {
	s := c.stats
	s.CacheBytes = c.cache.bytes
	s.CachedVersions = uint64(c.cache.count)
	return s
}

// TakeMessages returns the messages to send, in order. They are the
// caller's; the slice is reused by later calls that queue messages.
func (c *Core) TakeMessages() []wire.Message {
	out := c.out
	c.out = c.out[:0]
	return out
}

// ProtocolError is a message from the server that breaks the protocol. The
// connection must be given up.
type ProtocolError struct{ Reason string }

func (e *ProtocolError) Error() string { return "protocol error by the server: " + e.Reason }

func protocolError(format string, args ...any) error {
	return &ProtocolError{Reason: fmt.Sprintf(format, args...)}
}

// Refusal is a request that the server would not serve.
type Refusal struct {
	Code         wire.ErrorCode
	Limit, Value uint64
	Text         string
}

// Error names limit and value, if the refusal has them.
func (r *Refusal) Error() string {
	if r.Limit == 0 {
		return "refused by the server: " + r.Text
	}
	return fmt.Sprintf("refused by the server: %s: %d, the limit is %d", r.Text, r.Value, r.Limit)
}

// ErrOffline is the answer to a query whose connection was lost.
var ErrOffline = errors.New("not connected")

// Cached describes the versions of b in the index, newest first. It is for
// tests and diagnosis.
func (c *Core) Cached(b occ.BlockID) []occ.Interval {
	var ivs []occ.Interval
	for v := c.cache.index[b]; v != nil; v = v.older {
		ivs = append(ivs, v.Interval)
	}
	return ivs
}

// Evict takes all versions of b out of the cache, as if the space were
// needed.
func (c *Core) Evict(b occ.BlockID) {
	for v := c.cache.index[b]; v != nil; {
		next := v.older
		if v.cached {
			c.cache.evict(v)
			c.stats.Evictions++
		}
		v = next
	}
}

// record hands the recorder what t did. It is called once for each attempt,
// before the read set is released.
func (c *Core) record(t *Tx) {
	c.seq++
	if c.cfg.Recorder == nil || t.recorded {
		return
	}
	t.recorded = true
	e := history.Event{
		Client: c.cfg.Client, Reads: t.readSet(), Begin: t.begun, End: t.begun,
		BeginSeq: t.beginSeq, EndSeq: c.seq, NoOpacity: c.cfg.NoActiveAborts, Epsilon: t.epsilon, Chosen: t.fixed,
	}
	if c.cfg.Now != nil {
		e.End = c.cfg.Now()
	}
	if t.epsilon == Unbounded {
		e.Epsilon = -1
	}
	switch {
	case t.state == Aborted:
		e.Kind = history.Aborted
	case t.state == InDoubt:
		e.Kind = history.InDoubt
	case t.readOnly:
		if len(t.reads) == 0 {
			return // it saw nothing, so nothing is promised
		}
		e.Kind = history.ReadOnly
		e.Lo, e.Hi = t.snap.Lo, t.snap.Hi(c.glub)
	case len(t.writes) == 0:
		e.Kind, e.Commit = history.Validated, t.commitAt
	default:
		e.Kind, e.Commit = history.Committed, t.commitAt
		for _, w := range t.writes {
			e.Writes = append(e.Writes, w.Block)
		}
	}
	c.cfg.Recorder.Record(e)
}
