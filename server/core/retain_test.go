package core

import (
	"testing"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/record"
)

// TestRetentionIsThrifty: however often the clock ticks and whatever commits,
// a horizon is logged once a second at most, and marks stay few; and what the
// horizon passes is forgotten by the index too.
func TestRetentionIsThrifty(t *testing.T) {
	w := newWorld(Config{Retention: 2 * time.Second})
	w.open(1)
	const seconds, rate = 10, 100
	for i := range uint64(seconds * rate) {
		w.receive(1, newCommit(i+2, i+1, nil, []occ.Write{{Block: 1, Data: numbered(i)}}))
		w.core.Tick(time.Duration(i) * time.Second / rate)
		w.settle()
		if n := len(w.core.marks.marks); n > markCount+2 {
			t.Fatalf("%d marks", n)
		}
	}
	horizons := 0
	for _, g := range w.log {
		for _, r := range g {
			if _, ok := r.(*record.Horizon); ok {
				horizons++
			}
		}
	}
	if horizons < 5 || horizons > seconds {
		t.Errorf("%d horizons in %d s", horizons, seconds)
	}
	if left := w.core.versions.Collect(1); left != nil {
		t.Errorf("the index still has %d versions below the horizon", len(left))
	}
	if n := w.core.values.ended.Len(); n > 4*rate {
		t.Errorf("%d versions retained", n)
	}
	if len(w.problems) > 0 {
		t.Error(w.problems)
	}
}

// TestRecoverCopies: what Recover is given may be overwritten afterwards.
func TestRecoverCopies(t *testing.T) {
	c := New(Config{})
	data := []byte("before")
	err := c.Recover([]record.Record{
		&record.Session{ID: occ.SessionID{1}},
		&record.Commit{At: 1, Session: occ.SessionID{1}, Seq: 1, Writes: []occ.Write{{Block: 1, Data: data}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	copy(data, "after!")
	put, ok := c.Take()[0].(Put)
	if !ok || string(put.Data) != "before" {
		t.Fatalf("%+v", put)
	}
}
