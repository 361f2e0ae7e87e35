package storage_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/wal"
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

// BenchmarkCommit64 has 64 clients commit a block of 4 KiB each: over TCP with
// a server in a process of its own; inside the server's process; and there with
// a disk that takes 2 ms more for each sync, as disks do that cannot keep what
// they hold without power. Beside it stand two bare programs: one appends and
// syncs as many groups of the same size, and one takes the blocks from as many
// clients over TCP, and appends, syncs and answers what has arrived. The first
// pass is not counted: the server's memory grows to what it stays at.
func BenchmarkCommit64(b *testing.B) {
	b.Run("tcp", func(b *testing.B) {
		s, dir := start(b, fmt.Sprintf("--memory=%d", commitCache>>20))
		commit64(b, dir, 0, true, func() *client.DB { return dial(b, s) })
	})
	b.Run("inside", func(b *testing.B) {
		dir := filepath.Join(b.TempDir(), "store")
		commit64Inside(b, dir, 0, server.Options{Dir: dir})
	})
	b.Run("inside-slow-disk", func(b *testing.B) {
		const more = 2 * time.Millisecond
		dir, id := b.TempDir(), occ.StoreID{1}
		log, _, err := wal.Open(filepath.Join(dir, "log"), id, wal.Options{})
		if err != nil {
			b.Fatal(err)
		}
		files := filepath.Join(dir, "blocks")
		if err := os.Mkdir(files, 0o700); err != nil {
			b.Fatal(err)
		}
		commit64Inside(b, dir, more, server.Options{Log: slowLog{log, more}, Store: id, Blocks: disk.OS(files)})
	})
}

const (
	commitClients = 64
	commitCount   = 32000    // of commits in a pass
	commitCache   = 16 << 20 // the server's
)

// slowLog is a log on a disk whose syncs take longer.
type slowLog struct {
	wal.Log
	more time.Duration
}

// Append implements wal.Log.
func (l slowLog) Append(payload []byte) (uint64, error) {
	index, err := l.Log.Append(payload)
	<-time.After(l.more)
	return index, err
}

// commit64Inside is commit64 with a server in this process.
func commit64Inside(b *testing.B, dir string, more time.Duration, opts server.Options) {
	opts.CacheBytes, opts.Logger = commitCache, slog.New(slog.DiscardHandler)
	s, err := server.Open(opts)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			b.Error(err)
		}
	})
	commit64(b, dir, more, false, func() *client.DB {
		db, err := client.Local(s, client.Options{CacheBytes: clientCache})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { db.Close() })
		return db
	})
}

// commit64 compares clients that connect makes with the bare programs, for
// which syncs take longer as well. It uses a file beside the store in dir.
func commit64(b *testing.B, dir string, more time.Duration, overNetwork bool, connect func() *client.DB) {
	w := newWriters(b, commitClients, connect)
	w.run(b, commitCount)
	before := counters(b, w.dbs[0])
	var took, appended, network time.Duration
	var groups, bytes, cpu, faults uint64
	n := 0
	for b.Loop() {
		n += commitCount
		_, t := w.run(b, commitCount)
		after := counters(b, w.dbs[0])
		grew := func(name string) uint64 { return after[name] - before[name] }
		groups, bytes = groups+grew("groups"), bytes+grew("group_bytes")
		cpu, faults = cpu+grew("cpu_us"), faults+grew("page_faults")
		took += t
		appended += appendAndSync(b, filepath.Join(dir, "bare"), int(grew("groups")), more, int(grew("group_bytes")/grew("groups")))
		if overNetwork {
			network += bareClients(b, filepath.Join(dir, "bare"), commitClients, commitCount)
		}
		before = counters(b, w.dbs[0])
	}
	b.ReportMetric(float64(n)/took.Seconds(), "commits/s")
	b.ReportMetric(float64(n)/appended.Seconds(), "bare-disk/s")
	if overNetwork {
		b.ReportMetric(float64(n)/network.Seconds(), "bare-network/s")
		b.ReportMetric(100*network.Seconds()/took.Seconds(), "%-of-network")
	}
	b.ReportMetric(100*appended.Seconds()/took.Seconds(), "%-of-disk")
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
