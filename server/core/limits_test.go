package core

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/record"
)

// TestGroupSize: a group is at most record.MaxGroupBytes, or one record, and
// what does not fit waits for the next.
func TestGroupSize(t *testing.T) {
	w := newWorld(Config{BlockSize: 3 << 20})
	w.open(1)
	before := len(w.log)
	sizes := []int{400 << 10, 400 << 10, 400 << 10, 3 << 20, 100, 100}
	for i, n := range sizes {
		data := make([]byte, n)
		data[n-1] = 1
		w.receive(1, newCommit(uint64(i+2), uint64(i+1), nil, []occ.Write{{Block: occ.BlockID(i), Data: data}}))
	}
	w.settle()
	var got []int
	for _, g := range w.log[before:] {
		got = append(got, len(g))
		if n := len(record.Append(nil, record.Group{Records: g})); n > record.MaxGroupBytes && len(g) > 1 {
			t.Errorf("a group of %d records has %d bytes", len(g), n)
		}
	}
	if len(got) != 4 || got[0] != 2 || got[1] != 1 || got[2] != 1 || got[3] != 2 {
		t.Fatalf("groups of %v records", got)
	}
}

// TestLimitsFitEachOther: a full read reply fits a frame, a full commit a log
// entry, and the freshness bound the retention window.
func TestLimitsFitEachOther(t *testing.T) {
	w := newWorld(Config{BlockSize: 64 << 10, Retention: 10 * time.Second, Limits: wire.Limits{
		FrameBytes: 1 << 20, CommitBytes: 1 << 40, CommitReads: 10, CommitWrites: 100, ReadBlocks: 1 << 20,
		LeaseBlocks: 1, Outcomes: 10, Holds: 1000, Freshness: time.Hour,
	}})
	w.open(1)
	l := w.core.Limits()
	if small := newWorld(Config{BlockSize: 1000, PendingBytes: 3999}).core.Limits(); small.CommitWrites != 3 || l.CommitWrites != 100 {
		t.Fatalf("%d and %d writes of a commit", small.CommitWrites, l.CommitWrites)
	}
	if l.CommitBytes > l.FrameBytes || l.CommitBytes > record.MaxTransactionBytes || l.Freshness != 5*time.Second {
		t.Fatalf("%+v", l)
	}
	data := make([]byte, 64<<10)
	for i := range data {
		data[i] = 0xff
	}
	var blocks []occ.BlockID
	for i := range l.ReadBlocks {
		b := occ.BlockID(math.MaxUint64 - i)
		blocks = append(blocks, b)
		w.receive(1, newCommit(2+i, 1+i, nil, []occ.Write{{Block: b, Data: data}}))
		w.settle()
	}
	if len(blocks) == 0 || len(blocks) > 16 {
		t.Fatalf("%d blocks in a read", len(blocks))
	}
	w.receive(1, latest(1000, blocks...)) // world checks the frame
	if len(w.problems) > 0 {
		t.Fatal(w.problems)
	}
}

// TestReplyFitsTheQueue: a read reply is no larger than what can wait for a
// connection.
func TestReplyFitsTheQueue(t *testing.T) {
	w := newWorld(Config{BlockSize: 4096, ReplyBytes: 64 << 10})
	if n := w.core.Limits().ReadBlocks; n != 15 {
		t.Fatalf("%d blocks of 4 KiB in a reply of 64 KiB", n)
	}
}

// TestSessionsStayBounded: beyond the limit the oldest idle session ends, one
// that is connected does not.
func TestSessionsStayBounded(t *testing.T) {
	cfg := Config{Store: occ.StoreID{1}}
	n := uint64(0)
	cfg.NewSession = func() (id occ.SessionID) {
		n++
		binary.LittleEndian.PutUint64(id[:], n)
		return id
	}
	c := New(cfg)
	c.Start(0)
	greet := func(id ConnID, stay bool) {
		c.Connect(id)
		c.Receive(id, &wire.Hello{Req: 1, Version: wire.Version})
		if !stay {
			c.Disconnect(id)
		}
		c.Flush()
		c.Durable()
		c.Take()
	}
	greet(1, true)
	for i := range ConnID(MaxSessions + 10) {
		greet(2+i, false)
	}
	if len(c.sessions) != MaxSessions {
		t.Fatalf("%d sessions, want %d", len(c.sessions), MaxSessions)
	}
	if c.sessions[c.conns[1].session.id] == nil {
		t.Fatal("the session of a connection was ended")
	}
	if len(c.created) > 2*MaxSessions {
		t.Fatalf("%d sessions in the list", len(c.created))
	}
}

