package server

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/wal"
)

// withFault runs a script on a disk on which something fails with cause, and
// then on one that works and has what was synced. It reports whether it failed.
func withFault(t *testing.T, seed uint64, cause error, spoil func(*disk.Faulty)) (faulty *disk.Faulty, failed bool) {
	t.Helper()
	d, log := disk.NewMemory(), wal.NewMemory(occ.StoreID{9}, wal.DefaultMemoryLimit)
	l, faulty := newScript(t, seed), disk.NewFaulty(d)
	spoil(faulty)
	err := l.run(log, faulty)
	if err == nil {
		return faulty, false
	}
	if !errors.Is(err, cause) {
		t.Fatalf("%v is not told, but %v", cause, err)
	}
	s, err := Open(scripted(log, d.Crash(func(disk.Unsynced) bool { return false })))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.steps(l.verify(s), 4), stop(s)); err != nil {
		t.Fatal(err)
	}
	return faulty, true
}

// TestBlockDiskFails fails operations of the disk, one in each run: the server
// stops and says why, and has lost nothing when the disk works again.
func TestBlockDiskFails(t *testing.T) {
	stride := 1
	if testing.Short() {
		stride = 20
	}
	for name, c := range map[string]struct {
		fault disk.Fault
		least int // in every run there are so many
	}{
		"open":      {disk.Fault{Op: disk.OpOpen}, 12},
		"rename":    {disk.Fault{Op: disk.OpRename}, 1},
		"remove":    {disk.Fault{Op: disk.OpRemove}, 4},
		"directory": {disk.Fault{Op: disk.OpSyncDir}, 12},
		"write":     {disk.Fault{Op: disk.OpWrite}, 30},
		"short":     {disk.Fault{Op: disk.OpWrite, Kind: disk.Short, Err: syscall.EIO}, 30},
		"sync":      {disk.Fault{Op: disk.OpSync}, 20},
		"lost sync": {disk.Fault{Op: disk.OpSync, Kind: disk.Lose, Err: syscall.EIO}, 20},
		"truncate":  {disk.Fault{Op: disk.OpTruncate}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			cause, seed, fails := c.fault.Err, uint64(20), 0
			if cause == nil {
				cause = disk.ErrInjected
			}
			end := most(t, seed, func(_ *disk.Memory, f *disk.Faulty) int { return f.Count(c.fault.Op) })
			for n := 1; n <= end; n += stride {
				c.fault.Nth = n
				faulty, failed := withFault(t, seed, cause, func(f *disk.Faulty) { f.Inject(c.fault) })
				count := faulty.Count(c.fault.Op)
				switch {
				case failed:
					fails++
				case count >= n:
					t.Fatalf("nothing was told of fault %d", n)
				default:
					end = max(end, count)
				}
			}
			if fails*stride < c.least {
				t.Errorf("%d of up to %d operations failed, %d apart", fails, end, stride)
			}
		})
	}
}

// TestDiskFull: so it is when the disk is full.
func TestDiskFull(t *testing.T) {
	full, room := true, int64(100)
	for ; full; room *= 3 {
		_, full = withFault(t, uint64(room), syscall.ENOSPC, func(f *disk.Faulty) { f.Room(room) })
	}
	if room < 50_000 {
		t.Errorf("the script needs no more than %d bytes", room/3)
	}
}

// TestFailureIsTold: the error says in one line what failed.
func TestFailureIsTold(t *testing.T) {
	f := disk.NewFaulty(disk.NewMemory())
	s, err := Open(scripted(wal.NewMemory(occ.StoreID{9}, 1<<20), f))
	if err != nil {
		t.Fatal(err)
	}
	a := pipe(t, s).hello(occ.SessionID{})
	f.Inject(disk.Fault{Op: disk.OpSync, Nth: f.Count(disk.OpSync) + 1, Err: syscall.EIO})
	a.send(a.commit(nil, write(1, strings.Repeat("x", 900)), write(9, strings.Repeat("x", 900))))
	a.ended()
	wantEnd(t, s)
	const want = "the block store failed: the block store stopped writing after an error: sync blocks: input/output error"
	if err := s.Err(); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	shutdown(t, s)
}

// TestStalledSync: while a sync of the block file stalls, commits go on, until
// too much waits in memory; then they wait, and are refused beyond
// Options.PendingBytes. Nothing is lost, and all goes on when the disk does.
func TestStalledSync(t *testing.T) {
	f := disk.NewFaulty(disk.NewMemory())
	opts := scripted(wal.NewMemory(occ.StoreID{9}, wal.DefaultMemoryLimit), f)
	opts.PendingBytes = 36 << 10
	s := running(t, opts)
	t.Cleanup(f.Release)
	a, b := pipe(t, s).hello(occ.SessionID{}), pipe(t, s).hello(occ.SessionID{})
	f.Inject(disk.Fault{Op: disk.OpSync, Nth: f.Count(disk.OpSync) + 1, Kind: disk.Stall})
	a.committed(nil, write(1, strings.Repeat("x", 900)), write(9, strings.Repeat("x", 900)))
	<-f.Stalled()
	for i := range 10 {
		a.committed(nil, write(2, fmt.Sprint("version ", i)))
	}
	l := newScript(t, 1)
	for range 2 { // 85 KiB, of which 64 may wait
		a.committed(nil, l.large().Writes...)
	}
	waits := a.commit(nil, l.large().Writes...)
	a.send(waits)
	a.settled()
	b.reads(2, 11, "version 9")
	b.send(b.commit(nil, write(3, "refused")))
	if e := expect[*wire.Error](b); e.Code != wire.CodeBusy || e.Limit != 36<<10 {
		t.Fatalf("%+v", e)
	}
	f.Release()
	if items := expect[*wire.Items](a); items.Items[0].At != 14 {
		t.Fatalf("%+v", items)
	}
	if at := b.committed(nil, write(3, "goes on")); at != 15 {
		t.Fatalf("committed at %d", at)
	}
	a.committed(nil, l.large().Writes...)
	shutdown(t, s)
}

