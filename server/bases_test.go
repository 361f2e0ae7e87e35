package server

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/wal"
)

// unowned is a disk that returns a slot when nobody is the owner of a server:
// never, if it is the owner who reads.
type unowned struct {
	disk.Disk
	server atomic.Pointer[Server]
	reads  atomic.Int64
	failed atomic.Bool
}

func (d *unowned) Open(name string) (disk.File, error) {
	f, err := d.Disk.Open(name)
	if name == "blocks" && err == nil {
		f = unownedFile{f, d}
	}
	return f, err
}

type unownedFile struct {
	disk.File
	disk *unowned
}

func (f unownedFile) ReadAt(b []byte, at int64) (int, error) {
	f.disk.reads.Add(1)
	if s := f.disk.server.Load(); s != nil {
		for begun := time.Now(); !s.owner.TryLock(); runtime.Gosched() {
			if time.Since(begun) > patience/2 {
				f.disk.failed.Store(true)
				return 0, errDisk
			}
		}
		s.owner.Unlock()
	}
	return f.File.ReadAt(b, at)
}

// TestOwnerReadsNothing: with a cache of two blocks and many commits of ranges
// at a time, whose bases are on disk, the owner waits for none of them.
func TestOwnerReadsNothing(t *testing.T) {
	const clients, per, rounds = 8, 6, 20
	d := &unowned{Disk: disk.NewMemory()}
	opts := scripted(wal.NewMemory(occ.StoreID{9}, wal.DefaultMemoryLimit), d)
	opts.CacheBytes = 2 * (scriptBlock + 160)
	s := running(t, opts)
	d.server.Store(s)
	content := func(block occ.BlockID, round int) string {
		return strings.Repeat(fmt.Sprintf("%4d", block), scriptBlock/4-1) + fmt.Sprintf("%04d", round)
	}
	var working sync.WaitGroup
	for i := range occ.BlockID(clients) {
		c := pipe(t, s).hello(occ.SessionID{})
		working.Go(func() {
			var whole, ranges []occ.Write
			for b := i*per + 1; b <= (i+1)*per; b++ {
				whole = append(whole, write(b, content(b, 0)))
			}
			at := c.committed(nil, whole...)
			for round := 1; round <= rounds; round++ {
				var reads []occ.Read
				ranges = nil
				for _, w := range whole {
					reads = append(reads, occ.Read{Block: w.Block, From: at})
					ranges = append(ranges, occ.Write{Block: w.Block, Ranges: []occ.Range{{Off: scriptBlock - 4, Data: fmt.Appendf(nil, "%04d", round)}}})
				}
				at = c.committed(reads, ranges...)
			}
			for _, w := range whole {
				c.reads(w.Block, at, content(w.Block, rounds))
			}
		})
	}
	working.Wait()
	none := s.bases.TryAcquire(maxBaseBytes)
	if d.failed.Load() || d.reads.Load() == 0 || !none {
		t.Errorf("the owner has read: %v; %d reads in all, nothing held: %v", d.failed.Load(), d.reads.Load(), none)
	}
}

// TestBaseNotThereYet: a version that is not visible is no base: nobody can
// have read it.
func TestBaseNotThereYet(t *testing.T) {
	s := running(t, scripted(wal.NewMemory(occ.StoreID{9}, 1<<20), disk.NewMemory()))
	c := pipe(t, s).hello(occ.SessionID{})
	patch := occ.Write{Block: 1, Ranges: []occ.Range{{Off: 0, Data: []byte("x")}}}
	c.send(c.commit(nil, write(1, "to come")), c.commit([]occ.Read{{Block: 1, From: 1}}, patch))
	if e := expect[*wire.Error](c); e.Req != c.req || e.Code != wire.CodeDamaged {
		t.Fatalf("%+v", e)
	}
	expect[*wire.Items](c)
	c.committed([]occ.Read{{Block: 1, From: 1}}, patch)
	c.reads(1, 2, "xo come")
}

// TestHoldBases: who wants more than is left waits, with those behind it, and
// who wants more than there is at all waits only until nobody has any.
func TestHoldBases(t *testing.T) {
	const most = maxBaseBytes
	room := semaphore.NewWeighted(most)
	holdBases(room, 4)
	holdBases(room, most-6)
	got := make(chan int64)
	go func() { got <- holdBases(room, most+1) }()
	for room.TryAcquire(2) { // until it waits
		room.Release(2)
		runtime.Gosched()
	}
	room.Release(most - 6)
	if room.TryAcquire(1) {
		t.Fatal("somebody can overtake")
	}
	room.Release(4)
	held := <-got
	if held != most || room.TryAcquire(1) {
		t.Fatalf("%d are held", held)
	}
	room.Release(held)
	room.Release(holdBases(room, most))
	if !room.TryAcquire(most) {
		t.Error("something is held")
	}
}
