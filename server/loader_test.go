package server

import (
	"fmt"
	"sync"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/core"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/wal"
)

// gatedDisk is a disk whose reads wait while a test holds the gate.
type gatedDisk struct {
	disk.Disk
	gate *sync.RWMutex
}

type gatedFile struct {
	disk.File
	gate *sync.RWMutex
}

func (d gatedDisk) Open(name string) (disk.File, error) {
	f, err := d.Disk.Open(name)
	return gatedFile{f, d.gate}, err
}

func (f gatedFile) ReadAt(p []byte, off int64) (int, error) {
	f.gate.RLock()
	defer f.gate.RUnlock()
	return f.File.ReadAt(p, off)
}

const storedBlocks = 64

// stored opens a server on a store of some full blocks, none of them in memory,
// and few of them at a time.
func stored(t *testing.T, queueBytes int) (*Server, *sync.RWMutex) {
	t.Helper()
	d, log := gatedDisk{disk.NewMemory(), new(sync.RWMutex)}, wal.NewMemory(occ.StoreID{9}, 1<<20)
	opts := scripted(log, d)
	s := running(t, opts)
	var writes []occ.Write
	for b := range occ.BlockID(storedBlocks) {
		data := make([]byte, scriptBlock)
		data[scriptBlock-1] = byte(b + 1)
		writes = append(writes, occ.Write{Block: b + 1, Data: data})
	}
	pipe(t, s).hello(occ.SessionID{}).committed(nil, writes...)
	shutdown(t, s)
	opts = scripted(log, d)
	opts.QueueBytes = queueBytes
	return running(t, opts), d.gate
}

// pipelined are reads of per blocks each, all different as long as there are
// other blocks.
func (c *rawClient) pipelined(n, per int) (reads []wire.Message) {
	for i := range n {
		m := &wire.Read{Req: c.next()}
		for k := range per {
			m.Items = append(m.Items, wire.ReadItem{Block: occ.BlockID((i*per+k)%storedBlocks + 1), At: occ.Latest, Have: wire.Absent})
		}
		reads = append(reads, m)
	}
	return reads
}

// TestPipelinedReadsFromDisk: a client that asks for far more than may be
// queued for it, before it takes the first reply, gets all of it.
func TestPipelinedReadsFromDisk(t *testing.T) {
	const reads, per, queueBytes = 200, 8, 64 << 10
	s, gate := stored(t, queueBytes)
	c := pipe(t, s).hello(occ.SessionID{})
	gate.Lock()
	c.send(c.pipelined(reads, per)...)
	c.settled()
	gate.Unlock()
	for i := range reads {
		for k, r := range expect[*wire.ReadReply](c).Results {
			if r.Status != wire.StatusCurrent || len(r.Data) != scriptBlock {
				t.Fatalf("reply %d, block %d: %+v", i, k, r)
			}
		}
	}
	shutdown(t, s)
	for _, l := range s.loads.turns {
		t.Errorf("a lane of %d loads, %d bytes under way, waits for a turn", len(l.loads), l.loading)
	}
}

// TestLoadsEndWithTheirConnection: what an ended connection asked for is not
// loaded, however slow the disk is.
func TestLoadsEndWithTheirConnection(t *testing.T) {
	s, gate := stored(t, 1<<20)
	gate.Lock()
	var lanes []*lane
	for range 5 {
		c := pipe(t, s).hello(occ.SessionID{})
		c.send(c.pipelined(100, 1)...)
		c.settled()
		s.owner.Lock()
		for _, open := range s.conns {
			lanes = append(lanes, &open.lane)
		}
		s.owner.Unlock()
		c.send(&wire.Ping{}) // number 0 is none
		c.ended()
	}
	s.loads.mu.Lock()
	left := len(s.loads.turns)
	for _, l := range lanes {
		left += len(l.loads)
	}
	s.loads.mu.Unlock()
	gate.Unlock()
	if len(lanes) < 5 || left > 0 {
		t.Fatalf("%d loads and turns of %d connections are left", left, len(lanes))
	}
	c := pipe(t, s).hello(occ.SessionID{})
	c.send(c.pipelined(1, 8)...)
	expect[*wire.ReadReply](c)
}

