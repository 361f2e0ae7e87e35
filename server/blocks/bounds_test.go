package blocks

import (
	"bytes"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/disk"
)

// tally is a disk that counts bytes: what was read and written since the last
// look, and how many waited for a sync of their file, at most.
type tally struct {
	disk.Disk
	read, written int
	waited        int
}

func (d *tally) Open(name string) (disk.File, error) {
	f, err := d.Disk.Open(name)
	return &tallied{File: f, disk: d}, err
}

type tallied struct {
	disk.File
	disk    *tally
	waiting int
}

func (f *tallied) ReadAt(p []byte, off int64) (int, error) {
	f.disk.read += len(p)
	return f.File.ReadAt(p, off)
}

func (f *tallied) WriteAt(p []byte, off int64) (int, error) {
	f.disk.written += len(p)
	f.waiting += len(p)
	f.disk.waited = max(f.disk.waited, f.waiting)
	return f.File.WriteAt(p, off)
}

func (f *tallied) Sync() error {
	f.waiting = 0
	return f.File.Sync()
}

// TestStepsAreBounded: a Step or WriteBack reads and writes no more than
// Options.StepBytes, to within a slot or a frame, and no file has more than
// maxUnsynced to be synced, however much there is to do.
func TestStepsAreBounded(t *testing.T) {
	const n = 150
	d := &tally{Disk: disk.OS(t.TempDir())}
	o := Options{Store: testStore, BlockSize: 64 << 10, CacheBytes: 1, DirtyBytes: 1, StepBytes: 300_000}
	s, _, err := Open(d, o)
	must(t, err)
	total := 0
	all := func(step func() (bool, error)) {
		t.Helper()
		for done := false; !done; {
			d.read, d.written = 0, 0
			done, err = step()
			must(t, err)
			if most := o.StepBytes + max(s.owner.SlotSize(), layout.FrameHead+layout.MaxFrame); d.read > most || d.written > most {
				t.Fatalf("a step reads %d bytes and writes %d of %d", d.read, d.written, most)
			}
			total += d.written
		}
	}
	put := func(from, to occ.BlockID, at occ.Timestamp) {
		for b := from; b < to; b++ {
			s.Put(b, at, bytes.Repeat([]byte{1}, o.BlockSize))
		}
	}
	checkpoint := func(at uint64, state int) {
		t.Helper()
		must(t, s.Begin(Moment{LogIndex: at, Stable: occ.Timestamp(at)}, bytes.NewReader(make([]byte, state))))
		all(s.Step)
	}
	put(0, n, 1)
	all(s.WriteBack)
	put(n, 2*n, 1)
	checkpoint(1, maxUnsynced+1<<20)
	for b := range occ.BlockID(2*n - 100) {
		s.Drop(b, 1)
	}
	for at := uint64(2); at < 5; at++ { // slots become free, and versions move there
		checkpoint(at, 10)
	}
	if st := s.Stats(); st.Moved != 100 || st.Slots > 175 {
		t.Errorf("%d versions moved, of %d slots", st.Moved, st.Slots)
	}
	if d.waited > maxUnsynced || total < 3*maxUnsynced {
		t.Errorf("of %d bytes %d waited for a sync", total, d.waited)
	}
	must(t, s.Close())
}

// TestMovesAreBounded: a checkpoint moves no more than maxMoves versions, and
// the next one goes on.
func TestMovesAreBounded(t *testing.T) {
	const live, all = maxMoves + 700, 3 * maxMoves
	s, _, err := Open(disk.NewMemory(), Options{Store: testStore, BlockSize: 8})
	must(t, err)
	for b := range occ.BlockID(all) {
		s.Put(b, 1, []byte{1})
	}
	var moved []uint64
	for at := uint64(1); at <= 5; at++ {
		before := s.Stats().Moved
		must(t, s.Begin(Moment{LogIndex: at, Stable: occ.Timestamp(at)}, nil))
		for done := false; !done; {
			done, err = s.Step()
			must(t, err)
		}
		moved = append(moved, s.Stats().Moved-before)
		for b := range occ.BlockID(all - live) {
			s.Drop(b, 1)
		}
	}
	if moved[2] != maxMoves || moved[3] != live-maxMoves || moved[4] > 0 {
		t.Errorf("checkpoints move %d of %d versions", moved, live)
	}
	if st := s.Stats(); 4*st.Slots > 7*live {
		t.Errorf("%d slots for %d versions", st.Slots, live)
	}
	must(t, s.Close())
}

// TestCommitsGoOn: a checkpoint has as many steps as its moment needs, however
// much is put meanwhile.
func TestCommitsGoOn(t *testing.T) {
	steps := func(put func(s *Store, at occ.Timestamp)) (n int) {
		s, _, err := Open(disk.NewMemory(), tiny)
		must(t, err)
		const moment = 30
		for at := occ.Timestamp(1); at <= moment; at++ {
			s.Put(occ.BlockID(at), at, dataOf(occ.BlockID(at), at))
		}
		must(t, s.Begin(Moment{LogIndex: 1, Stable: moment}, bytes.NewReader(make([]byte, 2000))))
		for done := false; !done && n < 1000; n++ {
			done, err = s.Step()
			must(t, err)
			put(s, moment+occ.Timestamp(n)+1)
		}
		must(t, s.Close())
		return n
	}
	alone := steps(func(*Store, occ.Timestamp) {})
	busy := steps(func(s *Store, at occ.Timestamp) {
		for b := range occ.BlockID(5) { // more than a step writes, of old blocks and new ones
			s.Put(b*7, at, dataOf(b, at))
		}
	})
	if busy > 2*alone {
		t.Errorf("%d steps, and %d without commits", busy, alone)
	}
}

// TestDroppedIsNotCached: a version that is dropped while it is read from disk
// takes no place in memory.
func TestDroppedIsNotCached(t *testing.T) {
	o := tiny
	o.CacheBytes = 1
	d := &hooked{Disk: disk.NewMemory()}
	s, _, err := Open(d, o)
	must(t, err)
	s.Put(1, 1, dataOf(1, 1))
	must(t, s.Begin(Moment{LogIndex: 1, Stable: 1}, nil))
	for done := false; !done; {
		done, err = s.Step()
		must(t, err)
	}
	s.mu.memory.limit = 1 << 20
	d.reading = func() { s.Drop(1, 1) }
	if data, err := s.Read(1, 1); err != nil || !bytes.Equal(data, dataOf(1, 1)) {
		t.Errorf("read %x, %v", data, err)
	}
	if st := s.Stats(); st.CacheBytes != 0 || st.Versions != 0 || st.Reads != 1 {
		t.Errorf("stats are %+v", st)
	}
	must(t, s.Close())
}

// hooked calls reading before each read of a file that is opened from it.
type hooked struct {
	disk.Disk
	reading func()
}

func (d *hooked) Open(name string) (disk.File, error) {
	f, err := d.Disk.Open(name)
	return &hookedFile{f, d}, err
}

type hookedFile struct {
	disk.File
	disk *hooked
}

func (f *hookedFile) ReadAt(p []byte, off int64) (int, error) {
	if f.disk.reading != nil {
		f.disk.reading()
	}
	return f.File.ReadAt(p, off)
}
