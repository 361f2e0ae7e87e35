package storage_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
)

// mostResident is what the resident set of a server may reach whose GOMEMLIMIT
// is so many bytes. That limit does not count the program itself, for which
// there are 24 MiB, and is exceeded for moments, for which there is a
// sixteenth. With 850 MiB it is less than 1,000,000,000.
func mostResident(limit uint64) uint64 { return limit + limit/16 + 24<<20 }

// TestLargeStore fills a store that is larger than the server's cache, and
// in full size than its memory, starts
// the server again in good order, and kills it while blocks are overwritten.
// Then every block holds what was acknowledged last, the resident set never was
// above its bound, and "store check" finds nothing. Times are reported alone.
func TestLargeStore(t *testing.T) {
	t.Setenv("GOMEMLIMIT", fmt.Sprintf("%dMiB", *memoryLimit))
	s, dir := start(t, fmt.Sprintf("--memory=%d", *memory))
	db := dial(t, s)
	ctx := context.Background()
	fatal := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	resident := func(when string, db *client.DB) map[string]uint64 {
		t.Helper()
		c, most := counters(t, db), mostResident(uint64(*memoryLimit)<<20)
		t.Logf("resident set %s: at most %d of %d bytes", when, c["max_rss_bytes"], most)
		if c["max_rss_bytes"] > most {
			t.Errorf("with GOMEMLIMIT=%dMiB the resident set reached %d bytes %s, more than %d", *memoryLimit, c["max_rss_bytes"], when, most)
		}
		return c
	}

	w := &twin{writes: make([]uint8, int(*gib*(1<<30)/blockSize))}
	blocks := len(w.writes)
	begun := time.Now()
	var err error
	w.first, err = db.CreateRange(ctx, uint64(blocks))
	fatal(err)
	fatal(w.fill(ctx, db, 256))
	took := time.Since(begun)
	t.Logf("%d blocks (%.2f GiB) in %.1f s: %.0f MiB/s", blocks, *gib, took.Seconds(), float64(blocks*blockSize>>20)/took.Seconds())
	p50, p99, err := w.sample(ctx, db, 2000)
	fatal(err)
	c := resident("when it was filled", db)
	t.Logf("random reads: p50 %v, p99 %v; %d of the server's from disk", p50, p99, c["cache_misses"])
	t.Logf("index of blocks %d MiB, of versions %d MiB, block file %d MiB, directory %d MiB, %d checkpoints",
		c["block_index_memory_bytes"]>>20, c["index_bytes"]>>20, c["block_file_bytes"]>>20, size(t, dir)>>20, c["checkpoints"])

	begun = time.Now()
	fatal(s.Stop())
	ended := time.Now()
	fatal(s.Start(ctx))
	t.Logf("in good order: stopped in %v, listening again after %v", ended.Sub(begun).Round(time.Millisecond), time.Since(ended).Round(time.Millisecond))

	commits := max(64, blocks/4096)
	var acked atomic.Int64
	halfway, overwritten := make(chan struct{}), make(chan error, 1)
	go func() {
		overwritten <- w.overwrite(ctx, db, commits, 16, func() {
			if acked.Add(1) == int64(parts*commits/2) {
				close(halfway)
			}
		})
	}()
	select {
	case <-halfway:
	case err := <-overwritten:
		t.Fatal(err)
	}
	s.Kill()
	log := size(t, filepath.Join(dir, "log"))
	ended = time.Now()
	fatal(s.Start(ctx))
	t.Logf("kill -9 after %d commits with %d MiB of log: listening again after %v", acked.Load(), log>>20, time.Since(ended).Round(time.Millisecond))
	fatal(<-overwritten)

	fresh := dial(t, s)
	begun = time.Now()
	fatal(w.verify(ctx, fresh))
	t.Logf("all blocks read in %v", time.Since(begun).Round(time.Millisecond))
	fatal(fresh.Update(ctx, func(tx *client.Tx) error {
		id, err := tx.Create()
		if err == nil && id < w.first+occ.BlockID(blocks) {
			err = fmt.Errorf("block id %d was handed out again", id)
		}
		return err
	}))
	resident("after the kill", fresh)

	s.Kill()
	out, err := exec.Command(program, "store", "check", dir).CombinedOutput()
	if fields := strings.Fields(string(out)); err != nil || len(fields) < 2 || fields[len(fields)-2] != "verdict" || fields[len(fields)-1] != "clean" {
		t.Errorf("store check ended with %v:\n%s", err, out)
	}
}
