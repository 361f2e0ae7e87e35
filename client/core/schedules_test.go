package core_test

import (
	"testing"
	"time"

	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// The tests of this file are the interleavings of docs/schedules.md, by their
// numbers. x@0 and y@0 are cached at the start.

const epsilon = 2 * time.Second

func start(t *testing.T, n int) (*script, []*scriptClient) {
	s := newScript(t, n)
	for _, c := range s.clients {
		c.warm(x, y)
	}
	return s, s.clients
}

func TestSchedule01OneGroupTwoWriters(t *testing.T) {
	s, c := start(t, 2)
	a := c[0].queueWrite(1, x)
	b := c[1].queueWrite(2, y)
	s.together(c[0], c[1])
	s.sync()
	for len(c[0].down) > 0 {
		c[0].receive() // checks at every prefix that no dead version is open
	}
	s.settle()
	a.is(core.Committed)
	b.is(core.Committed)
	c[0].cached(x, "[1,open) [0,1)")
	c[0].cached(y, "[0,2)")
}

func TestSchedule02BlindOverwriteInOneGroup(t *testing.T) {
	s, c := start(t, 2)
	c[0].queueWrite(1, x)
	c[1].queueWrite(2, x)
	s.together(c[0], c[1])
	s.sync()
	for len(c[0].down) > 0 {
		c[0].receive()
	}
	c[0].cached(x, "[1,2) [0,1)")
	s.settle()
}

func TestSchedule03TwoLocalCommitsOfOneBlock(t *testing.T) {
	s, c := start(t, 1)
	a := c[0].queueWrite(1, x)
	b := c[0].queueWrite(2, x)
	s.together(c[0])
	s.sync()
	for len(c[0].down) > 0 {
		c[0].receive()
		if a.State() == core.Committed && b.State() != core.Committed && c[0].GLUB() >= 2 {
			t.Fatalf("reply 1 is handled, reply 2 is not, and the GLUB is %d", c[0].GLUB())
		}
	}
	b.is(core.Committed)
	c[0].cached(x, "[2,open) [1,2) [0,1)")
}

func TestSchedule04OwnCommitBesideLocalReaders(t *testing.T) {
	s, c := start(t, 1)
	ro := c[0].ro(core.Unbounded)
	ro.want(x, "x@0")
	rw := c[0].rw()
	rw.want(x, "x@0")
	sibling := c[0].queueWrite(1, x, y)
	s.settle()
	sibling.is(core.Committed)
	ro.want(y, "y@0")
	ro.wantRange(0, 0)
	ro.commit()
	rw.is(core.Aborted)
	if rw.Reason() != occ.AbortActive || rw.wakes == 0 {
		t.Fatalf("aborted for %v, woken %d times", rw.Reason(), rw.wakes)
	}
}

func TestSchedule05DeprecationWhileCommitting(t *testing.T) {
	s, c := start(t, 2)
	tx := c[0].rw()
	tx.want(x, "x@0")
	tx.writes(y, 1)
	tx.commit()
	c[1].queueWrite(2, x)
	s.together(c[0], c[1])
	s.sync()
	s.settle()
	tx.is(core.Committed)
	if tx.CommitAt() != 1 {
		t.Fatalf("committed at %d", tx.CommitAt())
	}
}

func TestSchedule05DeprecationArrivesFirst(t *testing.T) {
	// The commit is queued but still at the client when the deprecation
	// arrives: it does not abort, and the server says conflict.
	s, c := start(t, 2)
	tx := c[0].rw()
	tx.want(x, "x@0")
	tx.writes(y, 2)
	tx.commit()
	c[0].collect()
	c[1].queueWrite(1, x)
	c[1].send()
	s.sync()
	c[0].receiveAll()
	tx.is(core.Committing)
	s.settle()
	tx.is(core.Aborted)
	if tx.Reason() != occ.AbortConflict {
		t.Fatalf("aborted for %v", tx.Reason())
	}
	c[0].cached(y, "[0,open)")
}

func TestSchedule06EvictedRead(t *testing.T) {
	s, c := start(t, 2)
	ro := c[0].ro(core.Unbounded)
	ro.want(x, "x@0")
	c[0].Evict(x)
	c[0].Evict(y)
	c[1].write(1, x, y)
	s.srv.Tick(s.now + 20*time.Second) // a heartbeat is due
	s.perform()
	s.settle()
	if c[0].GLUB() != 1 {
		t.Fatalf("GLUB is %d", c[0].GLUB())
	}
	ro.want(y, "y@0")
	ro.wantRange(0, 0)
	ro.commit()
}

func TestSchedule07EvictionCrossesACommitReply(t *testing.T) {
	s, c := start(t, 2)
	c[0].queueWrite(1, x)
	c[0].send()
	s.sync()
	c[0].Evict(x) // the reply is under way
	c[0].receiveAll()
	c[0].cached(x, "[1,open)")
	c[1].write(2, x)
	c[0].cached(x, "[1,2)")
}

func TestSchedule07TwoFetchesUnderWay(t *testing.T) {
	s, c := start(t, 2)
	c[0].Evict(x)
	a, b := c[0].ro(core.Unbounded), c[0].ro(core.Unbounded)
	a.ask(x)
	b.ask(x)
	c[0].counts(wire.TypeRead, 1)
	s.settle()
	a.want(x, "x@0")
	b.want(x, "x@0")
	c[1].write(1, x)
	c[0].cached(x, "[0,1)")
	a.commit()
	b.commit()
}

func TestSchedule08SlowFetch(t *testing.T) {
	t.Run("latest", func(t *testing.T) {
		s, c := start(t, 2)
		c[1].write(1, x) // so that x has a version to load
		c[0].Evict(x)
		ro := c[0].ro(core.Unbounded)
		s.hold = true
		ro.ask(x)
		c[0].send()
		c[1].queueWrite(2, x)
		c[1].send()
		s.sync()
		s.release()
		s.settle()
		ro.want(x, "x@2")
		c[0].cached(x, "[2,open)")
		ro.commit()
	})
	t.Run("at hi", func(t *testing.T) {
		s, c := start(t, 2)
		c[1].write(1, x, y)
		c[0].Evict(x)
		c[0].Evict(y)
		c[0].warm(y)
		ro := c[0].ro(core.Unbounded)
		ro.want(y, "y@1")
		c[1].write(2, y) // closes y@1: hi is 1
		s.hold = true
		ro.ask(x) // at 1
		c[0].send()
		c[1].queueWrite(3, x)
		c[1].send()
		s.sync()
		s.release()
		s.settle()
		ro.want(x, "x@1")
		c[0].cached(x, "[1,3)")
		ro.wantRange(1, 1)
		ro.commit()
	})
}

func TestSchedule09OvertakenMiss(t *testing.T) {
	s, c := start(t, 2)
	c[0].Evict(y)
	ro := c[0].ro(core.Unbounded)
	ro.want(x, "x@0")
	ro.ask(y)
	c[0].collect() // the request waits in the network
	c[1].queueWrite(1, x, y)
	c[1].send()
	s.sync()
	c[0].send()
	c[0].receive() // the deprecation of x
	c[0].receive() // y@1
	ro.is(core.Running)
	ro.want(y, "y@0")
	ro.wantRange(0, 0)
	c[0].counts(wire.TypeRead, 2)
	ro.commit()
	s.settle()
}

func TestSchedule16ClockTie(t *testing.T) {
	_, c := start(t, 2)
	first := c[0].ro(0)
	first.want(x, "x@0")
	first.commit()
	c[0].counts(wire.TypePing, 1)
	c[1].queueWrite(1, x)
	c[1].send()
	c[1].s.sync() // committed; c0 has not heard of it
	second := c[0].ro(0)
	second.want(x, "x@1")
	c[0].counts(wire.TypePing, 2)
	second.commit()
}

func TestSchedule17FirstReadBeforeTheSyncPoint(t *testing.T) {
	s, c := start(t, 2)
	ro := c[0].ro(0)
	ro.ask(x)
	c[0].counts(wire.TypePing, 1)
	c[1].queueWrite(1, x)
	c[1].send()
	s.sync()
	if got, ok := ro.try(x); ok {
		t.Fatalf("read %s before the lower bound was known", got)
	}
	c[0].receive() // the deprecation, not the pong
	if got, ok := ro.try(x); ok {
		t.Fatalf("read %s before the lower bound was known", got)
	}
	s.settle()
	ro.want(x, "x@1")
	ro.commit()
}

func TestSchedule18HeartbeatOneEpsilonUnderWay(t *testing.T) {
	s, c := start(t, 2)
	s.now += 20 * time.Second
	c[1].queueWrite(1, z)
	c[1].send()
	s.sync()
	s.srv.Tick(s.now) // a heartbeat with stable 1 is queued for c0
	s.perform()
	heartbeats := len(c[0].down)
	c[1].queueWrite(2, x)
	c[1].send()
	s.sync()
	s.now += epsilon + 1
	for range heartbeats {
		c[0].receive()
	}
	if c[0].GLUB() != 1 {
		t.Fatalf("GLUB is %d after the heartbeat", c[0].GLUB())
	}
	ro := c[0].ro(epsilon)
	ro.ask(x)
	c[0].counts(wire.TypePing, 1)
	s.settle()
	ro.want(x, "x@2")
	ro.commit()
}

func TestSchedule20VersionZeroAndRetention(t *testing.T) {
	s, c := start(t, 3)
	for _, reader := range c[:2] {
		reader.warm(z)
		reader.cached(z, "[0,open)")
	}
	old := c[0].ro(core.Unbounded)
	old.want(z, "z@0")
	c[2].write(1, z)
	c[0].cached(z, "[0,1)")
	c[1].cached(z, "[0,1)")
	// The version ends up outside the retention window and is collected.
	c[2].write(2, y)
	for range 4 {
		s.now += time.Minute
		s.srv.Tick(s.now)
		s.perform()
		s.settle()
	}
	if h := s.srv.Horizon(); h == 0 {
		t.Fatal("nothing was collected")
	}
	c[0].Evict(x) // x at 0, below the horizon
	old.ask(x)
	s.settle()
	if !old.Gone() {
		t.Fatal("a lookup below the horizon was answered")
	}
	c[0].cached(x, "")
	restarts := 0
	for ; old.Gone() && restarts < 5; restarts++ {
		c[0].Restart(old.Tx)
		old.want(z, "z@1")
		old.want(x, "x@0")
	}
	if restarts != 1 {
		t.Fatalf("%d restarts", restarts)
	}
	old.commit()
}
