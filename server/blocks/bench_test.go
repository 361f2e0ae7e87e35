package blocks

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/disk"
)

func benchOptions() Options { return Options{Store: testStore, BlockSize: 4096} }

func makeCheckpoint(b *testing.B, s *Store, at uint64) {
	b.Helper()
	must(b, s.Begin(Moment{LogIndex: at, Stable: occ.Timestamp(at)}, nil))
	for {
		done, err := s.Step()
		must(b, err)
		if done {
			return
		}
	}
}

// BenchmarkPut puts a block's new version and drops its old one.
func BenchmarkPut(b *testing.B) {
	s, _, err := Open(disk.NewMemory(), benchOptions())
	must(b, err)
	data := make([]byte, 4096)
	const blocks = 10_000
	at := occ.Timestamp(0)
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		at++
		s.Put(occ.BlockID(at%blocks), at, data)
		if at > blocks {
			s.Drop(occ.BlockID(at%blocks), at-blocks)
		}
	}
}

// BenchmarkGet gets versions that are in memory.
func BenchmarkGet(b *testing.B) {
	s, _, err := Open(disk.NewMemory(), benchOptions())
	must(b, err)
	const blocks = 10_000
	for i := range occ.BlockID(blocks) {
		s.Put(i, 1, make([]byte, 4096))
	}
	makeCheckpoint(b, s, 1)
	i := 0
	b.ReportAllocs()
	b.SetBytes(4096)
	for b.Loop() {
		i = (i + 7919) % blocks
		if _, ok := s.Get(occ.BlockID(i), 1); !ok {
			b.Fatal("not in memory")
		}
	}
}

// BenchmarkRead reads versions from a file that the machine has in memory.
func BenchmarkRead(b *testing.B) {
	o := benchOptions()
	o.CacheBytes = 1
	s, _, err := Open(disk.OS(b.TempDir()), o)
	must(b, err)
	const blocks = 10_000
	data := make([]byte, 4096)
	for i := range data {
		data[i] = byte(i) | 1
	}
	for i := range occ.BlockID(blocks) {
		s.Put(i, 1, data)
	}
	makeCheckpoint(b, s, 1)
	i := 0
	b.ReportAllocs()
	b.SetBytes(4096)
	for b.Loop() {
		i = (i + 7919) % blocks
		if _, err := s.Read(occ.BlockID(i), 1); err != nil {
			b.Fatal(err)
		}
	}
	must(b, s.Close())
}

// fill gives the Store so many blocks, as if they had been put and written.
func fill(s *Store, blocks int) {
	for i := range blocks {
		s.mu.index.add(ref{occ.BlockID(i), occ.Timestamp(i + 1)}, place{size: 4096, slot: uint32(i)})
		s.mu.space.setLive(uint32(i))
	}
	s.mu.space.total = uint32(blocks)
	s.mu.newest = occ.Timestamp(blocks)
}

// BenchmarkIndexMemory reports what the index takes at 10 million blocks, and
// how long a forced garbage collection takes there.
func BenchmarkIndexMemory(b *testing.B) {
	const blocks = 10_000_000
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for b.Loop() {
		before := heap()
		s, _, err := Open(disk.NewMemory(), benchOptions())
		must(b, err)
		fill(s, blocks)
		after := heap()
		start := time.Now()
		runtime.GC()
		b.ReportMetric(float64(time.Since(start).Microseconds())/1000, "GC-ms")
		b.ReportMetric(float64(after-before)/blocks, "bytes/block")
		b.ReportMetric(float64(s.Stats().MemoryBytes)/blocks, "counted-bytes/block")
		runtime.KeepAlive(s)
	}
}

