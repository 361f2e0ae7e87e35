package server

import (
	"math"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/wal"
)

func TestCheckpointInterval(t *testing.T) {
	for _, c := range []struct{ least, index, want int64 }{
		{DefaultCheckpointBytes, 0, 64 << 20},
		{DefaultCheckpointBytes, 8 << 20, 64 << 20},
		{DefaultCheckpointBytes, 8<<20 + 1, 64<<20 + 8},
		{DefaultCheckpointBytes, 12 << 20, 96 << 20},
		{DefaultCheckpointBytes, 16<<20 - 1, 128<<20 - 8},
		{DefaultCheckpointBytes, 16 << 20, 128 << 20},
		{DefaultCheckpointBytes, 20 << 20, 128 << 20},
		{DefaultCheckpointBytes, 1 << 40, 128 << 20},
		{1500, 1000, 3000},
		{math.MaxInt64, 1 << 40, math.MaxInt64},
	} {
		if got := checkpointInterval(c.least, c.index); got != c.want {
			t.Errorf("at least %d with an index of %d: %d, want %d", c.least, c.index, got, c.want)
		}
	}
}

// TestLargeIndexWaitsLonger: a server takes the index of its last checkpoint
// into account, the one it was opened with, too.
func TestLargeIndexWaitsLonger(t *testing.T) {
	d, log := disk.NewMemory(), wal.NewMemory(occ.StoreID{9}, wal.DefaultMemoryLimit)
	const least = 300 << 10
	opts := func() Options {
		o := scripted(log, d)
		o.CheckpointBytes = least
		return o
	}
	grown := func(s *Server, bytes int64) (due bool) {
		if !s.enter() {
			t.Fatal("the server has ended")
		}
		defer s.leave(nil)
		was := s.checkpoints.logged
		s.checkpoints.logged = bytes
		due = s.checkpointDue(s.storage.blocks.Stats())
		s.checkpoints.logged = was
		return due
	}
	s := running(t, opts())
	if grown(s, least-1) || !grown(s, least) {
		t.Error("a new store waits for something else")
	}
	c := pipe(t, s).hello(occ.SessionID{})
	var writes []occ.Write
	for b := range occ.BlockID(10_000) { // an index of more than an eighth of least
		writes = append(writes, write(1+b, "x"))
	}
	c.committed(nil, writes...)
	shutdown(t, s)
	s = running(t, opts())
	index := s.storage.blocks.Stats().IndexBytes
	want := checkpointInterval(least, index)
	if want <= least || want == maxStretch*least {
		t.Fatalf("an index of %d bytes tells nothing", index)
	}
	if grown(s, want-1) || !grown(s, want) {
		t.Errorf("with an index of %d bytes it does not wait for %d", index, want)
	}
	shutdown(t, s)
}
