package sim

import (
	"bytes"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/core"
)

// The simulated server knows what a version weighs and what was sent to make
// it: the whole block, or parts of it.
func TestSentBytes(t *testing.T) {
	w := NewWorld()
	defer w.Stop()
	s := NewServer(w, Options{})
	const size = 4096
	s.put(core.Put{Block: 7, From: 1, Data: bytes.Repeat([]byte("a"), size)})
	s.put(core.Put{Block: 7, From: 2, Base: 1, Ranges: []occ.Range{{Off: 9, Data: []byte("part")}, {Off: 90, Data: []byte("other")}}})
	for from, sent := range []int{0, size, len("part") + len("other")} {
		if n := s.SentBytes(7, occ.Timestamp(from)); n != sent {
			t.Errorf("version %d took %d bytes, want %d", from, n, sent)
		}
	}
	if n := s.ValueBytes(7, 2); n != size {
		t.Errorf("made from parts it has %d bytes", n)
	}
	if got := s.value(core.Ref{Block: 7, From: 2}); string(got[8:14]) != "aparta" {
		t.Errorf("%q", got[8:14])
	}
}
