package server

import (
	"testing"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// TestSweepGoesOn: what the horizon has passed is dropped piece by piece, but
// without waiting for a tick or a commit before each.
func TestSweepGoesOn(t *testing.T) {
	s := running(t, Options{ExternalClock: true, Retention: time.Second})
	c := pipe(t, s).hello(occ.SessionID{})
	const many = 16_000
	for first := occ.BlockID(1); first < 3*many; first += many {
		for _, data := range []string{"old", "new"} {
			var writes []occ.Write
			for b := range occ.BlockID(many) {
				writes = append(writes, write(first+b, data))
			}
			c.committed(nil, writes...)
		}
	}
	for _, now := range []time.Duration{time.Second, 3 * time.Second} {
		c.send(&wire.Clock{Req: c.next(), Now: now})
		expect[*wire.Pong](c)
	}
	const limit = 20 * time.Second // with ticks alone, of which it takes 94, it is longer
	for begun := time.Now(); c.figures()["versions_retained"] > 0; {
		if time.Since(begun) > limit {
			t.Fatalf("%d versions are left of %d", c.figures()["versions_retained"], 3*many)
		}
	}
}