// BenchmarkOpen opens a store of so many blocks; the time of a checkpoint
// without new data, which writes its index, is reported too.
func BenchmarkOpen(b *testing.B) {
	for _, blocks := range []int{1_000_000, 5_000_000} {
		b.Run(fmt.Sprintf("blocks=%d", blocks), func(b *testing.B) {
			d := disk.OS(b.TempDir())
			s, _, err := Open(d, benchOptions())
			must(b, err)
			fill(s, blocks)
			must(b, s.blocks.file.Truncate(s.owner.SlotOffset(uint32(blocks)))) // a hole
			start := time.Now()
			makeCheckpoint(b, s, uint64(blocks))
			made := time.Since(start)
			must(b, s.Close())
			index := s.Stats().IndexBytes
			s = nil
			runtime.GC()
			b.ReportAllocs()
			for b.Loop() {
				s, loaded, err := Open(d, benchOptions())
				must(b, err)
				n := 0
				must(b, loaded.Versions(func(occ.BlockID, occ.Timestamp, int) error { n++; return nil }))
				if n != blocks {
					b.Fatalf("%d blocks", n)
				}
				must(b, s.Close())
			}
			million := float64(blocks) / 1e6
			b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N)/million, "ms/Mblocks")
			b.ReportMetric(made.Seconds()*1000/million, "checkpoint-ms/Mblocks")
			b.ReportMetric(float64(index)/float64(blocks), "file-bytes/block")
		})
	}
}

// BenchmarkPutDuringCheckpoint puts versions while a store of a million blocks
// makes one checkpoint after another, and reports how long a Put took.
func BenchmarkPutDuringCheckpoint(b *testing.B) {
	for _, busy := range []bool{false, true} {
		b.Run(fmt.Sprintf("checkpoints=%v", busy), func(b *testing.B) {
			const blocks = 1_000_000
			s, _, err := Open(disk.OS(b.TempDir()), benchOptions())
			must(b, err)
			fill(s, blocks)
			must(b, s.blocks.file.Truncate(s.owner.SlotOffset(blocks))) // a hole
			data := make([]byte, 4096)
			var took []time.Duration
			at, begun := uint64(blocks), 0
			ended, stop := make(chan error), make(chan struct{})
			go func() {
				for {
					select {
					case <-stop:
						ended <- nil
						return
					default:
					}
					done, err := s.Step()
					if err != nil {
						ended <- err
						return
					}
					if done {
						runtime.Gosched()
					}
				}
			}()
			for b.Loop() {
				at++
				start := time.Now()
				if busy && s.Begin(Moment{LogIndex: at - 1, Stable: occ.Timestamp(at - 1)}, nil) == nil {
					begun++
				}
				block := at * 7919 % blocks
				s.Put(occ.BlockID(block), occ.Timestamp(at), data)
				s.Drop(occ.BlockID(block), occ.Timestamp(block+1))
				took = append(took, time.Since(start))
				for s.Dirty() > 2*DefaultDirtyBytes {
					_, err := s.WriteBack()
					must(b, err)
				}
			}
			close(stop)
			must(b, <-ended)
			slices.Sort(took)
			for name, q := range map[string]float64{"p50-us": 0.5, "p99-us": 0.99, "p99.9-us": 0.999, "max-us": 1} {
				b.ReportMetric(float64(took[int(q*float64(len(took)-1))].Nanoseconds())/1000, name)
			}
			b.ReportMetric(float64(begun), "checkpoints")
			must(b, s.Close())
		})
	}
}

// BenchmarkSpace overwrites a working set of 100 MB a million times, with
// checkpoints, and reports what the files take when all old versions are
// dropped, in units of the live data.
func BenchmarkSpace(b *testing.B) {
	const blocks, overwrites = 25_600, 1_000_000
	for _, window := range []int{0, 100_000} {
		b.Run(fmt.Sprintf("window=%d", window), func(b *testing.B) {
			b.SetBytes((blocks + overwrites) * 4096)
			for b.Loop() {
				s := overwrite(b, disk.OS(b.TempDir()), benchOptions(), blocks, overwrites, 16_384, window)
				st := s.Stats()
				b.ReportMetric(float64(st.BlockBytes+st.IndexBytes+layout.HeaderFileSize)/(blocks*4096), "x-live")
				b.ReportMetric(float64(st.Moved), "moved")
				must(b, s.Close())
			}
		})
	}
}
