package storage_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server"
)

// writers are clients that commit one block each.
type writers struct {
	dbs   []*client.DB
	ids   []occ.BlockID // the first of each one's blocks
	count uint64        // of what was written
}

const blocksEach = 1000

func newWriters(b *testing.B, n int, connect func() *client.DB) *writers {
	b.Helper()
	w := &writers{dbs: make([]*client.DB, n), ids: make([]occ.BlockID, n)}
	for i := range w.dbs {
		w.dbs[i] = connect()
		var err error
		if w.ids[i], err = w.dbs[i].CreateRange(context.Background(), blocksEach); err != nil {
			b.Fatal(err)
		}
	}
	return w
}

// run has them commit n times in all and returns how long each commit took,
// the shortest first, and all together.
func (w *writers) run(b *testing.B, n int) (times []time.Duration, took time.Duration) {
	b.Helper()
	var all sync.WaitGroup
	var mu sync.Mutex
	each := n / len(w.dbs)
	begun := time.Now()
	for i, db := range w.dbs {
		all.Go(func() {
			mine := make([]time.Duration, 0, each)
			data := content(w.ids[i], w.count)
			for k := range each {
				binary.LittleEndian.PutUint64(data, w.count+uint64(k))
				begun := time.Now()
				err := db.Update(context.Background(), func(tx *client.Tx) error {
					return tx.Write(w.ids[i]+occ.BlockID(k%blocksEach), data)
				})
				if err != nil {
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
	w.count += uint64(each)
	slices.Sort(times)
	return times, took
}

// BenchmarkCommit64 has 64 clients commit a block of 4 KiB each, over TCP or
// inside the server's process. Beside it stand two bare programs: one appends
// and syncs as many groups of the same size, and one takes the blocks from as
// many clients over TCP, and appends, syncs and answers what has arrived. The
// first pass is not counted: the server's memory grows to what it stays at.
func BenchmarkCommit64(b *testing.B) {
	const clients, commits, cache = 64, 32000, 16 << 20
	b.Run("tcp", func(b *testing.B) {
		s, dir := start(b, fmt.Sprintf("--memory=%d", cache>>20))
		commit64(b, dir, true, clients, commits, func() *client.DB { return dial(b, s) })
	})
	b.Run("inside", func(b *testing.B) {
		dir := filepath.Join(b.TempDir(), "store")
		s, err := server.Open(server.Options{Dir: dir, CacheBytes: cache, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			if err := s.Shutdown(context.Background()); err != nil {
				b.Error(err)
			}
		})
		commit64(b, dir, false, clients, commits, func() *client.DB {
			db, err := client.Local(s, client.Options{CacheBytes: clientCache})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { db.Close() })
			return db
		})
	})
}

func commit64(b *testing.B, dir string, overNetwork bool, clients, commits int, connect func() *client.DB) {
	w := newWriters(b, clients, connect)
	w.run(b, commits)
	before := counters(b, w.dbs[0])
	var took, disk, network time.Duration
	var groups, bytes, cpu, faults uint64
	n := 0
	for b.Loop() {
		n += commits
		_, t := w.run(b, commits)
		after := counters(b, w.dbs[0])
		grew := func(name string) uint64 { return after[name] - before[name] }
		groups, bytes = groups+grew("groups"), bytes+grew("group_bytes")
		cpu, faults = cpu+grew("cpu_us"), faults+grew("page_faults")
		took += t
		disk += appendAndSync(b, filepath.Join(dir, "bare"), int(grew("groups")), int(grew("group_bytes")/grew("groups")))
		if overNetwork {
			network += bareClients(b, filepath.Join(dir, "bare"), clients, commits)
		}
		before = counters(b, w.dbs[0])
	}
	b.ReportMetric(float64(n)/took.Seconds(), "commits/s")
	b.ReportMetric(float64(n)/disk.Seconds(), "bare-disk/s")
	if overNetwork {
		b.ReportMetric(float64(n)/network.Seconds(), "bare-network/s")
		b.ReportMetric(100*network.Seconds()/took.Seconds(), "%-of-network")
	}
	b.ReportMetric(100*disk.Seconds()/took.Seconds(), "%-of-disk")
	b.ReportMetric(float64(n)/float64(groups), "commits/group")
	b.ReportMetric(float64(cpu)/float64(n), "process-µs/commit")
	b.ReportMetric(float64(faults)/float64(n), "faults/commit")
}

// BenchmarkDuringCheckpoints is the latency of commits of 16 clients without
// checkpoints, and while one follows the other.
func BenchmarkDuringCheckpoints(b *testing.B) {
	const clients, commits = 16, 32000
	quiet, _ := start(b, "--checkpoint=100000")
	busy, _ := start(b, "--checkpoint=4")
	sets := map[string]*writers{
		"without": newWriters(b, clients, func() *client.DB { return dial(b, quiet) }),
		"during":  newWriters(b, clients, func() *client.DB { return dial(b, busy) }),
	}
	for b.Loop() {
		for name, w := range sets {
			db := w.dbs[0]
			before := counters(b, db)["checkpoints"]
			times, _ := w.run(b, commits)
			b.ReportMetric(float64(times[len(times)/2].Microseconds()), name+"-p50-µs")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), name+"-p99-µs")
			b.ReportMetric(float64(counters(b, db)["checkpoints"]-before), name+"-checkpoints")
		}
	}
}
