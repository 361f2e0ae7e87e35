package core_test

import (
	"testing"

	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/history"
)

// Each test breaks one rule and scripts the shortest run in which that
// matters. It fails unless the history checker names the rule.

func wantViolation(t *testing.T, s *script, rule history.Rule) {
	t.Helper()
	r := s.check.Finish()
	for _, v := range r.Violations {
		if v.Rule == rule {
			return
		}
	}
	t.Fatalf("the fault was not noticed: %v %v", r, r.Violations)
}

func TestFaultForgetPending(t *testing.T) {
	s := faultyScript(t, 2, occ.Faults{ForgetPending: true}, occ.Faults{})
	a, b := s.clients[0].rw(), s.clients[1].rw()
	a.want(x, "x@0")
	b.want(x, "x@0")
	a.writes(x, 1)
	b.writes(x, 2)
	a.commit()
	b.commit()
	s.together(s.clients...) // neither is durable when the other is validated
	s.settle()
	wantViolation(t, s, history.CommitReads)
}

func TestFaultSkipReadCheck(t *testing.T) {
	s := faultyScript(t, 2, occ.Faults{SkipReadCheck: true}, occ.Faults{})
	a := s.clients[0].rw()
	a.want(x, "x@0")
	a.writes(y, 2)
	a.commit()
	s.clients[0].collect() // the commit waits in the network
	s.clients[1].queueWrite(1, x)
	s.clients[1].send()
	s.sync()
	s.settle()
	wantViolation(t, s, history.CommitReads)
}

func TestFaultLoseDeprecation(t *testing.T) {
	s := faultyScript(t, 2, occ.Faults{LoseDeprecation: true}, occ.Faults{})
	reader := s.clients[0]
	reader.warm(x)
	s.clients[1].write(1, x)
	ro := reader.ro(0)
	ro.reads(x)
	ro.commit()
	wantViolation(t, s, history.Snapshot)
}

func TestFaultStableAhead(t *testing.T) {
	s := faultyScript(t, 2, occ.Faults{StableAhead: true}, occ.Faults{})
	reader := s.clients[0]
	reader.warm(x)
	s.clients[1].queueWrite(1, x)
	s.clients[1].send()
	s.sync()
	reader.receive() // stable 1, and nothing of x yet
	ro := reader.ro(core.Unbounded)
	ro.want(x, "x@0")
	ro.commit()
	s.settle()
	wantViolation(t, s, history.Snapshot)
}

func TestFaultFloorNotRaised(t *testing.T) {
	s := faultyScript(t, 2, occ.Faults{}, occ.Faults{FloorNotRaised: true})
	c := s.clients[0]
	c.warm(x, y)
	s.clients[1].write(1, x, y) // c's versions of both are closed now
	c.write(2, z)
	ro := c.ro(core.Unbounded)
	ro.want(x, "x@0") // although the client has committed at 2
	ro.commit()
	wantViolation(t, s, history.Causality)
}
