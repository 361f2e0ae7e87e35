package core

import (
	"slices"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// TestBasesStayWithTheCommit: what was read for a commit comes back in its
// Puts, also if it was held back, and the core keeps nothing of it when the
// commit is applied, refused, sent again, or ends with its connection.
func TestBasesStayWithTheCommit(t *testing.T) {
	w := reserved(t)
	var puts []string
	w.trace = func(e Effect) {
		if p, ok := e.(Put); ok {
			puts = append(puts, string(p.BaseData))
		}
	}
	based := func(seq uint64, from occ.Timestamp, base string) *wire.Commit {
		w.bases.Data = [][]byte{nil, []byte(base)}
		return newCommit(seq+1, seq, []occ.Read{{Block: 100, From: from}}, []occ.Write{{Block: 7, Data: []byte("whole")}, ranges(100, 0, "x")})
	}
	kept := func(where string, want int) {
		t.Helper()
		n := 0
		for _, s := range w.core.queue[:cap(w.core.queue)] {
			n += len(s.bases)
		}
		for _, h := range w.core.fair.held[:cap(w.core.fair.held)] {
			n += len(h.bases.Data)
		}
		if n += len(w.core.bases.Data); n != want {
			t.Fatalf("%s: bases of %d writes are kept, not %d", where, n, want)
		}
	}
	held := based(2, 1, "a")
	w.receive(2, held)
	kept("held back", 2)
	if c := w.core.counts.held; c != 1 {
		t.Fatalf("%d held back", c)
	}
	if n := w.core.fair.bytes; n < w.core.cfg.BlockSize {
		t.Errorf("it counts %d bytes", n)
	}
	w.core.letGo()
	w.pump()
	kept("let go", 2)
	held.Resend = true
	w.receive(2, held)
	kept("sent again", 2)
	w.settle()
	kept("applied", 0)
	if want := []string{"", "a"}; !slices.Equal(puts, want) {
		t.Fatalf("put on %q, not on %q", puts, want)
	}
	w.receive(2, based(3, 1, "a"))
	kept("a conflict", 0)

	w = reserved(t)
	w.receive(2, based(2, 1, "a"))
	kept("held back again", 2)
	w.core.Disconnect(2)
	w.pump()
	kept("disconnected", 0)
}
