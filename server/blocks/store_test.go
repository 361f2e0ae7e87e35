package blocks

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/disk"
)

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// TestStore goes through what the methods promise, on a real directory.
func TestStore(t *testing.T) {
	dir := t.TempDir()
	o := Options{Store: testStore, BlockSize: 64}
	s, loaded, err := Open(disk.OS(dir), o)
	if err != nil || loaded != nil {
		t.Fatalf("a new store: %v, %v", loaded, err)
	}
	s.Put(7, 3, []byte("three"))
	s.Put(7, 5, nil)
	s.Put(7, 9, []byte("nine"))
	s.Put(7, 9, []byte("nine!"))
	for at, want := range map[occ.Timestamp]string{0: " true", 3: "three true", 4: " false", 5: " true", 9: "nine! true", 10: " false"} {
		if data, ok := s.Get(7, at); fmt.Sprintf("%s %v", data, ok) != want {
			t.Errorf("version %d is %q, %v, want %s", at, data, ok, want)
		}
	}
	if _, err := s.Read(7, 4); !errors.Is(err, ErrDropped) {
		t.Errorf("a version that is not there: %v", err)
	}
	if s.Dirty() != 5+5+2*versionOverhead {
		t.Errorf("%d dirty bytes", s.Dirty())
	}
	for i, f := range []func(){
		func() { s.Put(1, 10, make([]byte, 65)) },
		func() { s.Put(1, 0, nil) },
		func() { s.Begin(Moment{LogIndex: 1, Stable: 8}, nil) },
	} {
		if !panics(f) {
			t.Errorf("misuse %d goes unnoticed", i)
		}
	}
	must(t, s.Begin(Moment{LogIndex: 2, Stable: 9}, strings.NewReader("state")))
	s.Drop(7, 3)
	if !panics(func() { s.Put(7, 9, nil) }) {
		t.Error("a version of the checkpoint is put again")
	}
	for done := false; !done; {
		done, err = s.Step()
		must(t, err)
	}
	if got := s.Durable(); got != (Durable{1, 2, 9}) {
		t.Errorf("durable is %+v", got)
	}
	if _, err := s.Read(7, 3); !errors.Is(err, ErrDropped) {
		t.Errorf("a dropped version: %v", err)
	}
	must(t, s.Close())
	for i, err := range []error{s.Close(), s.Begin(Moment{LogIndex: 2, Stable: 9}, nil), second(s.Step()), second(s.WriteBack())} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("call %d after Close: %v", i, err)
		}
	}
	if s, loaded, err = Open(disk.OS(dir), o); err != nil || string(loaded.State) != "state" || loaded.LogIndex != 2 || loaded.Stable != 9 {
		t.Fatalf("opened with %+v, %v", loaded, err)
	}
	if data, err := s.Read(7, 3); err != nil || string(data) != "three" {
		t.Errorf("version 3, dropped after the checkpoint, is %q, %v", data, err)
	}
	if _, ok := s.Get(7, 3); !ok {
		t.Error("what was read is not kept")
	}
	stop := errors.New("stop")
	if err := loaded.Versions(func(occ.BlockID, occ.Timestamp, int) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("versions ended with %v", err)
	}
	if st := s.Stats(); st.Versions != 3 || st.LiveSlots != 2 || st.BlockBytes != layout.PageSize+2*96 || st.Reads != 1 {
		t.Errorf("stats are %+v", st)
	}
	must(t, s.Close())
	if _, err := s.Read(7, 9); !errors.Is(err, ErrClosed) {
		t.Errorf("read after Close: %v", err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 3 {
		t.Errorf("%d files, %v", len(files), err)
	}
}

func second(_ bool, err error) error { return err }

// TestMemoryIsBounded puts more than fits and reads all of it.
func TestMemoryIsBounded(t *testing.T) {
	o := tiny
	w := newWorld(41, o)
	w.blocks = 1000
	must(t, w.open(disk.NewMemory()))
	for range 400 {
		w.put()
		for done := false; !done; {
			var err error
			done, err = w.s.WriteBack()
			must(t, err)
		}
		if st := w.s.Stats(); st.DirtyBytes > o.DirtyBytes || st.CacheBytes > o.CacheBytes {
			t.Fatalf("%d bytes are dirty, %d cached", st.DirtyBytes, st.CacheBytes)
		}
		for r := range w.live {
			must(t, w.verifyOne(r))
			break
		}
	}
	must(t, w.verify())
	if st := w.s.Stats(); st.CacheBytes > o.CacheBytes || st.Reads == 0 {
		t.Errorf("stats are %+v", st)
	}
}

// overwrite writes all of so many blocks, and then overwrites times, with a
// checkpoint every so many; the version before the last one of each block is
// dropped window writes later. Then the window passes. It returns the Store.
func overwrite(t testing.TB, d disk.Disk, o Options, blocks, overwrites, every, window int) *Store {
	t.Helper()
	s, _, err := Open(d, o)
	must(t, err)
	newest := make([]occ.Timestamp, blocks)
	var ended []ref
	data := make([]byte, o.BlockSize)
	for i := range data {
		data[i] = byte(i) | 1
	}
	now := occ.Timestamp(0)
	rng := newWorld(51, o).rng
	checkpoint := func() {
		must(t, s.Begin(Moment{LogIndex: uint64(now), Stable: now}, nil))
		for done := false; !done; {
			done, err = s.Step()
			must(t, err)
		}
	}
	pass := func(keep int) {
		for ; len(ended) > keep; ended = ended[1:] {
			s.Drop(ended[0].block, ended[0].from)
		}
	}
	for i := range blocks + overwrites {
		b := i
		if i >= blocks {
			b = rng.IntN(blocks)
			ended = append(ended, ref{occ.BlockID(b), newest[b]})
		}
		now++
		newest[b] = now
		s.Put(occ.BlockID(b), now, data)
		pass(window)
		_, err := s.WriteBack()
		must(t, err)
		if i%every == every-1 {
			checkpoint()
		}
	}
	pass(0)
	for range 3 { // free the slots, move what is at the end, free those
		checkpoint()
	}
	return s
}

// TestSpace shows that the files stay in proportion to what is live.
func TestSpace(t *testing.T) {
	o := Options{Store: testStore, BlockSize: 480, DirtyBytes: 20_000, StepBytes: 8192}
	for _, window := range []int{0, 300, 3000} {
		const blocks = 512
		s := overwrite(t, disk.NewMemory(), o, blocks, 10_000, 700, window)
		st := s.Stats()
		used, live := st.BlockBytes+st.IndexBytes+layout.HeaderFileSize, int64(blocks*o.BlockSize)
		t.Logf("window %d: %d bytes for %d live ones; %+v", window, used, live, st)
		if used > 2*live || st.Versions != blocks || st.LiveSlots != blocks {
			t.Errorf("window %d: %d bytes for %d live ones; %+v", window, used, live, st)
		}
		must(t, s.Close())
	}
}

// TestManyDrops drops more versions during a checkpoint than are settled in
// one step, and then finds nothing left of them.
func TestManyDrops(t *testing.T) {
	s, _, err := Open(disk.NewMemory(), tiny)
	must(t, err)
	const n = 3*maxHold + 5
	for b := range occ.BlockID(n) {
		s.Put(b, 1, []byte{1})
	}
	for at := uint64(1); at <= 3; at++ {
		must(t, s.Begin(Moment{LogIndex: at, Stable: occ.Timestamp(at)}, nil))
		for b := range occ.BlockID(n) {
			s.Drop(b, 1)
		}
		for done := false; !done; {
			done, err = s.Step()
			must(t, err)
		}
		st := s.Stats()
		if st.Versions != 0 || st.LiveSlots != 0 || at == 1 && st.Slots != n || at > 1 && st.Slots != 0 {
			t.Errorf("after checkpoint %d: %+v", at, st)
		}
	}
}
