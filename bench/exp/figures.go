package exp

import (
	"errors"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/fsim/replay"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/history"
	"github.com/tidemark/tidemark/occ/wire"
)

// Figures is what a replay under one setting gave. Parts that the kind of
// replay does not measure are zero.
type Figures struct {
	Setting Setting       `json:"-"`
	Replay  replay.Counts `json:"replay"`
	Clients core.Stats    `json:"clients"` // summed over the hosts
	Traffic Traffic       `json:"traffic"`

	// Staleness is how far in the past read-only transactions ran, in
	// trace time: how long ago, when they began, their snapshot had been
	// superseded.
	Staleness Quantiles `json:"staleness"`
	// ReadOnlyLatency and ReadWriteLatency are the busy times of
	// transactions: simulated, or measured.
	ReadOnlyLatency  Quantiles `json:"read_only_latency"`
	ReadWriteLatency Quantiles `json:"read_write_latency"`

	CPU CPU `json:"cpu"`

	LogBytes     uint64 `json:"log_bytes"`     // commit log written during the replay
	VersionsKept uint64 `json:"versions_kept"` // at the end

	History  history.Result `json:"history"`  // what the checker found
	Problems int            `json:"problems"` // what fsck found
	Tree     string         `json:"tree"`     // digest of paths, sizes and contents
	Rounds   int            `json:"rounds"`   // replays that the figures were gathered over
}

// Traffic is what went over the wire between the hosts and the server,
// without connecting, building the image and heartbeats, which stand apart.
type Traffic struct {
	Messages   uint64           `json:"messages"` // both ways
	Bytes      uint64           `json:"bytes"`    // both ways
	RoundTrips uint64           `json:"round_trips"`
	ByType     map[string]Count `json:"by_type"`
	// Compulsory is the data that caching does not save: every client
	// fetches each version that it reads once, as a whole block, and sends
	// each write once, as a whole block or as ranges of one.
	Compulsory uint64 `json:"compulsory_bytes"`
	Setup      Count  `json:"setup"` // hello and welcome, and all that built the image
	Heartbeats Count  `json:"heartbeats"`
}

// Count is a number of messages and the bytes of their frames.
type Count struct {
	Messages uint64 `json:"messages"`
	Bytes    uint64 `json:"bytes"`
}

func (c *Count) add(n client.Count) {
	c.Messages += n.Messages
	c.Bytes += n.Bytes
}

// SetApart takes heartbeats, which were counted as answers to pings, out of
// the traffic and counts them apart.
func (t *Traffic) SetApart(heartbeats client.Count) {
	if heartbeats.Messages == 0 {
		return
	}
	t.Heartbeats.add(heartbeats)
	t.Messages -= heartbeats.Messages
	t.Bytes -= heartbeats.Bytes
	name := wire.TypePong.String()
	pongs := t.ByType[name]
	pongs.Messages -= heartbeats.Messages
	pongs.Bytes -= heartbeats.Bytes
	t.ByType[name] = pongs
	if pongs.Messages == 0 {
		delete(t.ByType, name)
	}
}

// CPU is processor time, user and system, of one replay.
type CPU struct {
	Client Interval      `json:"client_process"` // the process that runs all hosts, seconds
	Server Interval      `json:"server_process"` // seconds
	Hosts  int           `json:"hosts"`
	Wall   time.Duration `json:"wall_ns"`
}

// Interval is a mean with the half width of its 95% confidence interval.
type Interval struct {
	Mean float64 `json:"mean"`
	Half float64 `json:"half_width_95"`
}

// Quantiles describe a distribution of times, in seconds.
type Quantiles struct {
	Count int64   `json:"count"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// Err is what makes the figures void: a violation of the history or a problem
// of the file system, a *history.Error or a *ProblemsError or both. Transactions
// that were given up do not: they are figures.
func (f *Figures) Err() error {
	if f.Problems > 0 {
		return errors.Join(f.History.Err(), &ProblemsError{f.Problems})
	}
	return f.History.Err()
}

// ProblemsError says how many problems the check of the file system has found.
type ProblemsError struct{ Problems int }

// Error returns one line.
func (e *ProblemsError) Error() string {
	return fmt.Sprintf("the file system has %d problems", e.Problems)
}

// AddClient adds a host's counters. built is true for the client that built
// the image, all of whose traffic is setup.
func (f *Figures) AddClient(s client.Stats, built bool) {
	if built {
		f.Traffic.Setup.add(s.Traffic.Sent.Total())
		f.Traffic.Setup.add(s.Traffic.Received.Total())
		return
	}
	f.Clients.Add(s.Stats)
	if f.Traffic.ByType == nil {
		f.Traffic.ByType = make(map[string]Count)
	}
	for _, c := range []*client.Counts{&s.Traffic.Sent, &s.Traffic.Received} {
		for t := range c {
			f.addType(wire.Type(t), c[t])
		}
	}
}

// addType adds the messages of one type.
func (f *Figures) addType(t wire.Type, n client.Count) {
	if n.Messages == 0 {
		return
	}
	switch t {
	case wire.TypeHello, wire.TypeWelcome:
		f.Traffic.Setup.add(n)
		return
	case wire.TypeStatus, wire.TypeStatusReply, wire.TypeClock:
		return // the workbench's own
	}
	c := f.Traffic.ByType[t.String()]
	c.add(n)
	f.Traffic.ByType[t.String()] = c
	f.Traffic.Messages += n.Messages
	f.Traffic.Bytes += n.Bytes
	if wire.IsRequest(t) {
		f.Traffic.RoundTrips += n.Messages
	}
}

// Ledger follows a run's events for what the figures need: the compulsory
// traffic and the staleness of read-only transactions.
type Ledger struct {
	// Size is the size of a version's data on the wire, Sent that of the
	// data of the write that made it.
	Size, Sent func(occ.BlockID, occ.Timestamp) int

	appliedAt  []time.Duration // by timestamp; 0 is the empty store
	fetched    map[fetchedKey]struct{}
	compulsory uint64
	Staleness  Recorder
}

type fetchedKey struct {
	client int
	read   occ.Read
}

// Applied is told when stable was reached.
func (l *Ledger) Applied(at time.Duration, stable occ.Timestamp) {
	for occ.Timestamp(len(l.appliedAt)) <= stable {
		l.appliedAt = append(l.appliedAt, at)
	}
}

// Record takes in an event of a host.
func (l *Ledger) Record(e history.Event) {
	if l.fetched == nil {
		l.fetched = make(map[fetchedKey]struct{})
	}
	for _, r := range e.Reads {
		k := fetchedKey{e.Client, r}
		if _, again := l.fetched[k]; !again {
			l.fetched[k] = struct{}{}
			l.compulsory += uint64(l.Size(r.Block, r.From))
		}
	}
	switch e.Kind {
	case history.Committed:
		for _, b := range e.Writes {
			l.fetched[fetchedKey{e.Client, occ.Read{Block: b, From: e.Commit}}] = struct{}{}
			l.compulsory += uint64(l.Sent(b, e.Commit))
		}
	case history.ReadOnly:
		l.Staleness.Add(l.age(e.Lo, e.Begin))
	}
}

// age is how long before at the snapshot lo had been superseded.
func (l *Ledger) age(lo occ.Timestamp, at time.Duration) time.Duration {
	next := lo + 1
	if next >= occ.Timestamp(len(l.appliedAt)) || l.appliedAt[next] > at {
		return 0
	}
	return at - l.appliedAt[next]
}

// Compulsory is the compulsory traffic so far, in bytes.
func (l *Ledger) Compulsory() uint64 { return l.compulsory }
