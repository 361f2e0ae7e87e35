package restore_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidemark/tidemark/backup/restore"
	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/storedir"
)

func rngOf(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// The block store is restored on a disk that crashes at every single operation,
// with what was not synced kept, lost, or kept in part: it has no checkpoint
// then, or one of everything; and once Blocks has returned nil, that.
func TestCrashEverywhere(t *testing.T) {
	f := small(t)
	want, err := content(f.chain(t, 2))
	if err != nil {
		t.Fatal(err)
	}
	const epoch = 5 << 32
	rng := rngOf(9)
	choices := []func(disk.Unsynced) bool{
		func(disk.Unsynced) bool { return false },
		func(disk.Unsynced) bool { return true },
		func(disk.Unsynced) bool { return rng.IntN(2) == 0 },
		func(disk.Unsynced) bool { return rng.IntN(4) > 0 },
	}
	complete, n := false, 0
	for ; !complete; n++ {
		d := disk.NewMemory()
		d.StopAfter(n)
		r, err := restore.Blocks(t.Context(), d, epoch, f.chain(t, 2), restore.Options{})
		complete = err == nil
		if err != nil && !errors.Is(err, disk.ErrCrashed) {
			t.Fatalf("operation %d: %v", n, err)
		}
		r.Epoch = epoch
		for i, keep := range choices {
			after := d.Crash(keep)
			s, loaded, err := blocks.Open(after, blocks.Options{Store: f.headers[1].Store, BlockSize: blockSize})
			switch {
			case err != nil && !complete: // no store file refers to it
				continue
			case err != nil:
				t.Fatalf("operation %d, choice %d: complete, but %v", n, i, err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if loaded == nil && !complete {
				continue
			}
			if err := equal(stored(t, after, r, f.headers[1]), want); err != nil {
				t.Fatalf("operation %d, choice %d: %v", n, i, err)
			}
		}
	}
	if n <= leastOperations {
		t.Errorf("a restore has no more than %d operations", n-1)
	}
}

// leastOperations is how many of a restore there must be to go through.
const leastOperations = 25

// Wherever the disk fails there is no directory, nor anything left of it.
func TestFaultsEverywhere(t *testing.T) {
	f := small(t)
	parent := t.TempDir()
	dir := filepath.Join(parent, "data")
	for op, least := range map[disk.Op]int{disk.OpWrite: 6, disk.OpSync: 7} {
		for n := 1; ; n++ {
			var faulty *disk.Faulty
			_, err := restore.Directory(t.Context(), dir, f.chain(t, 2), restore.Options{Wrap: func(d disk.Disk) disk.Disk {
				faulty = disk.NewFaulty(d, disk.Fault{Op: op, Nth: n, Kind: disk.Fail})
				return faulty
			}})
			if faulty.Count(op) < n {
				if err != nil || n <= least {
					t.Fatalf("operation %d of kind %d: %v", n, op, err)
				}
				break
			}
			if !errors.As(err, new(*restore.DirError)) || !errors.Is(err, disk.ErrInjected) {
				t.Fatalf("fault at %v %d: %v", op, n, err)
			}
			only(t, parent)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}

// What a crash leaves of a directory is under another name, and opens as no
// store until it is whole.
func TestHalfADirectoryIsNoStore(t *testing.T) {
	f := small(t)
	parent := t.TempDir()
	dir := filepath.Join(parent, "data")
	looked := 0
	look := func() {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("the directory is there already: %v", err)
		}
		halves, err := filepath.Glob(dir + ".restore-*")
		if err != nil || len(halves) != 1 {
			t.Fatalf("%q, %v", halves, err)
		}
		if _, err := storedir.Open(halves[0], storedir.Options{}); !errors.Is(err, storedir.ErrForeign) {
			t.Fatalf("half a directory: %v", err)
		}
		looked++
	}
	_, err := restore.Directory(t.Context(), dir, f.chain(t, 2), restore.Options{Wrap: func(d disk.Disk) disk.Disk {
		return watched{d, look}
	}})
	if err != nil || looked < 2 {
		t.Fatalf("%v; looked %d times", err, looked)
	}
}

// watched calls look before each directory operation.
type watched struct {
	disk.Disk
	look func()
}

func (w watched) Open(name string) (disk.File, error) {
	w.look()
	return w.Disk.Open(name)
}

func (w watched) SyncDir() error {
	w.look()
	return w.Disk.SyncDir()
}