// TestLanes: lanes take turns, and a load begins when its reply fits a quarter
// of what may be queued, or nothing is before it.
func TestLanes(t *testing.T) {
	q := newLoadQueue()
	lanes := map[string]*lane{}
	for _, name := range []string{"a", "b"} {
		lanes[name] = &lane{sends: newQueue(4*200, 100)}
	}
	var under []func() // ends a load
	next := func() string {
		if len(q.turns) == 0 {
			return "none"
		}
		l, e, _ := q.next()
		under = append(under, func() { q.done(l, e) })
		for name := range lanes {
			if lanes[name] == l {
				return fmt.Sprint(name, e.ID)
			}
		}
		return "unknown"
	}
	is := func(want ...string) {
		t.Helper()
		for _, w := range append(want, "none") {
			if got := next(); got != w {
				t.Fatalf("next is %s, want %s", got, w)
			}
		}
	}
	for id := range core.LoadID(5) {
		q.push(lanes["a"], core.Load{ID: id}, 90)
	}
	q.push(lanes["b"], core.Load{ID: 5}, 1000) // more than a quarter
	q.push(lanes["b"], core.Load{ID: 6}, 10)
	is("a0", "b5", "a1")
	sends := lanes["a"].sends
	sends.push([]wire.Message{&wire.Pong{}, &wire.Pong{}}, false)
	under[0]()
	is() // 90 bytes are under way, 128 wait to be sent
	sends.take(nil)
	q.drained(lanes["a"])
	is("a2")
	under[1]()
	is("b6")
	under[2]()
	q.end(lanes["a"]) // in turn
	is()
	under[4]()
	q.push(lanes["a"], core.Load{ID: 7}, 10)
	is()
	few := &lane{sends: newQueue(1<<20, 8)}
	lanes["few"] = few
	for id := range core.LoadID(3) {
		q.push(few, core.Load{ID: id}, 1)
	}
	is("few0", "few1")
	q.close()
	if _, _, ok := q.next(); ok {
		t.Fatal("a closed queue goes on")
	}
}

// TestOversizedCommitReadsNothing: a commit that is refused for its size makes
// the server read none of the blocks that it would change.
func TestOversizedCommitReadsNothing(t *testing.T) {
	d, log := disk.NewFaulty(disk.NewMemory()), wal.NewMemory(occ.StoreID{9}, 1<<20)
	s := running(t, scripted(log, d))
	var reads []occ.Read
	var whole, ranges []occ.Write
	for b := range occ.BlockID(8) {
		reads = append(reads, occ.Read{Block: b + 1, From: 1})
		whole = append(whole, write(b+1, "whole"))
		ranges = append(ranges, occ.Write{Block: b + 1, Ranges: []occ.Range{{Off: 1, Data: []byte("x")}}})
	}
	pipe(t, s).hello(occ.SessionID{}).committed(nil, whole...)
	shutdown(t, s)
	opts := scripted(log, d)
	for _, limits := range []wire.Limits{{CommitWrites: 7}, {CommitReads: 7}, {CommitBytes: 8 * 40}} {
		opts.Log, opts.Limits = log.Open(), limits
		s = running(t, opts)
		c := pipe(t, s).hello(occ.SessionID{})
		before := d.Count(disk.OpRead)
		c.send(c.commit(reads, ranges...))
		if e := expect[*wire.Error](c); e.Code != wire.CodeTooLarge {
			t.Fatalf("%+v", e)
		}
		if n := d.Count(disk.OpRead) - before; n > 0 {
			t.Errorf("%+v: %d reads", limits, n)
		}
		shutdown(t, s)
	}
	opts.Log, opts.Limits = log.Open(), wire.Limits{}
	s = running(t, opts)
	c := pipe(t, s).hello(occ.SessionID{})
	before := d.Count(disk.OpRead)
	c.committed(reads, ranges...)
	if n := d.Count(disk.OpRead) - before; n < 8 {
		t.Errorf("%d reads of 8 blocks", n)
	}
}
