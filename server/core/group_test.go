package core

import (
	"bytes"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// TestLateApply: a group that is durable lets the next one go to the log, but
// is neither visible nor answered, nor has its bytes back, before Apply; which
// makes up for as many groups as there are.
func TestLateApply(t *testing.T) {
	w := newLoaded(t, Config{})
	const size = 100
	commit := func(seq uint64) {
		w.receive(1, newCommit(seq+1, seq, nil, []occ.Write{{Block: occ.BlockID(seq), Data: bytes.Repeat([]byte{1}, size)}}))
	}
	commit(1)
	w.flush()
	for n := range int64(2) {
		if n == 0 {
			commit(2)
		}
		w.logged()
		if w.core.Stable() != 0 || w.last[1] != nil || w.core.Idle() || w.core.pending < 2*size {
			t.Fatalf("stable %d, answer %+v, idle %v, %d bytes pending", w.core.Stable(), w.last[1], w.core.Idle(), w.core.pending)
		}
		if next := w.appended != nil; next != (n == 0) {
			t.Fatalf("with %d groups to be applied, another one goes to the log: %v", n+1, next)
		}
	}
	w.receive(3, newCommit(2, 1, []occ.Read{{Block: 1}}, []occ.Write{{Block: 9, Data: []byte("x")}}))
	w.apply()
	if items := w.last[1].(*wire.Items); items.Stable != 2 || len(items.Items) != 2 || items.Items[0].At != 1 || items.Items[1].At != 2 {
		t.Fatalf("%+v", items)
	}
	if c, ok := w.last[3].(*wire.Conflict); !ok || c.Stable != 2 {
		t.Fatalf("%+v", w.last[3])
	}
	if !w.core.Idle() || w.core.pending != 0 || len(w.problems) > 0 {
		t.Fatalf("idle %v, %d bytes pending, %v", w.core.Idle(), w.core.pending, w.problems)
	}
}
