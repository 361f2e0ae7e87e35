package storage_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/bench/proc"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
)

// writers run commits of one block each, n in all, from so many clients, and
// return how long each took.
func writers(b *testing.B, s *proc.Server, clients, n int) (times []time.Duration, took time.Duration) {
	b.Helper()
	var all sync.WaitGroup
	var mu sync.Mutex
	ctx := context.Background()
	dbs := make([]*client.DB, clients)
	ids := make([]occ.BlockID, clients)
	for i := range dbs {
		dbs[i] = dial(b, s)
		var err error
		if ids[i], err = dbs[i].CreateRange(ctx, 1000); err != nil {
			b.Fatal(err)
		}
	}
	begun := time.Now()
	for i, db := range dbs {
		all.Go(func() {
			mine := make([]time.Duration, 0, n/clients)
			for k := range n / clients {
				id := ids[i] + occ.BlockID(k%1000)
				data := content(id, uint64(k))
				begun := time.Now()
				if err := db.Update(ctx, func(tx *client.Tx) error { return tx.Write(id, data) }); err != nil {
					b.Error(err)
					return
				}
				mine = append(mine, time.Since(begun))
			}
			mu.Lock()
			times = append(times, mine...)
			mu.Unlock()
		})
	}
	all.Wait()
	took = time.Since(begun)
	slices.Sort(times)
	return times, took
}

// BenchmarkCommit64 has 64 clients commit a block of 4 KiB each, and then a
// bare program append and sync as many groups of the same size.
func BenchmarkCommit64(b *testing.B) {
	const clients, commits = 64, 32000
	s, dir := start(b)
	db := dial(b, s)
	before := counters(b, db)
	for b.Loop() {
		_, took := writers(b, s, clients, commits)
		after := counters(b, db)
		groups := after["groups"] - before["groups"]
		bytes := after["group_bytes"] - before["group_bytes"]
		rate := float64(commits) / took.Seconds()
		bare := appendAndSync(b, filepath.Join(dir, "bare"), int(groups), int(bytes/groups))
		b.ReportMetric(rate, "commits/s")
		b.ReportMetric(float64(after["cpu_us"]-before["cpu_us"])/commits, "server-µs/commit")
		b.ReportMetric(float64(commits)/float64(groups), "commits/group")
		b.ReportMetric(float64(commits)/bare.Seconds(), "bare-commits/s")
		b.ReportMetric(100*bare.Seconds()/took.Seconds(), "%-of-bare")
		before = after
	}
}

// appendAndSync is the bare program.
func appendAndSync(b *testing.B, path string, n, size int) time.Duration {
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer os.Remove(path)
	defer f.Close()
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i*7 + i>>8)
	}
	begun := time.Now()
	for range n {
		if _, err := f.Write(data); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(begun)
}

// BenchmarkDuringCheckpoints is the latency of commits of 16 clients without
// checkpoints, and while one follows the other.
func BenchmarkDuringCheckpoints(b *testing.B) {
	const clients, commits = 16, 32000
	quiet, _ := start(b, "--checkpoint=100000")
	busy, _ := start(b, "--checkpoint=4")
	for b.Loop() {
		for name, s := range map[string]*proc.Server{"without": quiet, "during": busy} {
			db := dial(b, s)
			before := counters(b, db)["checkpoints"]
			times, _ := writers(b, s, clients, commits)
			b.ReportMetric(float64(times[len(times)/2].Microseconds()), name+"-p50-µs")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), name+"-p99-µs")
			b.ReportMetric(float64(counters(b, db)["checkpoints"]-before), name+"-checkpoints")
		}
	}
}
