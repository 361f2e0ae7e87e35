package server

import (
	"testing"

	"github.com/tidemark/tidemark/occ/wire"
)

// TestQueueLimits: bytes and messages are limited each by itself, and what
// was taken does not count.
func TestQueueLimits(t *testing.T) {
	big := &wire.ReadReply{Results: []wire.ReadResult{{Data: make([]byte, 4096)}}}
	small := &wire.Pong{}
	for name, c := range map[string]struct {
		maxBytes, maxMessages int
		message               wire.Message
		fits                  int
	}{
		"bytes":    {3 * estimate(big), 100, big, 3},
		"messages": {1 << 20, 5, small, 5},
	} {
		q := newQueue(c.maxBytes, c.maxMessages)
		for range 3 {
			for i := range c.fits + 1 {
				if ok := q.push([]wire.Message{c.message}, true); ok != (i < c.fits) {
					t.Errorf("%s: push %d: %v", name, i, ok)
				}
			}
			if got, done := q.take(nil); len(got) != c.fits || done {
				t.Errorf("%s: took %d messages, done %v", name, len(got), done)
			}
		}
		q.push([]wire.Message{small}, true)
		q.close()
		if !q.push([]wire.Message{small}, true) {
			t.Errorf("%s: a closed queue overflows", name)
		}
		if got, done := q.take(nil); len(got) != 1 || !done {
			t.Errorf("%s: took %d messages after close, done %v", name, len(got), done)
		}
	}
}