// TestDamagedBlock: a flipped bit costs one version. Reading it is answered
// with an error that names it, and so is a commit that would change a part of
// it; everything else goes on, and the block can be written again.
func TestDamagedBlock(t *testing.T) {
	d, log := disk.NewMemory(), wal.NewMemory(occ.StoreID{9}, 1<<20)
	s := running(t, scripted(log, d))
	a := pipe(t, s).hello(occ.SessionID{})
	a.committed(nil, write(6, "before"))
	a.committed(nil, write(7, "to be damaged"), write(8, "whole"))
	shutdown(t, s)
	flip(t, d, "to be damaged")

	s = running(t, scripted(log, d))
	a = pipe(t, s).hello(occ.SessionID{})
	a.send(&wire.Read{Req: a.next(), Items: []wire.ReadItem{{Block: 8, At: occ.Latest}, {Block: 7, At: occ.Latest}}})
	damaged := func() {
		t.Helper()
		const want = "data cannot be read: block 7 from 2: checksum mismatch (the server's log says more)"
		if e := expect[*wire.Error](a); e.Req != a.req || e.Code != wire.CodeDamaged || e.Text != want {
			t.Fatalf("%+v", e)
		}
	}
	damaged()
	a.reads(8, 2, "whole")
	a.reads(6, 1, "before")
	patch := func(from occ.Timestamp) *wire.Commit {
		return a.commit([]occ.Read{{Block: 7, From: from}}, occ.Write{Block: 7, Ranges: []occ.Range{{Off: 1, Data: []byte("x")}}})
	}
	first := patch(2)
	a.send(first)
	damaged()
	if at := a.committed(nil, write(8, "goes on")); at != 3 {
		t.Fatalf("committed at %d", at)
	}
	again := *first
	again.Req, again.Resend = a.next(), true
	a.send(&again)
	if o := expect[*wire.Outcome](a); o.Status != wire.OutcomeConflict {
		t.Fatalf("%+v", o)
	}
	a.committed(nil, write(7, "new"))
	a.send(patch(2)) // what is wrong with it now is that it is old
	if c := expect[*wire.Conflict](a); c.Blocks[0].From != 4 {
		t.Fatalf("%+v", c)
	}
	a.send(patch(4))
	expect[*wire.Items](a)
	a.reads(7, 5, "nxw")
	shutdown(t, s)
	a = pipe(t, running(t, scripted(log, d))).hello(occ.SessionID{})
	a.reads(7, 5, "nxw")
}

// TestUnreadableBase: a disk that does not return the base of what the log
// changes may do so later: the store is not opened.
func TestUnreadableBase(t *testing.T) {
	d, log := disk.NewMemory(), wal.NewMemory(occ.StoreID{9}, 1<<20)
	opts := scripted(log, d)
	s := running(t, opts)
	a := pipe(t, s).hello(occ.SessionID{})
	a.committed(nil, write(7, "base"))
	shutdown(t, s)
	opts = scripted(log, d)
	opts.CheckpointBytes = 1 << 20
	a = pipe(t, running(t, opts)).hello(occ.SessionID{})
	a.committed([]occ.Read{{Block: 7, From: 1}}, occ.Write{Block: 7, Ranges: []occ.Range{{Off: 1, Data: []byte("x")}}})
	d = d.Crash(func(disk.Unsynced) bool { return true })
	opts = scripted(log, d)
	opts.Blocks = unreadable{d}
	if _, err := Open(opts); !errors.Is(err, errDisk) {
		t.Fatal(err)
	}
}

// unreadable is a disk that returns no slot of the block file.
type unreadable struct{ disk.Disk }

func (d unreadable) Open(name string) (disk.File, error) {
	f, err := d.Disk.Open(name)
	if name == "blocks" && err == nil {
		f = unreadableFile{f}
	}
	return f, err
}

type unreadableFile struct{ disk.File }

func (f unreadableFile) ReadAt(b []byte, at int64) (int, error) {
	if at >= layout.PageSize {
		return 0, errDisk
	}
	return f.File.ReadAt(b, at)
}

// flip inverts a bit of some data in the block file.
func flip(t *testing.T, d disk.Disk, data string) {
	t.Helper()
	file, err := d.Open("blocks")
	if err != nil {
		t.Fatal(err)
	}
	size, err := file.Size()
	if err != nil {
		t.Fatal(err)
	}
	content := make([]byte, size)
	if _, err := file.ReadAt(content, 0); err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(content), data)
	if _, err := file.WriteAt([]byte{content[at] ^ 4}, int64(at)); err != nil {
		t.Fatal(err)
	}
}
