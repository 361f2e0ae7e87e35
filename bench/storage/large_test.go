package storage_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
)

// TestLargeStore fills a store, reads and commits when it is full, starts the
// server again, in good order and after a kill, and checks what it finds.
func TestLargeStore(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "900MiB")
	s, dir := start(t, fmt.Sprintf("--memory=%d", *memory))
	blocks := uint64(*gib * (1 << 30) / blockSize)
	db := dial(t, s)
	ctx := context.Background()

	begun := time.Now()
	first, err := db.CreateRange(ctx, blocks)
	if err != nil {
		t.Fatal(err)
	}
	const perCommit, writers = 256, 4
	var all errgroup.Group
	for w := range uint64(writers) {
		all.Go(func() error {
			for at := w * perCommit; at < blocks; at += writers * perCommit {
				err := db.Update(ctx, func(tx *client.Tx) error {
					for i := at; i < min(at+perCommit, blocks); i++ {
						if err := tx.Write(first+occ.BlockID(i), content(occ.BlockID(i), 0)); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(begun)
	t.Logf("%d blocks (%.2f GiB) in %.1f s: %.0f MiB/s", blocks, *gib, took.Seconds(), float64(blocks*blockSize>>20)/took.Seconds())

	rng := rand.New(rand.NewPCG(1, 2))
	check := func(db *client.DB, n int) (p50, p99 time.Duration) {
		var times []time.Duration
		for range n {
			i := rng.Uint64N(blocks)
			begun := time.Now()
			err := db.View(ctx, func(tx *client.Tx) error {
				data, err := tx.Read(first + occ.BlockID(i))
				if err == nil && !bytes.Equal(data, content(occ.BlockID(i), 0)) {
					t.Fatalf("block %d has other bytes", i)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			times = append(times, time.Since(begun))
		}
		slices.Sort(times)
		return times[n/2], times[n*99/100]
	}
	p50, p99 := check(db, 2000)
	c := counters(t, db)
	t.Logf("random reads: p50 %v, p99 %v; %d of the server's from disk", p50, p99, c["cache_misses"])
	t.Logf("the server: resident set at most %d MiB, index of blocks %d MiB, of versions %d MiB, block file %d MiB, directory %d MiB, %d checkpoints",
		c["max_rss_bytes"]>>20, c["block_index_memory_bytes"]>>20, c["index_bytes"]>>20, c["block_file_bytes"]>>20, size(t, dir)>>20, c["checkpoints"])

	for _, stop := range []struct {
		name string
		end  func()
	}{
		{"in good order", func() {
			if err := s.Stop(); err != nil {
				t.Fatal(err)
			}
		}},
		{"kill -9", s.Kill},
	} {
		if _, err := db.CreateRange(ctx, 1); err != nil { // something to recover
			t.Fatal(err)
		}
		begun := time.Now()
		stop.end()
		ended := time.Now()
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: stopped in %v, listening again after %v", stop.name, ended.Sub(begun).Round(time.Millisecond), time.Since(ended).Round(time.Millisecond))
		fresh := dial(t, s)
		check(fresh, 200)
		err := fresh.Update(ctx, func(tx *client.Tx) error {
			id, err := tx.Create()
			if err != nil {
				return err
			}
			if id < first+occ.BlockID(blocks) {
				t.Errorf("block id %d was handed out again", id)
			}
			return tx.Write(id, []byte("one more"))
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("after that: resident set at most %d MiB", counters(t, fresh)["max_rss_bytes"]>>20)
	}
}
