package core

import (
	"slices"
	"testing"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/record"
)

// benched is a core whose effects are carried out at no cost.
type benched struct {
	*Core
	value [1][]byte
}

func newBenched(b *testing.B) *benched {
	id := byte(0)
	c := &benched{Core: New(Config{NewSession: func() occ.SessionID { id++; return occ.SessionID{id} }, MemoryBytes: 1 << 62})}
	c.Start(0)
	for conn := ConnID(1); conn <= 2; conn++ {
		c.Connect(conn)
		c.Receive(conn, &wire.Hello{Req: 1, Version: wire.Version})
	}
	c.drain()
	c.value[0] = make([]byte, 4096)
	b.ReportAllocs()
	return c
}

func (c *benched) drain() {
	for c.Flush(); ; {
		effects := c.Take()
		if len(effects) == 0 {
			return
		}
		for _, e := range effects {
			switch e := e.(type) {
			case Append:
				c.Durable()
			case Load:
				c.Loaded(e.ID, c.value[:])
			}
		}
	}
}

// commits returns n transactions of connection 1, each of which reads and
// writes the next of 10,000 blocks.
func commits(n int) []wire.Commit {
	const blocks = 10_000
	data := numbered(1)
	m := make([]wire.Commit, n)
	for i := range m {
		b, seq := occ.BlockID(i%blocks), uint64(i+1)
		reads := []occ.Read{{Block: b, From: occ.Timestamp(max(0, i+1-blocks))}}
		writes := []occ.Write{{Block: b, Data: data}}
		m[i] = wire.Commit{Req: seq + 1, Seq: seq, Acked: seq - min(seq, 64), Reads: reads, Writes: writes, Digest: wire.CommitDigest(reads, writes)}
	}
	return m
}

// BenchmarkCommit validates and applies a transaction in groups of 64.
func BenchmarkCommit(b *testing.B) {
	c := newBenched(b)
	m := commits(b.N)
	b.ResetTimer()
	for i := range m {
		c.Receive(1, &m[i])
		if i%64 == 63 {
			c.drain()
		}
	}
	c.drain()
	if got := c.Stable(); int(got) != b.N {
		b.Fatalf("%d commits, want %d", got, b.N)
	}
}

// BenchmarkCommitHeld is BenchmarkCommit with another connection reading each
// block before, so that each commit has one deprecation to send.
func BenchmarkCommitHeld(b *testing.B) {
	c := newBenched(b)
	m := commits(b.N)
	read := latest(2, 0)
	b.ResetTimer()
	for i := range m {
		read.Items[0].Block = m[i].Writes[0].Block
		c.Receive(2, read)
		c.Receive(1, &m[i])
		if i%64 == 63 {
			c.drain()
		}
	}
	c.drain()
}

// BenchmarkRead reads a block of 4 KiB that is in memory.
func BenchmarkRead(b *testing.B) {
	c := newBenched(b)
	m := commits(10_000)
	for i := range m {
		c.Receive(1, &m[i])
	}
	c.drain()
	read := latest(2, 0)
	b.ResetTimer()
	for i := range b.N {
		read.Items[0].Block = occ.BlockID(i % 10_000)
		c.Receive(2, read)
		c.drain()
	}
}

// BenchmarkRestore restores a checkpoint of a million blocks.
func BenchmarkRestore(b *testing.B) {
	const blocks = 1_000_000
	state := record.AppendState(nil, &record.State{Stable: blocks, Horizon: blocks, Next: blocks + 1})
	b.ReportAllocs()
	for b.Loop() {
		err := New(Config{}).Restore(state, func(yield func(occ.BlockID, occ.Timestamp, int) error) error {
			for n := range occ.BlockID(blocks) {
				if err := yield(1+n, occ.Timestamp(1+n), 4096); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/blocks, "ns/block")
}

// steps are the shortest times that each step of a work took, lest other
// programs count.
type steps []time.Duration

// add notes that step i ends now, and returns when the next one begins.
func (s *steps) add(i int, begun time.Time) time.Time {
	now := time.Now()
	if took := now.Sub(begun); i == len(*s) {
		*s = append(*s, took)
	} else {
		(*s)[i] = min((*s)[i], took)
	}
	return now
}

func (s steps) report(b *testing.B) {
	b.ReportMetric(float64(len(s)), "steps")
	b.ReportMetric(float64(slices.Max(s)), "ns/longest-step")
}

// BenchmarkDisconnect ends a connection that holds as many blocks as it may. A
// commit waits for one step at most.
func BenchmarkDisconnect(b *testing.B) {
	var steps steps
	for b.Loop() {
		b.StopTimer()
		c := New(Config{})
		c.Connect(1)
		for n := range c.cfg.Limits.Holds {
			c.register(c.conns[1], occ.BlockID(n))
		}
		b.StartTimer()
		begun := time.Now()
		c.Disconnect(1)
		for i, more := 0, true; more; i++ {
			if i > 0 {
				more = c.Sweep()
			}
			begun = steps.add(i, begun)
		}
	}
	steps.report(b)
}

// BenchmarkState encodes the state of a server with as many sessions as there
// may be, ten of which have as many outcomes as they may. A commit waits for one
// step at most; the first counts with the beginning.
func BenchmarkState(b *testing.B) {
	c := New(Config{})
	for n := range MaxSessions {
		s := c.addSession(occ.SessionID{byte(n), byte(n >> 8), 1})
		c.sessionLogged(s)
		outcomes := uint64(4)
		if n%(MaxSessions/10) == 1 {
			outcomes = c.cfg.Limits.Outcomes
		}
		for range outcomes {
			s.add(s.next, 1).state = outcomeCommitted
		}
		s.logged.next = s.next
	}
	b.ReportAllocs()
	var buf []byte
	var steps steps
	for b.Loop() {
		begun := time.Now()
		c.BeginState()
		for i, complete := 0, false; !complete; i++ {
			buf, complete = c.NextState(buf[:0])
			begun = steps.add(i, begun)
		}
	}
	steps.report(b)
}
