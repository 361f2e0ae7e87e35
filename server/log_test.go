package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/golang/mock/gomock"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/core"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/wal"
)

// testLog is a log in memory whose appends a test can hold back. It starts to
// do so when it is armed; before, it just appends.
type testLog struct {
	wal.Log
	groups chan record.Group // gets every group once armed, before it is appended
	answer chan error        // what becomes of it
}

func newTestLog() *testLog { return &testLog{Log: wal.NewMemory(occ.StoreID{}, 1<<20).Open()} }

// arm must not be called while an append is under way.
func (l *testLog) arm() {
	l.groups, l.answer = make(chan record.Group), make(chan error)
}

var errDisk = errors.New("the disk is on fire")

func (l *testLog) Append(payload []byte) (uint64, error) {
	if l.groups != nil {
		g, err := record.Decode(payload)
		if err != nil {
			return 0, err
		}
		l.groups <- g
		if err := <-l.answer; err != nil {
			return 0, err
		}
	}
	return l.Log.Append(payload)
}

// settled makes sure that the server has handled all that c sent before.
func (c *rawClient) settled() {
	c.t.Helper()
	c.send(&wire.Ping{Req: c.next()})
	if p := expect[*wire.Pong](c); p.Req != c.req {
		c.t.Fatalf("%+v", p)
	}
}

// TestGroupCommit: what arrives while one group is on its way to disk makes
// one group together, and nobody sees anything before.
func TestGroupCommit(t *testing.T) {
	log := newTestLog()
	s := running(t, Options{Log: log})
	var clients []*rawClient
	for range 4 {
		clients = append(clients, pipe(t, s).hello(occ.SessionID{}))
	}
	log.arm()
	clients[0].send(clients[0].commit(nil, write(1, "a")))
	if g := <-log.groups; len(g.Records) != 1 {
		t.Fatalf("first group: %d records", len(g.Records))
	}
	for i, c := range clients[1:] {
		c.send(c.commit(nil, write(occ.BlockID(i+2), "b")))
		c.settled()
		c.reads(1, 0, "")
	}
	log.answer <- nil
	if items := expect[*wire.Items](clients[0]); items.Stable != 1 {
		t.Fatalf("%+v", items)
	}
	if g := <-log.groups; len(g.Records) != 3 {
		t.Fatalf("second group: %d records", len(g.Records))
	}
	log.answer <- nil
	for i, c := range clients[1:] {
		items := expect[*wire.Items](c)
		if items.Items[0].Kind == wire.ItemDeprecated { // of the first group
			items = expect[*wire.Items](c)
		}
		if items.Stable != 4 || items.Items[0].At != occ.Timestamp(i+2) {
			t.Fatalf("client %d: %+v", i+1, items)
		}
	}
}

// TestPendingConflict: the conflict with a transaction that is not yet
// durable is told after that one is visible.
func TestPendingConflict(t *testing.T) {
	log := newTestLog()
	s := running(t, Options{Log: log})
	a, b := pipe(t, s).hello(occ.SessionID{}), pipe(t, s).hello(occ.SessionID{})
	log.arm()
	a.send(a.commit(nil, write(1, "a")))
	<-log.groups
	a.settled()
	b.send(b.commit([]occ.Read{{Block: 1}}, write(2, "b")))
	b.settled() // the pong overtakes the conflict
	log.answer <- nil
	if c := expect[*wire.Conflict](b); c.Stable != 1 || c.Blocks[0] != (occ.Read{Block: 1, From: 1}) {
		t.Fatalf("%+v", c)
	}
	expect[*wire.Items](a)
	log.groups, log.answer = nil, nil
}

// failingLog is a log whose nth append fails. Those after that, of which there
// must be none, succeed: nothing but the server keeps it from going on.
func failingLog(t *testing.T, n int) wal.Log {
	real := wal.NewMemory(occ.StoreID{}, 1<<20).Open()
	log := NewMockLog(gomock.NewController(t))
	log.EXPECT().Head().DoAndReturn(real.Head).AnyTimes()
	log.EXPECT().Epoch().DoAndReturn(real.Epoch)
	log.EXPECT().Fence(gomock.Any()).DoAndReturn(real.Fence)
	log.EXPECT().Read(gomock.Any(), gomock.Any()).DoAndReturn(real.Read).AnyTimes()
	log.EXPECT().Close().DoAndReturn(real.Close)
	before := log.EXPECT().Append(gomock.Any()).DoAndReturn(real.Append).Times(n - 1)
	fails := log.EXPECT().Append(gomock.Any()).After(before).Return(uint64(0), fmt.Errorf("%w: %w", wal.ErrUnknown, errDisk))
	log.EXPECT().Append(gomock.Any()).After(fails).AnyTimes().DoAndReturn(func(payload []byte) (uint64, error) {
		t.Error("the server appends to a log that has failed")
		return real.Append(payload)
	})
	return log
}

// mute is a log whose entries cannot be read from the first on.
type mute struct{ wal.Log }

func (l mute) Read(from uint64, fn func(uint64, []byte) error) error {
	if from > 0 {
		return errDisk
	}
	return l.Log.Read(from, fn)
}

