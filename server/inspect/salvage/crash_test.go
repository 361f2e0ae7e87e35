package salvage

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/inspect"
	"github.com/tidemark/tidemark/server/record"
)

// watched is a disk of which somebody is told when an operation has changed it.
type watched struct {
	*disk.Memory
	done int
	tell func()
}

func (d *watched) changed(err error) error {
	if n := d.Operations(); n > d.done {
		d.done = n
		d.tell()
	}
	return err
}

func (d *watched) Open(name string) (disk.File, error) {
	f, err := d.Memory.Open(name)
	return watchedFile{f, d}, d.changed(err)
}
func (d *watched) Remove(name string) error     { return d.changed(d.Memory.Remove(name)) }
func (d *watched) Rename(from, to string) error { return d.changed(d.Memory.Rename(from, to)) }
func (d *watched) SyncDir() error               { return d.changed(d.Memory.SyncDir()) }

type watchedFile struct {
	disk.File
	disk *watched
}

func (f watchedFile) WriteAt(b []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(b, at)
	return n, f.disk.changed(err)
}
func (f watchedFile) Truncate(size int64) error { return f.disk.changed(f.File.Truncate(size)) }
func (f watchedFile) Sync() error               { return f.disk.changed(f.File.Sync()) }

// eventful lets some servers do everything that one does with the block store:
// create it, write versions early, make checkpoints while transactions go on, let
// versions go, move others, cut the file, and take it over.
func (w *world) eventful() (moved, checkpoints uint64) {
	w.t.Helper()
	w.begin()
	for range 3 {
		w.run(20)
		w.checkpointWhile(1e6, func() { w.run(w.rng.IntN(2)) })
		w.append(&record.Horizon{At: w.stable})
		w.checkpoint(1e6) // after which the slots are free
		w.run(3)
		w.checkpoint(1e6)
		st := w.store.Stats()
		moved, checkpoints = moved+st.Moved, checkpoints+st.Checkpoints
		must(w.t, errors.Join(w.log.Close(), w.store.Close()))
		w.start()
	}
	w.close()
	return moved, checkpoints
}

// image writes a data directory as it is after a crash now.
func (w *world) image(d *disk.Memory, kept func(disk.Unsynced) bool) string {
	w.t.Helper()
	dir := w.clone(w.t)
	path := filepath.Join(dir, "blocks")
	must(w.t, os.Mkdir(path, 0o700))
	after := d.Crash(kept)
	names, err := after.List()
	must(w.t, err)
	for _, name := range names {
		f, err := after.Open(name)
		must(w.t, err)
		size, err := f.Size()
		must(w.t, err)
		b, err := io.ReadAll(io.NewSectionReader(f, 0, size))
		must(w.t, err)
		must(w.t, os.WriteFile(filepath.Join(path, name), b, 0o600))
	}
	return dir
}

// TestCheckAfterCrash crashes behind each operation on the disk of the blocks,
// from the creation of the first file to the end of the last server, with all,
// nothing, and a part of what was not synced: the check finds nothing, and now
// and then a server starts, and a salvage has everything.
func TestCheckAfterCrash(t *testing.T) {
	const least = 180 // operations
	n := 0
	w := emptyWorld(t, 14)
	d := &watched{Memory: disk.NewMemory()}
	d.tell = func() {
		n++
		rng := rand.New(rand.NewPCG(uint64(n), 15))
		for what, kept := range []func(disk.Unsynced) bool{
			func(disk.Unsynced) bool { return true },
			func(disk.Unsynced) bool { return false },
			func(disk.Unsynced) bool { return rng.IntN(2) == 0 },
		} {
			dir := w.image(d.Memory, kept)
			s, found, err := looked(t, dir)
			if err != nil || len(found) > 0 || s.Verdict != inspect.Clean {
				t.Errorf("operation %d, %d: %+v, %v, %v", n, what, s, found, err)
			}
			if n%10 == what {
				if err := start(t, dir); err != nil {
					t.Errorf("operation %d, %d: a server says %v", n, what, err)
				}
			}
			if w.store != nil && n%10 == 5+what {
				if r := salvaged(t, w, dir, Options{}); r == nil || !r.Consistent || r.Stable != w.stable || r.lost(Snapshot) != len(r.losses) {
					t.Errorf("operation %d, %d: %+v", n, what, r)
				}
			}
			must(t, os.RemoveAll(filepath.Dir(dir)))
		}
	}
	w.disk, w.steps = d, 400
	moved, checkpoints := w.eventful()
	if n < least || moved == 0 || checkpoints < 6 {
		t.Errorf("%d operations, %d slots moved, %d checkpoints: too little happens", n, moved, checkpoints)
	}
	t.Logf("%d operations, %d slots moved, %d checkpoints", n, moved, checkpoints)
}
