package core

import (
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// loaded is a world in which connection 2 writes small commits whenever there
// is room for one, before anybody else gets a chance.
type loaded struct {
	*world
	t    *testing.T
	seqs [4]uint64
	last map[ConnID]wire.Message
}

func newLoaded(t *testing.T, cfg Config) *loaded {
	w := &loaded{world: newWorld(cfg), t: t, last: make(map[ConnID]wire.Message)}
	for id := range ConnID(3) {
		w.connect(id + 1)
		w.receive(id+1, &wire.Hello{Req: 1, Version: wire.Version})
		w.settle()
	}
	w.onMessage = func(id ConnID, m wire.Message) { w.last[id] = m }
	return w
}

// try sends a commit of ranges of n blocks and reports whether it waits for the
// log; if it does not, it is refused as one that may come again.
func (w *loaded) try(id ConnID, urgent bool, n int) bool {
	w.t.Helper()
	w.seqs[id]++
	var reads []occ.Read
	var writes []occ.Write
	for i := range n {
		b := occ.BlockID(1000*uint64(id)+10_000*w.seqs[id]) + occ.BlockID(i)
		reads, writes = append(reads, occ.Read{Block: b}), append(writes, ranges(b, 0, "x"))
	}
	m := newCommit(w.seqs[id]+1, w.seqs[id], reads, writes)
	m.Urgent, m.Acked = urgent, w.seqs[id]-1
	delete(w.last, id)
	w.receive(id, m)
	e, refused := w.last[id].(*wire.Error)
	if refused && (e.Code != wire.CodeBusy || e.Limit != uint64(w.cfg.PendingBytes) || e.Value < e.Limit) {
		w.t.Fatalf("%+v", e)
	}
	return !refused
}

func (w *loaded) load() {
	for w.try(2, false, 1) {
	}
}

// TestLargestCommitGetsIn: the largest commit that the limits allow is let in
// where a small one is; and if it is urgent, even if others use up all room
// there ever is, one at a time.
func TestLargestCommitGetsIn(t *testing.T) {
	const block, most = 256 << 10, 16
	w := newLoaded(t, Config{BlockSize: block, PendingBytes: most * block})
	if n := w.core.Limits().CommitWrites; n != most {
		t.Fatalf("%d blocks may be written", n)
	}
	largest := int64(most * (block + 100))
	bounded := func(n int64) {
		t.Helper()
		if w.core.pending > w.cfg.PendingBytes+n*largest {
			t.Fatalf("%d bytes wait", w.core.pending)
		}
	}
	for range most - 1 {
		if !w.try(2, false, 1) {
			t.Fatal("there is room")
		}
	}
	if !w.try(1, false, most) {
		t.Fatal("refused where a small one would be let in")
	}
	bounded(1)
	w.settle()
	for round := range 5 {
		w.load()
		for range 7 { // each group makes room, which others use
			w.flush()
			w.durable()
			w.load()
			if w.try(1, false, most) {
				t.Fatal("let in where a small one would not be")
			}
		}
		if !w.try(1, true, most) {
			t.Fatalf("round %d: refused for ever", round)
		}
		if w.try(3, true, most) {
			t.Fatal("two are beyond the bound")
		}
		bounded(2)
		groups := 0
		for ; !w.try(3, true, most); groups++ {
			w.flush()
			w.durable()
			w.load()
		}
		if _, ok := w.last[1].(*wire.Items); !ok || groups > 2*most {
			t.Fatalf("after %d groups: %+v", groups, w.last[1])
		}
		bounded(2)
		w.settle()
	}
	if w.core.pending != 0 || w.core.beyond || len(w.problems) > 0 {
		t.Errorf("%d bytes wait, %v, %v", w.core.pending, w.core.beyond, w.problems)
	}
}