// TestOpenAgain: an Open that failed when it had fenced the log, and wrote
// nothing, does not keep the next one from it.
func TestOpenAgain(t *testing.T) {
	m := wal.NewMemory(occ.StoreID{}, 1<<20)
	s := running(t, Options{Log: m.Open()})
	pipe(t, s).hello(occ.SessionID{}).committed(nil, write(1, "kept"))
	shutdown(t, s)
	before := m.Open().Head()
	for range 3 {
		if _, err := Open(Options{Log: mute{m.Open()}}); !errors.Is(err, errDisk) {
			t.Fatal(err)
		}
	}
	log := m.Open()
	if e := log.Epoch(); log.Head() != before || e != before.Epoch+3 {
		t.Fatalf("%+v became %+v, epoch %d", before, log.Head(), e)
	}
	c := pipe(t, running(t, Options{Log: log})).hello(occ.SessionID{})
	if c.welcome.Epoch != before.Epoch+4 {
		t.Fatalf("served under epoch %d, after %d", c.welcome.Epoch, before.Epoch)
	}
	c.reads(1, 1, "kept")
	c.committed(nil, write(1, "more"))
}

// TestLogFailure: the append fails at each of the first calls: nothing is
// acknowledged from then on, connections end, Serve returns the error.
func TestLogFailure(t *testing.T) {
	for failAt := 1; failAt <= 4; failAt++ {
		ended := t.Run(fmt.Sprint(failAt), func(t *testing.T) {
			log := failingLog(t, failAt) // 1: the epoch, 2: the session, 3 and 4: commits
			s := running(t, Options{Log: log})
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			served := make(chan error, 1)
			go func() { served <- s.Serve(l) }()
			want := max(0, failAt-3)
			acknowledged, err := converse(l.Addr().String(), want+1)
			if err != nil {
				t.Fatalf("after %d commits the connection neither answers nor ends: %v", acknowledged, err)
			}
			if acknowledged != want {
				t.Fatalf("%d commits acknowledged, not %d", acknowledged, want)
			}
			wantEnd(t, s)
			if err := <-served; !errors.Is(err, errDisk) {
				t.Errorf("Serve: %v", err)
			}
			if err := s.Err(); !errors.Is(err, errDisk) || !errors.Is(err, wal.ErrUnknown) {
				t.Errorf("Err: %v", err)
			}
		})
		if !ended {
			return // the others might wait as long
		}
	}
}

// converse commits until the connection ends, or so many commits are
// acknowledged, and counts them. A connection that neither ends nor answers is an
// error.
func converse(addr string, most int) (acknowledged int, err error) {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return 0, nil // it has ended already
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(patience))
	c := &rawClient{conn: nc, reader: wire.NewReader(nc, wire.MaxFrame)}
	nc.Write(wire.Append(nil, &wire.Hello{Req: c.next(), Version: wire.Version}))
	for acknowledged < most {
		m, err := c.receive()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return acknowledged, err
		} else if err != nil {
			break
		}
		if items, ok := m.(*wire.Items); ok {
			acknowledged += len(items.Items)
		}
		nc.Write(wire.Append(nil, c.commit(nil, write(1, "x"))))
	}
	return acknowledged, nil
}

// TestShutdownAnswers: what was validated when the server began to stop is
// made durable and answered.
func TestShutdownAnswers(t *testing.T) {
	log := newTestLog()
	s := running(t, Options{Log: log})
	a := pipe(t, s).hello(occ.SessionID{})
	log.arm()
	a.send(a.commit(nil, write(1, "a")))
	<-log.groups
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown(context.Background()) }()
	<-s.stop
	select {
	case <-s.Done():
		t.Fatal("stopped with a group under way")
	default:
	}
	log.answer <- nil
	if items := expect[*wire.Items](a); items.Items[0].At != 1 {
		t.Fatalf("%+v", items)
	}
	a.ended()
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
}

// await waits until something is true of the core.
func (s *Server) await(t *testing.T, what func(*core.Core) bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); runtime.Gosched() {
		if !s.enter() {
			t.Fatal("the server has ended")
		}
		is := what(s.core)
		s.owner.Unlock()
		if is {
			return
		}
	}
	t.Fatal("waited in vain")
}

// TestCommitDelay: with Options.CommitDelay a group waits for others although
// the log is free, and the clock closes it.
func TestCommitDelay(t *testing.T) {
	log := newTestLog()
	s := running(t, Options{Log: log, CommitDelay: MaxCommitDelay})
	stopClock := func() { // until the next closeGroup
		s.owner.Lock()
		s.delayed = true
		s.owner.Unlock()
	}
	stopClock()
	s.await(t, (*core.Core).Idle) // the epoch is durable
	var clients []*rawClient
	for range 3 {
		c := pipe(t, s)
		c.send(&wire.Hello{Req: c.next(), Version: wire.Version})
		s.await(t, (*core.Core).Forming) // the new session
		s.closeGroup()
		stopClock()
		c.welcome = expect[*wire.Welcome](c)
		clients = append(clients, c)
	}
	log.arm()
	for i, c := range clients {
		c.send(c.commit(nil, write(occ.BlockID(i), "a")))
		c.settled()
	}
	select {
	case g := <-log.groups:
		t.Fatalf("a group of %d records did not wait", len(g.Records))
	default:
	}
	go s.closeGroup() // as the clock does
	if g := <-log.groups; len(g.Records) != 3 {
		t.Fatalf("%d records", len(g.Records))
	}
	log.answer <- nil
	for _, c := range clients {
		if items := expect[*wire.Items](c); items.Stable != 3 {
			t.Fatalf("%+v", items)
		}
	}
	log.groups, log.answer = nil, nil
}
