package core

import (
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/record"
)

func ranges(b occ.BlockID, off uint32, data string) occ.Write {
	return occ.Write{Block: b, Ranges: []occ.Range{{Off: off, Data: []byte(data)}}}
}

// heardBy records what connection 1 is sent.
func heardBy(w *world) *[]wire.Message {
	var got []wire.Message
	w.onMessage = func(_ ConnID, m wire.Message) { got = append(got, m) }
	return &got
}

// TestRangesOnPending: ranges may be based on a version that is validated but
// not yet durable; whether both are in one group or not, they are applied in
// order, and so they are when the log is replayed.
func TestRangesOnPending(t *testing.T) {
	for _, groups := range []int{1, 2} {
		w := newWorld(Config{BlockSize: 16})
		w.open(1)
		w.receive(1, newCommit(2, 1, nil, []occ.Write{{Block: 1, Data: []byte("0123456789")}}))
		if groups == 2 {
			w.flush()
		}
		w.receive(1, newCommit(3, 2, []occ.Read{{Block: 1, From: 1}}, []occ.Write{ranges(1, 2, "cd")}))
		w.receive(1, newCommit(4, 3, []occ.Read{{Block: 1, From: 2}}, []occ.Write{ranges(1, 12, "m")}))
		w.receive(1, newCommit(5, 4, []occ.Read{{Block: 9, From: 0}}, []occ.Write{ranges(9, 3, "z")}))
		w.settle()
		for range 2 {
			for ref, want := range map[Ref]string{
				{1, 1}: "0123456789", {1, 2}: "01cd456789", {1, 3}: "01cd456789\x00\x00m", {9, 4}: "\x00\x00\x00z",
			} {
				if got := string(w.values[ref]); got != want {
					t.Errorf("%d groups: %v is %q, want %q", groups, ref, got, want)
				}
			}
			w.boot()
		}
		if len(w.problems) > 0 {
			t.Error(w.problems)
		}
	}
}

// TestRangesConflict: a version that is not the newest any more is no base,
// also if its successor is only pending.
func TestRangesConflict(t *testing.T) {
	w := newWorld(Config{BlockSize: 16})
	w.open(1)
	w.receive(1, newCommit(2, 1, nil, []occ.Write{{Block: 1, Data: []byte("old")}}))
	w.settle()
	got := heardBy(w)
	w.receive(1, newCommit(3, 2, nil, []occ.Write{{Block: 1, Data: []byte("new")}}))
	w.receive(1, newCommit(4, 3, []occ.Read{{Block: 1, From: 1}}, []occ.Write{ranges(1, 0, "x")}))
	w.settle()
	c, ok := (*got)[len(*got)-1].(*wire.Conflict)
	if !ok || c.Req != 4 || w.core.Stable() != 2 || string(w.values[Ref{1, 2}]) != "new" {
		t.Fatalf("%+v", *got)
	}
}

// TestRangesNeedTheirBase: without the block in the read set the message is
// malformed, however long the sets are; nothing is done.
func TestRangesNeedTheirBase(t *testing.T) {
	for _, n := range []occ.BlockID{0, 3, 40} {
		w := newWorld(Config{BlockSize: 16})
		w.open(1)
		var reads []occ.Read
		for b := range n {
			reads = append(reads, occ.Read{Block: 100 + b})
		}
		for _, wr := range []occ.Write{ranges(99, 0, "x"), ranges(100+n, 0, "x")} {
			got := heardBy(w)
			w.receive(1, newCommit(2, 1, reads, []occ.Write{wr}))
			w.settle()
			if e, ok := (*got)[0].(*wire.Error); !ok || e.Code != wire.CodeMalformed || w.core.Stable() != 0 {
				t.Fatalf("%d reads: %+v", n, *got)
			}
			w.open(1)
		}
		if n > 0 {
			w.receive(1, newCommit(2, 1, reads, []occ.Write{ranges(99+n, 0, "x")}))
			w.settle()
			if w.core.Stable() != 1 {
				t.Fatalf("%d reads: refused, though the block was read", n)
			}
		}
	}
}

