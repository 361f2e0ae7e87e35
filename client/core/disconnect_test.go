package core_test

import (
	"testing"
	"time"

	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

func TestSchedule10ReadWriteOverAReconnect(t *testing.T) {
	_, c := start(t, 2)
	rw := c[0].rw()
	rw.want(x, "x@0")
	c[0].disconnect()
	rw.is(core.Aborted)
	if rw.Reason() != occ.AbortDisconnected || rw.wakes == 0 {
		t.Fatalf("aborted for %v, woken %d times", rw.Reason(), rw.wakes)
	}
	c[1].write(1, x, y)
	c[0].reconnect()
	again := c[0].rw()
	again.want(x, "x@1")
	again.want(y, "y@1")
	c[0].Abort(again.Tx)
}

func TestSchedule11ReadOnlyOverAReconnect(t *testing.T) {
	_, c := start(t, 2)
	c[0].Evict(y)
	ro := c[0].ro(core.Unbounded)
	ro.want(x, "x@0")
	c[0].disconnect()
	c[1].write(1, x, y)
	ro.is(core.Running)
	ro.wantRange(0, 0)
	c[0].reconnect()
	if c[0].GLUB() != 1 {
		t.Fatalf("GLUB is %d", c[0].GLUB())
	}
	ro.wantRange(0, 0)
	ro.want(y, "y@0")
	ro.commit()
}

func TestSchedule19MissedMiddleVersion(t *testing.T) {
	_, c := start(t, 2)
	c[0].disconnect()
	c[0].cached(x, "[0,1)")
	c[1].write(1, x)
	c[1].write(2, x)
	c[1].write(3, y)
	c[0].reconnect()
	c[0].warm(y)
	fetch := c[0].rw()
	fetch.want(x, "x@2")
	c[0].cached(x, "[2,open) [0,1)")
	ro := c[0].ro(core.Unbounded)
	ro.want(x, "x@2")
	ro.want(y, "y@3")
	ro.commit()
	c[0].Abort(fetch.Tx)
}

// A version that a disconnect has bounded is held open again when the server
// says that it is still the newest.
func TestBoundedVersionIsConfirmed(t *testing.T) {
	_, c := start(t, 2)
	ro := c[0].ro(core.Unbounded)
	ro.want(x, "x@0")
	c[0].disconnect()
	c[1].write(1, y)
	c[0].reconnect()
	rw := c[0].rw()
	rw.want(x, "x@0")
	c[0].cached(x, "[0,open)")
	c[1].write(2, x)
	rw.is(core.Aborted)
	ro.want(y, "y@0")
	ro.commit()
}

func TestOfflineReaders(t *testing.T) {
	s, c := start(t, 1)
	ping := c[0].ro(0)
	ping.want(x, "x@0") // a sync point
	ping.commit()
	s.now += time.Second
	waiting := c[0].ro(0)
	waiting.ask(x)
	fetching := c[0].ro(core.Unbounded)
	fetching.ask(z)
	c[0].disconnect()
	for _, tx := range []*scriptTx{waiting, fetching} {
		tx.is(core.Running)
		if tx.Waiting() || tx.wakes == 0 {
			t.Fatal("it waits for an answer that cannot come")
		}
		c[0].Abort(tx.Tx)
	}
	young := c[0].ro(2 * time.Second) // the sync point suffices
	young.want(x, "x@0")
	young.commit()
	if c[0].Online() || len(c[0].TakeMessages()) > 0 {
		t.Fatal("a client without connection sends something")
	}
}

func TestDisconnectEndsEverythingUnderWay(t *testing.T) {
	s, c := start(t, 1)
	validating, committing, running, creating := c[0].rw(), c[0].rw(), c[0].rw(), c[0].rw()
	validating.want(x, "x@0")
	validating.commit()
	committing.writes(y, 1)
	committing.commit()
	running.want(x, "x@0")
	c[0].AskIDs(creating.Tx, s.now)
	query := c[0].Ping(c[0], s.now)
	c[0].disconnect()
	validating.is(core.Aborted) // it changes nothing: it may be run again
	committing.is(core.Committing)
	c[0].GiveUp()
	committing.is(core.InDoubt)
	running.is(core.Aborted)
	creating.is(core.Aborted)
	for _, tx := range []*scriptTx{validating, committing, running, creating} {
		if tx.Waiting() || tx.wakes == 0 {
			t.Fatalf("%v: waiting is %v, woken %d times", tx.State(), tx.Waiting(), tx.wakes)
		}
	}
	if !query.Done() || query.Err != core.ErrOffline {
		t.Fatalf("the query ended with %v", query.Err)
	}
	if n := c[0].Running(); n != 0 {
		t.Fatalf("%d transactions are left", n)
	}
	if st := c[0].Stats(); st.InDoubt != 1 || st.Aborts[occ.AbortDisconnected] != 3 {
		t.Fatalf("%+v", st)
	}
	c[0].reconnect()
	again := c[0].rw()
	c[0].AskIDs(again.Tx, s.now)
	s.settle()
	if _, ok := c[0].TakeID(); !ok || again.Waiting() {
		t.Fatal("no ids after a reconnect")
	}
	c[0].counts(wire.TypeLease, 1)
	c[0].Abort(again.Tx)
}
