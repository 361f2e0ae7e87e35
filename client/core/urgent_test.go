package core_test

import (
	"testing"
	"time"

	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// urgent begins an urgent read/write transaction.
func (c *scriptClient) urgent() *scriptTx {
	tx := c.rw()
	tx.Urgent()
	return tx
}

// An urgent transaction whose read set changes goes on at the timestamp at
// which what it read is valid, so that the server learns of all of it; the
// next attempt then wins against a writer that came first.
func TestUrgentGoesOnAtASnapshot(t *testing.T) {
	s, c := start(t, 2)
	a := c[0].urgent()
	a.want(x, "x@0")
	c[1].write(1, x, y)
	a.is(core.Running)
	a.want(x, "x@0")
	c[0].Evict(y) // so that the server has to say
	c[0].look(y)
	a.want(y, "y@0") // not y@1, which was never there together with x@0
	a.want(z, "z@0")
	c[1].write(2, z) // z is read and ends above a's snapshot
	a.writes(z, 3)
	a.commit()
	s.settle()
	a.is(core.Aborted)
	if a.Reason() != occ.AbortConflict || len(a.Conflicts()) != 3 {
		t.Fatalf("%v, %d conflicts", a.Reason(), len(a.Conflicts()))
	}
	b := c[0].urgent()
	b.want(y, "y@1") // which is what was reserved
	w := c[1].queueWrite(4, y)
	s.settle()
	w.is(core.Committing)
	b.writes(x, 3)
	b.commit()
	s.settle()
	b.is(core.Committed)
	w.is(core.Committed)
	if b.CommitAt() != 3 || w.CommitAt() != 4 {
		t.Fatalf("committed at %d and %d", b.CommitAt(), w.CommitAt())
	}
}

// A connection that is lost aborts an urgent transaction like any other, and
// a commit that is sent again is still urgent.
func TestUrgentOverAReconnection(t *testing.T) {
	s, c := start(t, 1)
	a, b := c[0].urgent(), c[0].urgent()
	a.want(x, "x@0")
	b.writes(y, 1)
	b.commit()
	c[0].send()
	c[0].disconnect()
	a.is(core.Aborted)
	b.is(core.Committing)
	c[0].reconnect()
	s.settle()
	b.is(core.Committed)
	if n := c[0].sent[wire.TypeCommit]; n != 2 || c[0].urgentSent != n {
		t.Fatalf("%d commits sent, %d of them urgent", n, c[0].urgentSent)
	}
}

// A snapshot that has left the retention window ends an urgent transaction: a
// read/write one does not begin anew by itself.
func TestUrgentGone(t *testing.T) {
	s, c := start(t, 2)
	a := c[0].urgent()
	a.want(x, "x@0")
	c[1].write(1, x)
	for at := occ.Timestamp(2); at < 5; at++ {
		c[1].write(at, y)
	}
	for range 4 {
		s.now += time.Minute
		s.srv.Tick(s.now)
		s.perform()
		s.settle()
	}
	a.is(core.Running)
	c[0].Evict(y)
	if got := a.reads(y); got != core.Aborted.String() || a.Gone() || a.Reason() != occ.AbortActive {
		t.Fatalf("read %s, gone %v, %v", got, a.Gone(), a.Reason())
	}
}

// What was asked for before the read set changed, and is too new now, is asked
// for again.
func TestUrgentLeavesWhatCameTooLate(t *testing.T) {
	s, c := start(t, 2)
	a := c[0].urgent()
	a.want(x, "x@0")
	c[0].Evict(y)
	a.ask(y)
	w := c[1].queueWrite(1, x, y)
	c[1].send()
	s.sync()
	s.settle()
	w.is(core.Committed)
	a.want(y, "y@0")
}

// Each version that is read at the snapshot narrows it further.
func TestUrgentSnapshotNarrows(t *testing.T) {
	_, c := start(t, 2)
	a := c[0].urgent()
	a.want(x, "x@0")
	c[0].look(z)
	c[1].write(1, z)
	c[1].write(2, y)
	c[1].write(3, x)
	c[0].look(y)
	a.want(z, "z@0") // which ended at 1
	a.want(y, "y@0") // and not y@2
}
