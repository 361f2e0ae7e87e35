package storage_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
)

// TestSpace overwrites the blocks of a working set again and again and waits
// until the retention window has passed: the directory then holds at most twice
// the live data, and the log between two checkpoints.
func TestSpace(t *testing.T) {
	s, dir := start(t, "--retention=2s", "--memory=64", "--checkpoint=8")
	db := dial(t, s)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	blocks := uint64(*workingSet << 20 / blockSize)
	first, err := db.CreateRange(ctx, blocks)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	const perCommit = 64
	most := int64(0)
	for n := 0; n < *overwrites; n += perCommit {
		err := db.Update(ctx, func(tx *client.Tx) error {
			for i := range perCommit {
				b := rng.Uint64N(blocks)
				if n < int(blocks) { // each at least once
					b = uint64(n+i) % blocks
				}
				if err := tx.Write(first+occ.BlockID(b), content(occ.BlockID(b), uint64(n))); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if n%(64*perCommit) == 0 {
			most = max(most, size(t, dir))
		}
	}
	live := int64(blocks) * blockSize
	limit := 2*live + 8<<20
	begun := time.Now()
	now := size(t, dir)
	for now > limit {
		if err := db.Ping(ctx); err != nil {
			t.Fatalf("%d bytes for %d of live data, more than %d: %v", now, live, limit, err)
		}
		now = size(t, dir)
	}
	t.Logf("%d overwrites of %d MiB: directory at most %d MiB while they ran, %d MiB %v after the last (%.2f times the live data)",
		*overwrites, live>>20, most>>20, now>>20, time.Since(begun).Round(time.Millisecond), float64(now)/float64(live))
}
