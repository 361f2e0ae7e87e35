package core_test

import (
	"testing"
	"time"

	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// Each test holds one rule of the client by itself.

func TestPingUnderWayIsNotLateEnoughOnATie(t *testing.T) {
	s, c := start(t, 1)
	s.now += 10
	first, second := c[0].ro(0), c[0].ro(0)
	first.ask(x)
	second.ask(x) // the ping was queued at the tick at which second began
	c[0].counts(wire.TypePing, 2)
	s.now++
	third := c[0].ro(time.Duration(2))
	third.ask(x) // but after third's bound
	c[0].counts(wire.TypePing, 2)
	s.settle()
	for _, tx := range []*scriptTx{first, second, third} {
		tx.want(x, "x@0")
		tx.commit()
	}
	c[0].counts(wire.TypePing, 2)
}

func TestOwnRequestIsASyncPoint(t *testing.T) {
	s, c := start(t, 2)
	c[0].Evict(y)
	c[1].queueWrite(1, x)
	c[1].send()
	s.sync() // c0 has not heard of it
	ro := c[0].ro(0)
	ro.want(y, "y@0")
	ro.want(x, "x@1")
	c[0].counts(wire.TypePing, 0)
	ro.commit()
	if ro.wakes == 0 {
		t.Fatal("nobody was woken")
	}
}

func TestCommitReplyIsASyncPoint(t *testing.T) {
	s, c := start(t, 1)
	s.now += time.Hour
	c[0].write(1, z)
	ro := c[0].ro(2 * time.Second)
	ro.want(x, "x@0")
	c[0].counts(wire.TypePing, 0)
	ro.wantRange(1, 1)
	ro.commit()
}

func TestJoinedRequestIsNoSyncPoint(t *testing.T) {
	s, c := start(t, 2)
	c[0].Evict(y)
	old := c[0].ro(core.Unbounded)
	old.ask(y)
	c[0].send()
	c[1].queueWrite(1, x)
	c[1].send()
	s.sync() // committed before the next one begins, and not yet heard of
	s.now++
	ro := c[0].ro(0)
	ro.ask(y)
	c[0].counts(wire.TypeRead, 1)
	c[0].counts(wire.TypePing, 1)
	c[0].receive() // y, as of before x@1
	for _, b := range []occ.BlockID{x, y} {
		if got, ok := ro.try(b); ok {
			t.Fatalf("read %s before the lower bound was known", got)
		}
	}
	s.settle()
	ro.want(x, "x@1")
	ro.want(y, "y@0")
	ro.commit()
	old.want(y, "y@0")
	old.commit()
}

func TestFirstRequestOfAReaderTakesTheCacheToo(t *testing.T) {
	_, c := start(t, 1)
	c[0].Evict(y)
	ro := c[0].ro(0)
	if got := ro.c.ReadMany(ro.Tx, []occ.BlockID{x, y}, make([][]byte, 2)); got {
		t.Fatal("read without a lower bound")
	}
	c[0].Ask(ro.Tx, []occ.BlockID{x, y}, c[0].s.now)
	c[0].counts(wire.TypeRead, 1)
	c[0].counts(wire.TypePing, 0)
	ro.want(x, "x@0")
	ro.want(y, "y@0")
	c[0].counts(wire.TypeRead, 1)
	ro.commit()
}

func TestAskedAtHiAtOnceWhenSomethingIsClosed(t *testing.T) {
	_, c := start(t, 2)
	ro := c[0].ro(core.Unbounded)
	ro.want(x, "x@0")
	c[1].write(1, x, y)
	c[0].Evict(y)
	ro.want(y, "y@0")
	c[0].counts(wire.TypeRead, 1)
	if n := c[0].Stats().SecondAsks; n != 1 {
		t.Fatalf("%d blocks were asked for at a timestamp", n)
	}
	ro.commit()
}

func TestNewestVersionThatFits(t *testing.T) {
	_, c := start(t, 2)
	c[1].write(1, x)
	c[0].look(x)
	c[1].write(2, x)
	c[0].look(x)
	c[1].write(3, y)
	c[0].cached(x, "[2,open) [1,2) [0,1)")
	ro := c[0].ro(core.Unbounded)
	ro.want(x, "x@2") // not an older one, although each would do
	ro.wantRange(2, 3)
	ro.want(y, "y@0") // the only one cached; it ended at 3
	ro.wantRange(2, 2)
	ro.commit()
}

func TestDeprecationOfAnotherVersionIsIgnored(t *testing.T) {
	_, c := start(t, 2)
	c[1].write(1, x)
	rw := c[0].rw()
	rw.want(x, "x@1")
	for _, from := range []occ.Timestamp{0, 2} {
		if err := c[0].Receive(&wire.Items{Stable: 3, Items: []wire.Item{{Block: x, From: from, At: 3}}}); err != nil {
			t.Fatal(err)
		}
	}
	rw.is(core.Running)
	c[0].cached(x, "[1,open) [0,1)")
	c[0].Abort(rw.Tx)
}

func TestGLUBStaysWhenAMessageIsBroken(t *testing.T) {
	// The deprecation behind the broken item is lost with the connection:
	// y may not be taken for valid through 9.
	_, c := start(t, 1)
	err := c[0].Receive(&wire.Items{Stable: 9, Items: []wire.Item{
		{Kind: wire.ItemCommitted, Req: 1 << 40, At: 1}, {Block: y, From: 0, At: 5},
	}})
	wantProtocolError(t, err)
	if c[0].GLUB() != 0 {
		t.Fatalf("GLUB is %d", c[0].GLUB())
	}
	c[0].Disconnect()
	c[0].cached(y, "[0,1)")
}

func TestFloor(t *testing.T) {
	// In each case the client has seen nothing above 0 but what the case says,
	// and its copies of x and z ended at 3.
	for name, run := range map[string]func(*script, *scriptClient) occ.Timestamp{
		"read-only, to its lo": func(s *script, c *scriptClient) occ.Timestamp {
			ro := c.ro(0)
			ro.want(x, "x@3")
			ro.commit()
			return 3
		},
		"read-only without reads, not": func(s *script, c *scriptClient) occ.Timestamp {
			c.ro(core.Unbounded).commit()
			return 0
		},
		"committed": func(s *script, c *scriptClient) occ.Timestamp {
			c.write(4, y)
			return 4
		},
		"validated": func(s *script, c *scriptClient) occ.Timestamp {
			rw := c.rw()
			rw.want(y, "y@0")
			rw.commit()
			s.settle()
			rw.is(core.Committed)
			return 3
		},
		"aborted by its owner": func(s *script, c *scriptClient) occ.Timestamp {
			rw := c.rw()
			rw.want(x, "x@3")
			c.Abort(rw.Tx)
			return 3
		},
		"abandoned reader": func(s *script, c *scriptClient) occ.Timestamp {
			ro := c.ro(core.Unbounded)
			c.Evict(x)
			ro.want(x, "x@3")
			c.Abort(ro.Tx)
			return 3
		},
		"aborted actively": func(s *script, c *scriptClient) occ.Timestamp {
			rw := c.rw()
			rw.want(x, "x@3")
			rw.want(y, "y@0")
			s.clients[1].write(4, y)
			rw.is(core.Aborted)
			return 3
		},
		"aborted by the server": func(s *script, c *scriptClient) occ.Timestamp {
			rw := c.rw()
			rw.want(x, "x@3")
			rw.want(y, "y@0")
			rw.writes(z, 9)
			rw.commit()
			c.collect()
			s.clients[1].queueWrite(4, y)
			s.clients[1].send()
			s.sync()
			s.settle()
			rw.is(core.Aborted)
			return 3
		},
		"in doubt": func(s *script, c *scriptClient) occ.Timestamp {
			rw := c.rw()
			rw.want(x, "x@3")
			rw.writes(z, 9)
			rw.commit() // never sent
			c.disconnect()
			c.GiveUp()
			rw.is(core.InDoubt)
			return 3
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, clients := start(t, 2)
			c := clients[0]
			c.warm(z)
			for at := occ.Timestamp(1); at <= 3; at++ {
				clients[1].write(at, x, z)
			}
			if c.Floor() != 0 {
				t.Fatalf("the floor is %d at the start", c.Floor())
			}
			want := run(s, c)
			if c.Floor() != want {
				t.Fatalf("the floor is %d, not %d", c.Floor(), want)
			}
			ro := c.ro(core.Unbounded)
			if c.Online() {
				name := map[bool]string{true: "z@3", false: "z@0"}[want >= 3]
				ro.want(z, name)
			} else if got, ok := ro.try(z); ok {
				t.Fatalf("read %s below the floor", got)
			}
			c.Abort(ro.Tx)
		})
	}
}

