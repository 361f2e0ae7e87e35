package restore_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tidemark/tidemark/backup/restore"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/storedir"
	"github.com/tidemark/tidemark/server/wal"
)

// steps are those behind the blocks, in their order.
var steps = []string{"log", "store file", "rename", "sync parent"}

// The store file is written when blocks and log are durable, and the directory
// gets its name when it is a store: a crash before any of the steps leaves no
// store, or all of it, although it loses what was not synced. The name is
// durable at the end.
func TestStepsOfADirectory(t *testing.T) {
	f := small(t)
	want, err := content(f.chain(t, 2))
	if err != nil {
		t.Fatal(err)
	}
	parent := t.TempDir()
	path := filepath.Join(parent, "data")
	blocks := disk.NewMemory()
	var done []string
	var left []*disk.Memory // of blocks, after a crash before each step
	var epochs []uint64     // of the log before each step behind it
	step := func(name, dir string, do func() error) error {
		left = append(left, blocks.Crash(func(disk.Unsynced) bool { return false }))
		if name != "log" {
			home := dir
			if name == "sync parent" {
				home = path
			}
			_, report, err := wal.Prepare(storedir.LogPath(home), f.headers[0].Store)
			if err != nil || report.Last != 1 {
				t.Errorf("step %q meets a log of %+v, %v", name, report, err)
			}
			epochs = append(epochs, report.Epoch)
		}
		if name == "log" || name == "store file" {
			if _, err := storedir.Open(dir, storedir.Options{}); !errors.Is(err, storedir.ErrForeign) {
				t.Errorf("step %q meets a store: %v", name, err)
			}
		}
		_, err := os.Lstat(path)
		if name == "sync parent" {
			if dir = filepath.Clean(dir); dir != parent || err != nil {
				t.Errorf("%s is synced for the name of %s (%v)", dir, path, err)
			}
		} else if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("step %q meets the directory under its name: %v", name, err)
		}
		done = append(done, name)
		return do()
	}
	r, err := restore.Stepwise(t.Context(), path, f.chain(t, 2), restore.Options{
		Wrap: func(disk.Disk) disk.Disk { return blocks },
	}, step)
	if err != nil || !slices.Equal(done, steps) {
		t.Fatalf("the steps are %q, %v", done, err)
	}
	for i, d := range left {
		if err := equal(stored(t, d, r, f.headers[1]), want); err != nil {
			t.Errorf("a crash before step %q: %v", steps[i], err)
		}
	}
	if !slices.Equal(epochs, []uint64{r.Epoch, r.Epoch, r.Epoch}) {
		t.Errorf("the log is of epochs %d, the store of %d", epochs, r.Epoch)
	}
	d, err := storedir.Open(path, storedir.Options{})
	if err != nil || d.Epoch() != r.Epoch {
		t.Fatalf("the directory: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// A step that fails is told, and nothing is left; but if it is the last, the
// whole store is there.
func TestStepsThatFail(t *testing.T) {
	f := small(t)
	want, err := content(f.chain(t, 2))
	if err != nil {
		t.Fatal(err)
	}
	failure := errors.New("this step fails")
	for _, fails := range steps {
		parent := t.TempDir()
		path := filepath.Join(parent, "data")
		_, err := restore.Stepwise(t.Context(), path, f.chain(t, 2), restore.Options{}, func(name, _ string, do func() error) error {
			if name == fails {
				return failure
			}
			return do()
		})
		if !errors.Is(err, failure) {
			t.Errorf("step %q fails: %v", fails, err)
		}
		if fails != "sync parent" {
			only(t, parent)
			continue
		}
		only(t, parent, "data")
		d, err := storedir.Open(path, storedir.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := restore.Result{Epoch: d.Epoch()}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if err := equal(stored(t, disk.OS(storedir.BlocksPath(path)), r, f.headers[1]), want); err != nil {
			t.Error(err)
		}
	}
}
