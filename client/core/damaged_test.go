package core_test

import (
	"testing"
	"time"

	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// A damaged block fails those who read it. Those who read blocks that were
// asked for together with it get them, also a version that is still current.
func TestDamagedBlockAmongOthers(t *testing.T) {
	for name, readOnly := range map[string]bool{"read-only": true, "read/write": false} {
		t.Run(name, func(t *testing.T) {
			s, c := start(t, 2)
			c[0].write(1, y)
			c[0].disconnect()
			c[0].reconnect()
			c[1].write(2, x)
			c[1].write(3, z)
			s.damaged = x
			s.now += time.Second // who begins now sees all that
			c[0].Evict(x)
			c[0].Evict(z)
			if readOnly {
				c[0].Evict(y) // else it is looked at when the others are there
			}
			all, some, left := c[0].begin(readOnly, 0), c[0].begin(readOnly, 0), c[0].begin(readOnly, 0)
			c[0].Ask(all.Tx, []occ.BlockID{z, x, y}, s.now)
			some.ask(y)
			left.ask(z)
			c[0].Abort(left.Tx)
			s.settle()
			if r := all.Refusal(); all.State() != core.Aborted || r == nil || r.Code != wire.CodeDamaged {
				t.Fatalf("state %v, refusal %v", all.State(), r)
			}
			some.is(core.Running)
			some.want(y, "y@1")
			some.want(z, "z@3")
			some.commit()
			s.settle()
			some.is(core.Committed)
			c[0].Evict(y)
			c[0].cached(y, "") // nothing is pinned any more
			other := c[0].begin(readOnly, 0)
			s.damaged = 0
			other.want(x, "x@2")
			c[0].Abort(other.Tx)
		})
	}
}

// Blocks that nobody waits for any more are not asked for again.
func TestDamagedBlockThatNobodyWaitsFor(t *testing.T) {
	s, c := start(t, 2)
	c[1].write(1, x, y)
	s.damaged = x
	tx := c[0].rw()
	c[0].Ask(tx.Tx, []occ.BlockID{x, y}, s.now)
	c[0].Abort(tx.Tx)
	s.settle()
	c[0].counts(wire.TypeRead, 1)
	s.damaged = 0
	c[0].look(x)
}