func TestDroppedHold(t *testing.T) {
	// The server no longer vouches for x after 1: readers stop there, writers
	// start anew.
	s, c := start(t, 2)
	c[1].write(1, z)
	s.srv.Tick(s.now + 20*time.Second)
	s.perform()
	s.settle()
	ro, rw := c[0].ro(core.Unbounded), c[0].rw()
	ro.want(x, "x@0")
	rw.want(x, "x@0")
	if err := c[0].Receive(&wire.Items{Stable: 1, Items: []wire.Item{{Kind: wire.ItemDropped, Block: x, From: 0, At: 1}}}); err != nil {
		t.Fatal(err)
	}
	c[0].cached(x, "[0,2)")
	rw.is(core.Aborted)
	if rw.Reason() != occ.AbortDisconnected {
		t.Fatalf("aborted for %v", rw.Reason())
	}
	c[1].write(2, x, y)
	ro.want(y, "y@0")
	ro.wantRange(0, 1)
	ro.commit()
}

func TestLargeReadSets(t *testing.T) {
	// A read set changes its shape as it grows; nothing else may.
	for _, n := range []int{6, 7, 23, 24, 25, 60} {
		_, c := start(t, 2)
		ro, rw, other := c[0].ro(core.Unbounded), c[0].rw(), c[0].rw()
		for i := range occ.BlockID(n) {
			ro.reads(1000 + i)
			rw.reads(1000 + i)
			other.reads(5000 + i)
		}
		before := c[0].Stats()
		for i := range occ.BlockID(n) {
			if _, ok := ro.try(1000 + i); !ok {
				t.Fatalf("block %d of %d was forgotten", i, n)
			}
		}
		if now := c[0].Stats(); now.Hits != before.Hits {
			t.Fatalf("%d reads, and a block read again was looked up in the cache", n)
		}
		if reads, _, _ := ro.Size(); reads != n {
			t.Fatalf("%d blocks read, not %d", reads, n)
		}
		ro.wantRange(0, 0)
		c[1].write(1, 1000+occ.BlockID(n)-1)
		rw.is(core.Aborted)
		other.is(core.Running)
		if got := rw.Conflicts(); len(got) != 1 || got[0] != (occ.Read{Block: 1000 + occ.BlockID(n) - 1, From: 1}) {
			t.Fatalf("the conflict is %v", got)
		}
		ro.wantRange(0, 0)
		ro.commit()
		c[0].Abort(other.Tx)
	}
}