// TestBusySessionStays: a session with a commit under way is not ended, even
// if it is the oldest and nobody is connected.
func TestBusySessionStays(t *testing.T) {
	w := newWorld(Config{})
	w.open(1)
	w.receive(1, newCommit(2, 1, nil, []occ.Write{{Block: 1, Data: numbered(1)}}))
	busy := w.core.conns[1].session
	w.core.Disconnect(1)
	for n := uint32(0); len(w.core.sessions) < MaxSessions; n++ {
		var id occ.SessionID
		binary.LittleEndian.PutUint32(id[4:], n+1)
		w.core.sessionLogged(w.core.addSession(id))
	}
	w.open(2)
	if w.core.sessions[busy.id] == nil || len(w.core.sessions) != MaxSessions {
		t.Fatalf("%d sessions, the busy one is %v", len(w.core.sessions), w.core.sessions[busy.id])
	}
}

// TestBoundedPerConnection: what may be under way for one connection has
// limits; beyond them it is refused, and nothing was done.
func TestBoundedPerConnection(t *testing.T) {
	w := newWorld(Config{})
	w.open(1)
	w.receive(1, newCommit(2, 1, nil, []occ.Write{{Block: 1, Data: numbered(1)}}))
	w.settle()
	busy := 0
	w.onMessage = func(_ ConnID, m wire.Message) {
		if e, ok := m.(*wire.Error); ok && e.Code == wire.CodeBusy {
			busy++
		}
	}
	req := uint64(2)
	expect := func(what string, limit int, send func()) {
		t.Helper()
		busy = 0
		for range limit + 3 {
			req++
			send()
		}
		if busy != 3 {
			t.Errorf("%s: %d refused, want 3", what, busy)
		}
	}
	w.holdLoad = true
	expect("reads", int(wire.DefaultLimits().Reads), func() { w.receive(1, latest(req, 1)) })
	expect("leases", int(wire.DefaultLimits().Leases), func() { w.receive(1, &wire.Lease{Req: req, Count: 1}) })
	m := newCommit(req, 2, nil, []occ.Write{{Block: 1, Data: numbered(2)}})
	expect("resends", MaxWaiters, func() {
		again := *m
		again.Req, again.Resend = req, true
		w.receive(1, &again)
	})
	w.settle()
	if len(w.problems) > 0 {
		t.Fatal(w.problems)
	}
}

// TestBlockIDsRunOut: a lease beyond the last block id is refused.
func TestBlockIDsRunOut(t *testing.T) {
	w := newWorld(Config{})
	w.open(1)
	w.core.nextID = maxBlock - 5
	var got []wire.Message
	w.onMessage = func(_ ConnID, m wire.Message) { got = append(got, m) }
	w.receive(1, &wire.Lease{Req: 2, Count: 6})
	w.receive(1, &wire.Lease{Req: 3, Count: 5})
	w.settle()
	if e, ok := got[0].(*wire.Error); !ok || e.Code != wire.CodeStoreFull {
		t.Fatalf("%+v", got[0])
	}
	if l, ok := got[1].(*wire.LeaseReply); !ok || l.First != maxBlock-5 || len(got) != 2 {
		t.Fatalf("%+v", got[1])
	}
}

// TestReadsEnd: the limit is on reads that wait, not on reads.
func TestReadsEnd(t *testing.T) {
	w := newWorld(Config{})
	w.open(1)
	for i := range wire.DefaultLimits().Reads + 2 {
		w.receive(1, latest(i+2, 1))
	}
	if n := w.core.counts.refused; n > 0 {
		t.Fatalf("%d reads refused", n)
	}
}

