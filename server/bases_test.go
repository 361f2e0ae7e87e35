package server

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
	none := s.bases.shared.TryAcquire(maxBaseBytes)
	if d.failed.Load() || d.reads.Load() == 0 || !none {
		t.Errorf("the owner has read: %v; %d reads in all, nothing held: %v", d.failed.Load(), d.reads.Load(), none)
	}
}

// TestBaseNotThereYet: a version that is not visible is no base: nobody can
// have read it.
func TestBaseNotThereYet(t *testing.T) {
	s := running(t, scripted(wal.NewMemory(occ.StoreID{9}, 1<<20), disk.NewMemory()))
	c := pipe(t, s).hello(occ.SessionID{})
	c.send(c.commit(nil, write(1, "to come")), c.commit([]occ.Read{{Block: 1, From: 1}}, patch(1)))
	if e := expect[*wire.Error](c); e.Req != c.req || e.Code != wire.CodeDamaged {
		t.Fatalf("%+v", e)
	}
	expect[*wire.Items](c)
	c.committed([]occ.Read{{Block: 1, From: 1}}, patch(1))
	c.reads(1, 2, "Wo come")
}

// TestHoldBases: who wants more than is left waits, with those behind it; what
// is large waits for what is large, and for nothing else.
func TestHoldBases(t *testing.T) {
	room := newBaseRoom()
	var held []func()
	for range maxBaseBytes/maxWrite - 1 {
		held = append(held, room.hold(maxWrite))
	}
	one := room.hold(1)
	got := make(chan func())
	go func() { got <- room.hold(maxWrite) }()
	for room.shared.TryAcquire(1) { // until it waits
		room.shared.Release(1)
		runtime.Gosched()
	}
	large := room.hold(maxBaseBytes + 1)
	if room.large.TryLock() {
		t.Error("two large ones at a time")
	}
	one()
	held = append(held, <-got)
	if room.shared.TryAcquire(1) {
		t.Error("there is room for more than maxBaseBytes")
	}
	large()
	room.hold(maxWrite + 1)()
	for _, release := range held {
		release()
	}
	if !room.shared.TryAcquire(maxBaseBytes) || !room.large.TryLock() {
		t.Error("something is held")
	}
}

// until waits for something that is about to become true.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for begun := time.Now(); !is(); runtime.Gosched() {
		if time.Since(begun) > patience {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// TestLargeBasesWaitAlone: while a commit reads more bases than there is room
// for, others that change parts of blocks are decided; and who changes no part
// of a block waits for nobody's bases.
func TestLargeBasesWaitAlone(t *testing.T) {
	const blockSize, count = 1 << 20, maxBaseBytes>>20 + 1
	gate := new(sync.RWMutex)
	opts := scripted(wal.NewMemory(occ.StoreID{9}, 1<<20), gatedDisk{disk.OS(t.TempDir()), gate})
	opts.BlockSize, opts.CacheBytes, opts.dirty = blockSize, 1, 1
	s := running(t, opts)
	var whole, ranges []occ.Write
	var reads []occ.Read
	for b := range occ.BlockID(count) {
		whole = append(whole, write(b+1, "whole"))
		ranges = append(ranges, patch(b+1))
	}
	large, small, plain := pipe(t, s).hello(occ.SessionID{}), pipe(t, s).hello(occ.SessionID{}), pipe(t, s).hello(occ.SessionID{})
	at := large.committed(nil, whole...)
	for b := range occ.BlockID(count) {
		reads = append(reads, occ.Read{Block: b + 1, From: at})
	}
	if err := s.writeBack(nil); err != nil {
		t.Fatal(err)
	}
	gate.Lock()
	open := sync.OnceFunc(gate.Unlock)
	defer open()
	large.send(large.commit(reads, ranges...))
	until(t, "it reads", func() bool {
		free := s.bases.large.TryLock()
		if free {
			s.bases.large.Unlock()
		}
		return !free
	})
	small.committed([]occ.Read{{Block: 100}}, patch(100))
	open()
	at = expect[*wire.Items](large).Items[0].At
	large.reads(count, at, "Whole")

	for range maxBaseBytes/maxWrite - 1 {
		defer s.bases.hold(maxWrite)()
	}
	one := s.bases.hold(1)
	small.send(small.commit([]occ.Read{{Block: 101}}, patch(101)))
	until(t, "it waits", func() bool {
		free := s.bases.shared.TryAcquire(1)
		if free {
			s.bases.shared.Release(1)
		}
		return !free
	})
	plain.committed(nil, write(102, "plain"))
	one()
	expect[*wire.Items](small)
}

// patch changes the beginning of a block.
func patch(b occ.BlockID) occ.Write {
	return occ.Write{Block: b, Ranges: []occ.Range{{Off: 0, Data: []byte("W")}}}
}
