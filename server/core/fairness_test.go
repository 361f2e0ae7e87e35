package core

import (
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// reserved is a world in which connection 1 has a reservation: block 100
// changed under it, and it read 1 to 99 as well.
func reserved(t *testing.T) *world {
	w := newWorld(Config{Limits: wire.DefaultLimits()})
	for id := range ConnID(2) {
		w.connect(id + 1)
		w.receive(id+1, &wire.Hello{Req: 1, Version: wire.Version})
		w.settle()
	}
	w.receive(2, newCommit(2, 1, nil, []occ.Write{{Block: 100, Data: []byte("a")}}))
	w.settle()
	var reads []occ.Read
	for b := range occ.BlockID(100) {
		reads = append(reads, occ.Read{Block: b + 1})
	}
	m := newCommit(2, 1, reads, []occ.Write{{Block: 1, Data: []byte("b")}})
	m.Urgent = true
	w.receive(1, m)
	if w.core.counts.reservations != 1 {
		t.Fatal("no reservation")
	}
	return w
}

// A reservation has room for 64 blocks, and what changed comes first.
func TestReservationBlocks(t *testing.T) {
	for block, held := range map[occ.BlockID]uint64{100: 1, 1: 1, 63: 1, 64: 0, 99: 0} {
		w := reserved(t)
		w.receive(2, newCommit(3, 2, nil, []occ.Write{{Block: block, Data: []byte("c")}}))
		if w.core.counts.held != held {
			t.Errorf("block %d: %d commits held back, want %d", block, w.core.counts.held, held)
		}
	}
}

// Held commits have a limit in bytes, too; its count goes down with them.
func TestHeldBytes(t *testing.T) {
	w := reserved(t)
	write := func(seq uint64, size int) {
		var writes []occ.Write
		for b := occ.BlockID(100); size > 0; b, size = b+1, size-4000 {
			data := make([]byte, min(size, 4000))
			data[len(data)-1] = 1
			writes = append(writes, occ.Write{Block: b, Data: data})
		}
		w.receive(2, newCommit(seq+1, seq, nil, writes))
	}
	write(2, 9<<20)
	if w.core.counts.held != 1 || w.core.fair.bytes < 9<<20 {
		t.Fatalf("%d held, %d bytes", w.core.counts.held, w.core.fair.bytes)
	}
	write(3, 9<<20) // too much: both are decided
	if w.core.counts.held != 1 || w.core.fair.bytes != 0 || len(w.core.queue) != 2 {
		t.Fatalf("%d held, %d bytes, %d in the queue", w.core.counts.held, w.core.fair.bytes, len(w.core.queue))
	}
	w.settle()
	if len(w.problems) > 0 || w.core.Stable() != 3 {
		t.Errorf("stable %d, %v", w.core.Stable(), w.problems)
	}
}
