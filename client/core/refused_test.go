package core_test

import (
	"testing"

	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// A commit that was under way on two connections which the server ended
// because it could not read what it got is not sent a third time.
func TestCommitThatTheServerCannotRead(t *testing.T) {
	s := faultyScript(t, 1, occ.Faults{}, occ.Faults{})
	c := s.clients[0]
	a := c.queueWrite(1, x)
	c.collect()
	for range 2 {
		a.is(core.Committing)
		if err := c.Receive(&wire.Error{Code: wire.CodeMalformed, Text: "cannot read this"}); err == nil {
			t.Fatal("the connection goes on")
		}
		c.disconnect()
		welcome(t, c, wire.Welcome{Store: occ.StoreID{1}, Session: occ.SessionID{1}})
		c.collect()
	}
	a.is(core.InDoubt)
	if len(c.up) != 0 {
		t.Fatalf("it was sent again: %v", c.up)
	}
	b := c.queueWrite(2, x)
	c.disconnect() // for another reason
	b.is(core.Committing)
}

// An epoch that goes back shows a restored backup, however far that has gone on.
func TestEpochGoesBack(t *testing.T) {
	s := faultyScript(t, 1, occ.Faults{}, occ.Faults{})
	c := s.clients[0]
	c.disconnect()
	welcome(t, c, wire.Welcome{Store: occ.StoreID{1}, Session: occ.SessionID{1}, Epoch: 9, Stable: 10})
	if c.Changed() != nil {
		t.Fatal("a restart is no change")
	}
	c.disconnect()
	welcome(t, c, wire.Welcome{Store: occ.StoreID{1}, Session: occ.SessionID{1}, Epoch: 4, Stable: 11})
	if c.Changed() == nil {
		t.Fatal("nobody is told of the restored backup")
	}
}

// An outcome above the stable timestamp of its message cannot be.
func TestOutcomeAboveStable(t *testing.T) {
	s := faultyScript(t, 1, occ.Faults{}, occ.Faults{})
	c := s.clients[0]
	c.queueWrite(1, x)
	c.collect()
	c.disconnect()
	welcome(t, c, wire.Welcome{Store: occ.StoreID{1}, Session: occ.SessionID{1}, Stable: 5})
	c.collect()
	req := c.up[0].(*wire.Commit).Req
	err := c.Receive(&wire.Outcome{Req: req, Stable: 6, Status: wire.OutcomeCommitted, At: 7})
	if _, ok := err.(*core.ProtocolError); !ok {
		t.Fatalf("got %v", err)
	}
}
