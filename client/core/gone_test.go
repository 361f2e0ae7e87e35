package core_test

import (
	"testing"
	"time"
)

// gone returns a reader of c0 that saw x@1 and met "gone" at 1, where y and z
// have ended since. c0 knows of nothing above 5.
func gone(t *testing.T) (*script, *scriptClient, *scriptTx) {
	s, c := start(t, 2)
	c[1].write(1, x)
	old := c[0].ro(0)
	old.want(x, "x@1")
	c[0].look(z)
	c[1].write(2, x)
	c[1].write(3, y)
	c[1].write(4, z)
	c[1].write(5, x)
	c[0].cached(x, "[1,2) [0,1)")
	c[0].cached(z, "[0,4)")
	for range 4 {
		s.now += time.Minute
		s.srv.Tick(s.now)
		s.perform()
		s.settle()
	}
	c[0].Evict(y)
	if got := old.reads(y); got != "gone" {
		t.Fatalf("read %s", got)
	}
	return s, c[0], old
}

func TestGoneEvictsWhatItNamesAndRestartsAtTheGLUB(t *testing.T) {
	_, c, old := gone(t)
	c.cached(x, "[1,2)") // which old has read
	if c.Floor() != 0 {
		t.Fatalf("the floor is %d", c.Floor())
	}
	c.Restart(old.Tx)
	old.wantRange(5, 5)
	if c.Floor() != 1 {
		t.Fatalf("the floor is %d: its owner has seen x@1", c.Floor())
	}
	old.want(y, "y@3")
	old.commit()
	if c.Floor() != 5 {
		t.Fatalf("the floor is %d", c.Floor())
	}
	if n := c.Stats().Restarts; n != 1 {
		t.Fatalf("%d restarts", n)
	}
}
