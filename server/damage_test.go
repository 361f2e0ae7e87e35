package server

import (
	"bytes"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/inspect"
	"github.com/tidemark/tidemark/server/wal"
)

// damagedAt reads a block at a timestamp, and checks that it is refused.
func (c *rawClient) damagedAt(b occ.BlockID, at occ.Timestamp) {
	c.t.Helper()
	c.send(&wire.Read{Req: c.next(), Items: []wire.ReadItem{{Block: b, At: at, Have: wire.Absent}}})
	if e := expect[*wire.Error](c); e.Code != wire.CodeDamaged {
		c.t.Fatalf("block %d at %d: %+v", b, at, e)
	}
}

// TestReplayOnADamagedBase: the log writes ranges over a version whose data are
// damaged on disk. A server starts, as a check says, and refuses the versions
// that it cannot make, also behind further checkpoints; what was written
// whole is there.
func TestReplayOnADamagedBase(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	change := func(c *rawClient, from occ.Timestamp) occ.Timestamp {
		return c.committed([]occ.Read{{Block: 1, From: from}}, occ.Write{Block: 1, Ranges: []occ.Range{{Off: 0, Data: []byte("x")}}})
	}
	s, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	c := pipe(t, s).hello(occ.SessionID{})
	first := c.committed(nil, occ.Write{Block: 1, Data: bytes.Repeat([]byte{7}, 4096)})
	shutdown(t, s)

	s = running(t, Options{Dir: dir})
	c = pipe(t, s).hello(occ.SessionID{})
	second := change(c, first)
	third := change(c, second)
	fourth := c.committed([]occ.Read{{Block: 1, From: third}}, write(1, "whole"))
	fifth := change(c, fourth)
	c.committed(nil, write(2, "other"))
	dir2 := filepath.Join(t.TempDir(), "s")
	if err := os.CopyFS(dir2, os.DirFS(dir)); err != nil { // a crash
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir2, "blocks", "blocks"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{9}, 4096+2000); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for damaged := range 3 {
		var places int
		sum, err := inspect.Check(t.Context(), dir2, inspect.CheckOptions{Report: func(f inspect.Finding) error {
			if places++; f.Kind != inspect.Slot || f.Block != 1 {
				t.Errorf("found %+v", f)
			}
			return nil
		}})
		if want := []int{1, 3, 3}[damaged]; err != nil || places != want || sum.Checkpoint.Damaged != uint64(want) {
			t.Fatalf("start %d: %d places, %v", damaged, places, err)
		}
		if s, err = Open(Options{Dir: dir2}); err != nil {
			t.Fatalf("it does not start: %v", err)
		}
		c = pipe(t, s).hello(occ.SessionID{})
		for _, at := range []occ.Timestamp{first, second, third} {
			c.damagedAt(1, at)
		}
		c.send(&wire.Read{Req: c.next(), Items: []wire.ReadItem{{Block: 1, At: fourth, Have: wire.Absent}}})
		if r := expect[*wire.ReadReply](c).Results[0]; string(r.Data) != "whole" {
			t.Fatalf("%+v", r)
		}
		c.reads(1, fifth, "xhole")
		c.committed(nil, write(3, "goes on"))
		shutdown(t, s)
	}
}

// spoiling is a disk on which the data of blocks read well as often as is
// allowed.
type spoiling struct {
	disk.Disk
	armed atomic.Bool
	good  atomic.Int64
}

func (d *spoiling) Open(name string) (disk.File, error) {
	f, err := d.Disk.Open(name)
	if name == "blocks" && err == nil {
		f = spoilingFile{f, d}
	}
	return f, err
}

type spoilingFile struct {
	disk.File
	disk *spoiling
}

func (f spoilingFile) ReadAt(b []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(b, at)
	if f.disk.armed.Load() && f.disk.good.Add(-1) < 0 {
		b[len(b)-1] ^= 1
	}
	return n, err
}

// TestBaseDamagedMeanwhile: the bases of commits are whole when these come, and
// cannot be read any more when they are applied: each was read once, and is kept
// as long as it is needed, although the cache keeps nothing.
func TestBaseDamagedMeanwhile(t *testing.T) {
	const commits, per = 8, 4
	log, d := wal.NewMemory(occ.StoreID{}, 1<<20), &spoiling{Disk: disk.NewMemory()}
	s, err := Open(Options{Log: log.Open(), Blocks: d, CacheBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	var whole []occ.Write
	for b := range occ.BlockID(commits * per) {
		whole = append(whole, write(b+1, "base"))
	}
	pipe(t, s).hello(occ.SessionID{}).committed(nil, whole...)
	shutdown(t, s)
	s = running(t, Options{Log: log.Open(), Blocks: d, CacheBytes: 1})
	c := pipe(t, s).hello(occ.SessionID{})
	var all []wire.Message
	for i := range occ.BlockID(commits) {
		var reads []occ.Read
		var writes []occ.Write
		for b := i*per + 1; b <= (i+1)*per; b++ {
			reads = append(reads, occ.Read{Block: b, From: 1})
			writes = append(writes, occ.Write{Block: b, Ranges: []occ.Range{{Off: 0, Data: []byte("B")}}})
		}
		all = append(all, c.commit(reads, writes...))
	}
	d.good.Store(commits * per)
	d.armed.Store(true)
	c.send(all...)
	for told := 0; told < commits; {
		told += len(expect[*wire.Items](c).Items)
	}
	d.armed.Store(false)
	if left := d.good.Load(); left != 0 {
		t.Errorf("the bases were read %d times, not %d", commits*per-left, commits*per)
	}
	for i := range occ.Timestamp(commits) {
		c.reads(occ.BlockID(i*per+1), 2+i, "Base")
	}
}