// TestRecoverRefuses: records that cannot follow each other are an error that
// says which, never a panic.
func TestRecoverRefuses(t *testing.T) {
	s := occ.SessionID{1}
	commit := func(at occ.Timestamp, seq uint64, writes ...occ.Write) *record.Commit {
		return &record.Commit{At: at, Session: s, Seq: seq, Writes: writes}
	}
	ok := occ.Write{Block: 1, Data: []byte{1}}
	for name, recs := range map[string][]record.Record{
		"timestamp 2 after 0":     {commit(2, 1, ok)},
		"unknown session":         {&record.SessionEnd{ID: s}, nil},
		"commit number 1":         {commit(1, 1, ok), commit(2, 1, ok)},
		"without writes":          {commit(1, 1)},
		"two of one block":        {commit(1, 1, ok, ok)},
		"17 bytes":                {commit(1, 1, occ.Write{Block: 1, Data: make([]byte, 17)})},
		"block 1 has 18 bytes":    {commit(1, 1, occ.Write{Block: 1, Ranges: []occ.Range{{Off: 16, Data: []byte{1, 2}}}})},
		"the session exists":      {&record.Session{ID: s}},
		"a lease of 1 block ids":  {&record.Lease{First: 2, Count: 1}},
		"horizon 1":               {&record.Horizon{At: 1}},
		"epoch 1 after epoch 1":   {&record.Epoch{Epoch: 1}, &record.Epoch{Epoch: 1}},
		"outcomes are trimmed":    {&record.Trim{Session: s, UpTo: 1}},
		"unknown record":          {nil},
		"a commit of an unknown ": {&record.SessionEnd{ID: s}, commit(1, 1, ok)},
	} {
		if name == "unknown session" {
			recs = []record.Record{&record.SessionEnd{ID: occ.SessionID{9}}}
			name = "does not exist"
		}
		c := New(Config{BlockSize: 16})
		err := c.Recover(append([]record.Record{&record.Session{ID: s}}, recs...))
		var replay *ReplayError
		if !errors.As(err, &replay) || replay.Record != len(recs) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReceiveNeverPanics throws random messages at a core.
func TestReceiveNeverPanics(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 3))
		odd := func() uint64 {
			return []uint64{0, 1, 2, 3, math.MaxUint64, math.MaxUint64 - 1, 1 << 40}[rng.IntN(7)]
		}
		w := newWorld(Config{})
		for i := range 400 {
			id := ConnID(rng.IntN(3) + 1)
			if w.core.conns[id] == nil {
				w.core.Disconnect(id)
				w.open(id)
			}
			req := uint64(i + 2)
			reads := []occ.Read{{Block: occ.BlockID(odd()), From: occ.Timestamp(odd())}}
			writes := []occ.Write{{Block: occ.BlockID(odd()), Data: make([]byte, rng.IntN(5000))}, {Block: occ.BlockID(odd())}}
			if rng.IntN(3) == 0 {
				writes[0] = occ.Write{Block: occ.BlockID(odd()), Ranges: []occ.Range{{Off: uint32(rng.IntN(1 << 20)), Data: []byte{1}}}}
			}
			commit := newCommit(req, odd(), reads[:rng.IntN(2)], writes[:rng.IntN(3)])
			commit.Acked, commit.Resend = odd(), rng.IntN(2) == 0
			w.receive(id, []wire.Message{
				&wire.Hello{Req: odd(), Version: odd(), Session: occ.SessionID{byte(odd())}},
				&wire.Ping{Req: odd()},
				&wire.Read{Req: req, Items: []wire.ReadItem{{Block: occ.BlockID(odd()), At: occ.Timestamp(odd()), Have: occ.Timestamp(odd())}}},
				commit, commit, commit,
				&wire.Validate{Req: req, Reads: reads},
				&wire.Lease{Req: req, Count: odd()},
				&wire.Status{Req: req},
				&wire.Clock{Req: req, Now: time.Duration(odd())},
				&wire.Items{},
				nil,
			}[rng.IntN(12)])
			if rng.IntN(4) == 0 {
				w.settle()
			}
		}
		if len(w.problems) > 0 {
			t.Fatalf("seed %d: %v", seed, w.problems)
		}
	}
}

// TestRangesCountAsBlocks: a group makes no more data than a group may have
// bytes, and commits that wait count what they make.
func TestRangesCountAsBlocks(t *testing.T) {
	const block = 256 << 10
	w := newWorld(Config{BlockSize: block, PendingBytes: 9*block + 1000})
	w.open(1)
	data := make([]byte, block)
	data[block-1] = 1
	var reads []occ.Read
	for b := range occ.BlockID(10) {
		w.receive(1, newCommit(uint64(b+2), uint64(b+1), nil, []occ.Write{{Block: b, Data: data}}))
		w.settle()
		reads = append(reads, occ.Read{Block: b, From: w.core.Stable()})
	}
	before := len(w.log)
	for i, r := range reads {
		w.receive(1, newCommit(uint64(20+i), uint64(11+i), []occ.Read{r}, []occ.Write{{Block: r.Block, Ranges: []occ.Range{{Off: 3, Data: []byte("x")}}}}))
	}
	// The last is let in, since not all was used up, and another would not be.
	if w.core.pending <= 10*block || !w.core.full() {
		t.Fatalf("%d bytes wait", w.core.pending)
	}
	w.settle()
	for _, g := range w.log[before:] {
		if len(g) > 3 {
			t.Errorf("a group makes %d blocks of %d bytes", len(g), block)
		}
	}
	if w.core.pending != 0 || w.core.Stable() != reads[9].From+10 {
		t.Fatalf("%d bytes wait at %d", w.core.pending, w.core.Stable())
	}
}