// TestRangesLimits: a range ends within the block; ranges count by their
// bytes against the size of a commit, and as a full block against the memory
// budget, from validation until the version is gone.
func TestRangesLimits(t *testing.T) {
	const size = 4096
	w := newWorld(Config{BlockSize: size, MemoryBytes: 3 * (size + VersionOverhead), Limits: wire.Limits{CommitBytes: 1000}})
	w.open(1)
	got := heardBy(w)
	read := func(from occ.Timestamp) []occ.Read { return []occ.Read{{Block: 1, From: from}} }
	last := func(code wire.ErrorCode, limit uint64) {
		t.Helper()
		if e, ok := (*got)[len(*got)-1].(*wire.Error); !ok || e.Code != code || e.Limit != limit {
			t.Fatalf("got %+v, want code %v, limit %d", (*got)[len(*got)-1], code, limit)
		}
	}
	w.receive(1, newCommit(2, 1, read(0), []occ.Write{ranges(1, size-1, "xy")}))
	last(wire.CodeTooLarge, size)
	many := occ.Write{Block: 1}
	for i := range uint32(325) { // 3 bytes each, 20 for the read and for the write
		many.Ranges = append(many.Ranges, occ.Range{Off: 2 * i, Data: []byte{1}})
	}
	w.receive(1, newCommit(3, 2, read(0), []occ.Write{many}))
	last(wire.CodeTooLarge, 1000)
	for i := range uint64(3) {
		w.receive(1, newCommit(4+i, 3+i, read(occ.Timestamp(i)), []occ.Write{ranges(1, size-1, "x")}))
		if i%2 == 0 {
			w.settle()
		}
	}
	w.receive(1, newCommit(7, 6, read(3), []occ.Write{ranges(1, 0, "x")}))
	last(wire.CodeStoreFull, 3*(size+VersionOverhead))
	w.settle()
	if w.core.Stable() != 3 {
		t.Fatalf("stable %d", w.core.Stable())
	}
	w.core.collect(3)
	w.core.Sweep()
	w.pump()
	if w.core.values.bytes != size+VersionOverhead {
		t.Errorf("%d bytes are counted for one version", w.core.values.bytes)
	}
	w.receive(1, newCommit(8, 7, read(3), []occ.Write{ranges(1, 0, "ab")}))
	w.settle()
	if v := w.values[Ref{1, 4}]; len(v) != size || string(v[:2]) != "ab" || v[size-1] != 'x' || len(w.problems) > 0 {
		t.Errorf("%d bytes, %v", len(v), w.problems)
	}
}

// TestRangesCount: a commit of ranges counts what it takes in the log, and a
// bit more for its entries.
func TestRangesCount(t *testing.T) {
	wr := occ.Write{Block: 1}
	for off := uint32(0); off < 1<<19; off += off/3 + 2 {
		wr.Ranges = append(wr.Ranges, occ.Range{Off: off, Data: make([]byte, 1+off/5)})
	}
	r := record.Commit{Writes: []occ.Write{wr}}
	took := uint64(record.Size(&r) - record.Size(&record.Commit{Writes: []occ.Write{{Block: 1}}}))
	if n := commitBytes(wr); n < took || n > took+commitEntryBytes {
		t.Errorf("%d bytes count as %d", took, n)
	}
}

// TestRangesAreCopiedInRecovery: what Recover is given may be overwritten
// afterwards.
func TestRangesAreCopiedInRecovery(t *testing.T) {
	c := New(Config{})
	wr := ranges(1, 5, "before")
	err := c.Recover([]record.Record{
		&record.Session{ID: occ.SessionID{1}},
		&record.Commit{At: 1, Session: occ.SessionID{1}, Seq: 1, Writes: []occ.Write{wr}},
	})
	if err != nil {
		t.Fatal(err)
	}
	copy(wr.Ranges[0].Data, "after!")
	wr.Ranges[0].Off = 0
	put := c.Take()[0].(Put)
	if got := put.Value(func(Ref) []byte { return nil }); string(got) != "\x00\x00\x00\x00\x00before" {
		t.Fatalf("%q", got)
	}
}
