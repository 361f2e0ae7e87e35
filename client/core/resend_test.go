package core_test

import (
	"testing"

	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// Commits over a reconnection: schedules 12 to 14, and what ends a session.

func TestSchedule12TwoInDoubtCommits(t *testing.T) {
	s, c := start(t, 1)
	a := c[0].queueWrite(1, x)
	b := c[0].queueWrite(2, x)
	s.together(c[0])
	s.sync() // both are durable, and the answers are lost
	c[0].disconnect()
	a.is(core.Committing)
	b.is(core.Committing)
	c[0].reconnect()
	s.settle()
	a.is(core.Committed)
	b.is(core.Committed)
	if a.CommitAt() != 1 || b.CommitAt() != 2 {
		t.Fatalf("committed at %d and %d", a.CommitAt(), b.CommitAt())
	}
	if stable := s.srv.Stable(); stable != 2 {
		t.Fatalf("stable is %d: something was committed twice", stable)
	}
	c[0].cached(x, "[0,1)") // an answer to a resend installs nothing
	if c[0].Floor() != 2 {
		t.Fatalf("the floor is %d", c[0].Floor())
	}
}

func TestSchedule13ResendWhilePending(t *testing.T) {
	s, c := start(t, 1)
	a := c[0].queueWrite(1, x)
	c[0].send() // validated, on its way to disk
	c[0].disconnect()
	c[0].reconnect() // settles: the answer waits for the log
	s.settle()
	a.is(core.Committed)
	if s.srv.Stable() != 1 || c[0].sent[wire.TypeCommit] != 2 {
		t.Fatalf("stable is %d after %d sends", s.srv.Stable(), c[0].sent[wire.TypeCommit])
	}
}

func TestSchedule14ResendAfterAnOverwrite(t *testing.T) {
	s, c := start(t, 2)
	a := c[0].queueWrite(1, x)
	c[0].send()
	s.sync()
	c[0].disconnect() // the reply is lost
	c[1].write(2, x)
	c[0].reconnect()
	s.settle()
	a.is(core.Committed)
	if a.CommitAt() != 1 {
		t.Fatalf("committed at %d", a.CommitAt())
	}
	c[0].cached(x, "[0,1)")
	ro := c[0].ro(0)
	ro.want(x, "x@2")
	ro.commit()
}

func TestUnknownSessionLeavesCommitsInDoubt(t *testing.T) {
	s := faultyScript(t, 1, occ.Faults{}, occ.Faults{})
	c := s.clients[0]
	c.warm(x)
	a := c.queueWrite(1, x)
	c.disconnect()
	welcome(t, c, wire.Welcome{Store: occ.StoreID{1}, Session: occ.SessionID{99}})
	a.is(core.InDoubt)
	b := c.queueWrite(1, y)
	c.collect()
	if m := c.up[len(c.up)-1].(*wire.Commit); m.Seq != 1 || m.Resend {
		t.Fatalf("the new session begins with %+v", m)
	}
	b.is(core.Committing)
}

func TestStoreChange(t *testing.T) {
	for name, w := range map[string]wire.Welcome{
		"another store":                      {Store: occ.StoreID{7}, Session: occ.SessionID{9}, Stable: 50},
		"a restored backup":                  {Store: occ.StoreID{1}, Session: occ.SessionID{1}, Stable: 1},
		"a restored backup that has gone on": {Store: occ.StoreID{1}, Session: occ.SessionID{1}, Stable: 99, Epoch: 1 << 32},
	} {
		t.Run(name, func(t *testing.T) {
			s := faultyScript(t, 2, occ.Faults{}, occ.Faults{})
			c := s.clients[0]
			c.warm(x)
			s.clients[1].write(1, y)
			s.clients[1].write(2, y)
			c.write(3, z)
			reader, committing := c.ro(core.Unbounded), c.queueWrite(4, x)
			reader.want(z, "z@3")
			c.disconnect()
			welcome(t, c, w)
			reader.is(core.Aborted)
			if reader.Reason() != occ.AbortStoreChanged {
				t.Fatalf("aborted for %v", reader.Reason())
			}
			committing.is(core.InDoubt)
			if c.GLUB() != w.Stable || c.Floor() != 0 || c.Changed() == nil {
				t.Fatalf("GLUB %d, floor %d, change %v", c.GLUB(), c.Floor(), c.Changed())
			}
			c.cached(x, "")
			c.cached(z, "")
			c.Accept()
			if c.Changed() != nil {
				t.Fatal("the change is still there")
			}
			fresh := c.ro(0)
			fresh.ask(x) // nothing old answers
			next := uint64(1)
			if w.Session == (occ.SessionID{1}) {
				next = 3 // the session goes on with its numbers
			}
			c.queueWrite(9, y)
			c.collect()
			if m := c.up[len(c.up)-1].(*wire.Commit); m.Seq != next {
				t.Fatalf("the next commit has number %d, not %d", m.Seq, next)
			}
		})
	}
}

// welcome has the client connected to a server that answers its hello with w.
func welcome(t *testing.T, c *scriptClient, w wire.Welcome) {
	t.Helper()
	c.Hello(c, c.s.now)
	c.collect()
	w.Req = c.up[0].(*wire.Hello).Req
	w.BlockSize, w.Limits, w.Epoch = 64, wire.DefaultLimits(), max(w.Epoch, 1)
	c.up = nil
	if err := c.Receive(&w); err != nil {
		t.Fatal(err)
	}
}

// A refusal of a resend says nothing about what became of the commit.
func TestRefusedResend(t *testing.T) {
	for code, state := range map[wire.ErrorCode]core.State{
		wire.CodeStopping: core.Committing, // and asks again
		wire.CodeBusy:     core.Committing,
		wire.CodeSequence: core.InDoubt,
	} {
		s := faultyScript(t, 1, occ.Faults{}, occ.Faults{})
		c := s.clients[0]
		a := c.queueWrite(1, x)
		c.collect()
		first := c.up[0].(*wire.Commit)
		c.disconnect()
		welcome(t, c, wire.Welcome{Store: occ.StoreID{1}, Session: occ.SessionID{1}})
		c.collect()
		again := c.up[0].(*wire.Commit)
		if !again.Resend || again.Seq != first.Seq {
			t.Fatalf("%+v", again)
		}
		err := c.Receive(&wire.Error{Req: again.Req, Code: code})
		if (err != nil) != (state == core.Committing) {
			t.Fatalf("code %d: %v", code, err)
		}
		a.is(state)
	}
}

// What runs when the client has left its store does not reach the next one.
func TestLeaveStore(t *testing.T) {
	s := faultyScript(t, 1, occ.Faults{}, occ.Faults{})
	c := s.clients[0]
	c.warm(x)
	c.disconnect()
	woken := &scriptTx{}
	c.AwaitServer(woken)
	c.LeaveStore()
	if woken.wakes != 1 || c.Changed() == nil {
		t.Fatalf("woken %d times, change %v", woken.wakes, c.Changed())
	}
	c.Accept()
	blind := c.rw()
	blind.writes(x, 1)
	welcome(t, c, wire.Welcome{Store: occ.StoreID{2}, Session: occ.SessionID{5}})
	blind.is(core.Aborted)
	if c.Changed() != nil {
		t.Fatal("what was accepted is told again")
	}
}
