package salvage

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/storedir"
	"github.com/tidemark/tidemark/server/wal"
)

// inOrder are the steps behind the blocks.
var inOrder = []string{"log", "report", "store file", "sync parent"}

// told are the steps of the operating system, each of which is done by step. dir
// is the directory, or the one whose name is synced.
func told(step func(name, dir string, do func() error) error) steps {
	f := osSteps()
	return steps{
		disk: f.disk,
		log: func(dir string, store occ.StoreID, epoch uint64, first []byte) error {
			return step("log", filepath.Dir(dir), func() error { return f.log(dir, store, epoch, first) })
		},
		report: func(path string, text []byte) error {
			return step("report", filepath.Dir(path), func() error { return f.report(path, text) })
		},
		store: func(dir string, id storedir.Identity) error {
			return step("store file", dir, func() error { return f.store(dir, id) })
		},
		syncDir: func(dir string) error {
			return step("sync parent", dir, func() error { return f.syncDir(dir) })
		},
	}
}

// logOf returns the epoch of the only entry of a salvaged log.
func logOf(t *testing.T, w *world, dir string) uint64 {
	t.Helper()
	_, report, err := wal.Prepare(storedir.LogPath(dir), w.dir.StoreID())
	if err != nil || report.Last != 1 {
		t.Errorf("the log is %+v, %v", report, err)
	}
	return report.Epoch
}

// The store file is written when blocks, log and report are durable: a crash
// before any of the steps leaves no store, or all of it, although it loses what
// was not synced. The name of the directory is durable at the end.
func TestStepsOfASalvage(t *testing.T) {
	w := worlds(t, 3)["one checkpoint"]
	to := filepath.Join(t.TempDir(), "new")
	memory := disk.NewMemory()
	var done []string
	var left []*disk.Memory // of the blocks, after a crash before each step
	var epochs []uint64     // of the log before each step behind it
	var reported Summary
	do := told(func(name, dir string, do func() error) error {
		left = append(left, memory.Crash(func(disk.Unsynced) bool { return false }))
		if name != "log" {
			epochs = append(epochs, logOf(t, w, to))
		}
		if name != "sync parent" {
			if _, err := storedir.Open(dir, storedir.Options{}); dir != to || !errors.Is(err, storedir.ErrForeign) {
				t.Errorf("step %q meets a store in %s: %v", name, dir, err)
			}
		} else if dir != filepath.Dir(to) {
			t.Errorf("%s is synced for the name of %s", dir, to)
		}
		if name == "store file" {
			b, err := os.ReadFile(filepath.Join(to, ReportName))
			if err == nil {
				err = json.Unmarshal(b, &reported)
			}
			if err != nil {
				t.Errorf("step %q meets no report: %v", name, err)
			}
		}
		done = append(done, name)
		return do()
	})
	do.disk = func(string) disk.Disk { return memory }
	s, err := stepwise(t.Context(), w.clone(t), to, Options{}, do)
	if err != nil || !slices.Equal(done, inOrder) {
		t.Fatalf("the steps are %q, %v", done, err)
	}
	if s.Stable != w.stable || reported != *s {
		t.Errorf("the report is %+v, the summary %+v", reported, s)
	}
	for _, d := range left {
		r := &result{Summary: s, has: make(map[occ.BlockID]version)}
		r.read(t, w, d)
		r.compare(t, w)
	}
	if !slices.Equal(epochs, []uint64{s.Epoch, s.Epoch, s.Epoch}) {
		t.Errorf("the log is of epochs %d, the store of %d", epochs, s.Epoch)
	}
	d, err := storedir.Open(to, storedir.Options{})
	must(t, err)
	defer d.Close()
	if d.Epoch() != s.Epoch || d.StoreID() != w.dir.StoreID() {
		t.Errorf("the directory is of store %v in epoch %d", d.StoreID(), d.Epoch())
	}
}

// A step that fails is told, and nothing is left.
func TestStepsThatFail(t *testing.T) {
	w := worlds(t, 3)["one checkpoint"]
	dir, parent := w.clone(t), t.TempDir()
	to := filepath.Join(parent, "new")
	failure := errors.New("this step fails")
	for _, fails := range inOrder {
		_, err := stepwise(t.Context(), dir, to, Options{}, told(func(name, _ string, do func() error) error {
			if name == fails {
				return failure
			}
			return do()
		}))
		if !errors.Is(err, failure) {
			t.Errorf("step %q fails: %v", fails, err)
		}
		if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("step %q fails, and a directory is left: %v", fails, err)
		}
	}
}
