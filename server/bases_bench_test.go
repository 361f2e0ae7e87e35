package server

import (
	"testing"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/wal"
)

// seekingDisk takes its time for each read.
type seekingDisk struct {
	disk.Disk
	seek time.Duration
}

type seekingFile struct {
	disk.File
	seek time.Duration
}

func (d seekingDisk) Open(name string) (disk.File, error) {
	f, err := d.Disk.Open(name)
	return seekingFile{f, d.seek}, err
}

func (f seekingFile) ReadAt(p []byte, off int64) (int, error) {
	<-time.After(f.seek)
	return f.File.ReadAt(p, off)
}

// BenchmarkColdBases commits ranges of blocks that are all on disk: what that
// takes is mostly the reading of what they are put on. A disk that takes no time
// shows what the server adds.
func BenchmarkColdBases(b *testing.B) {
	for _, bench := range []struct {
		name   string
		blocks int
		seek   time.Duration
	}{{"blocks=1/seek=0", 1, 0}, {"blocks=1000/seek=0", 1000, 0}, {"blocks=1000/seek=1ms", 1000, time.Millisecond}} {
		b.Run(bench.name, func(b *testing.B) { benchColdBases(b, bench.blocks, bench.seek) })
	}
}

func benchColdBases(b *testing.B, blocks int, seek time.Duration) {
	log := wal.NewMemory(occ.StoreID{9}, wal.DefaultMemoryLimit)
	s := running(b, Options{
		Log: log.Open(), Store: occ.StoreID{9}, Blocks: seekingDisk{disk.NewMemory(), seek}, CacheBytes: 1, dirty: 1, Retention: time.Second,
	})
	c := patient(b, listen(b, s))
	data := make([]byte, 4096)
	data[4095] = 1
	reads, whole, ranges := make([]occ.Read, blocks), make([]occ.Write, blocks), make([]occ.Write, blocks)
	for i := range blocks {
		block := occ.BlockID(i + 1)
		reads[i].Block, whole[i] = block, occ.Write{Block: block, Data: data}
		ranges[i] = occ.Write{Block: block, Ranges: []occ.Range{{Off: 8, Data: []byte("8 bytes.")}}}
	}
	at := c.committed(nil, whole...)
	for b.Loop() {
		b.StopTimer()
		if err := s.writeBack(nil); err != nil {
			b.Fatal(err)
		}
		for i := range reads {
			reads[i].From = at
		}
		b.StartTimer()
		at = c.committed(reads, ranges...)
	}
}
