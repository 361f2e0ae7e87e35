package salvage

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/server/inspect"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/storedir"
)

func TestTargets(t *testing.T) {
	w := newWorld(t, 1, true)
	w.close()
	before := tree(t, w.path)
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(w.path, link))
	for _, to := range []string{w.path, t.TempDir(), filepath.Join(w.path, "new"), filepath.Join(w.path, "log", "new"), filepath.Join(link, "new")} {
		var target *TargetError
		if _, err := Run(t.Context(), w.path, to, Options{}); !errors.As(err, &target) || !strings.Contains(err.Error(), to) {
			t.Errorf("%s: %v", to, err)
		}
	}
	var size *storedir.BlockSizeError
	if _, err := Run(t.Context(), w.path, filepath.Join(t.TempDir(), "new"), Options{BlockSize: -1}); !errors.As(err, &size) {
		t.Error(err)
	}
	for name := range tree(t, w.path) {
		if _, ok := before[name]; !ok {
			t.Errorf("%s appeared", name)
		}
	}
	// A directory beside it, whose name begins like its own, is another one.
	if _, err := Run(t.Context(), w.path, w.path+"-new", Options{}); err != nil {
		t.Error(err)
	}
}

// TestWhatEndsIt: after an error there is no new directory.
func TestWhatEndsIt(t *testing.T) {
	w := newWorld(t, 2, true)
	w.run(20)
	w.checkpoint(1e6)
	w.run(5)
	w.close()
	enough := errors.New("enough")
	to := filepath.Join(t.TempDir(), "new")
	gone := func() {
		t.Helper()
		if _, err := os.Lstat(to); err == nil {
			t.Error("there is a new directory")
		}
	}
	if _, err := Run(t.Context(), w.path, to, Options{Lost: func(Loss) error { return enough }}); !errors.Is(err, enough) {
		t.Error(err)
	}
	gone()
	for _, stage := range []string{"copying the checkpoint", "searching the slots", "applying the log"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		reached := false
		_, err := Run(ctx, w.path, to, Options{Beyond: true, Progress: func(what string, done, of int64) {
			if done > of {
				t.Errorf("%s: %d of %d", what, done, of)
			}
			if what == stage {
				reached = true
				cancel(enough)
			}
		}})
		if !errors.Is(err, enough) || !reached {
			t.Errorf("%s: %v", stage, err)
		}
		gone()
	}
	// Records of a newer program are no damage.
	d, err := storedir.Open(w.path, storedir.Options{})
	must(t, err)
	must(t, d.Close())
	newer := newWorld(t, 3, false)
	_, err = newer.log.Append([]byte{99, 0})
	must(t, err)
	newer.close()
	if _, err := Run(t.Context(), newer.path, to, Options{}); !errors.Is(err, record.ErrVersion) {
		t.Error(err)
	}
	gone()
}

// TestWhoseStoreItIs: what the store file said is found elsewhere, or asked
// for, and data of another store is not taken.
func TestWhoseStoreItIs(t *testing.T) {
	w := newWorld(t, 4, false)
	w.run(9)
	w.close()
	must(t, os.Remove(filepath.Join(w.path, "tidemark.store")))
	to := filepath.Join(t.TempDir(), "new")
	if _, err := Run(t.Context(), w.path, to, Options{}); !errors.Is(err, ErrBlockSize) {
		t.Error(err)
	}
	if r := salvaged(t, w, w.path, Options{BlockSize: blockSize}); r.Stable != w.stable || r.Store != w.dir.StoreID().String() || r.lost(StoreFile) != 1 {
		t.Errorf("%+v, %v", r.Summary, r.losses)
	}
	a, b := newWorld(t, 5, true), newWorld(t, 6, true)
	for _, w := range []*world{a, b} {
		w.run(20)
		w.checkpoint(1e6)
		w.close()
	}
	must(t, os.Remove(filepath.Join(a.path, "blocks/blocks")))
	must(t, os.Link(filepath.Join(b.path, "blocks/blocks"), filepath.Join(a.path, "blocks/blocks")))
	if r := salvaged(t, a, a.path, Options{Beyond: true}); r != nil && r.Consistent && r.LostStale+r.LostZeros == 0 {
		t.Errorf("%+v, %v", r.Summary, r.losses)
	}
	must(t, os.RemoveAll(filepath.Join(a.path, "blocks")))
	must(t, os.Rename(filepath.Join(b.path, "blocks"), filepath.Join(a.path, "blocks")))
	salvaged(t, a, a.path, Options{})
}

func TestSummary(t *testing.T) {
	s := Summary{Store: "s", BlockSize: 64, Epoch: 1 << 33, WasEpoch: 3, Base: fromPieces, Stable: 7, Blocks: 2, Bytes: 3, LostStale: 1, LostSlots: 4}
	var b strings.Builder
	if _, err := s.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"NOT CONSISTENT: blocks of different moments, up to timestamp 7", "lost slots", "1: 1 have an older version, 0 are zeros", "8589934592, was 3"} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("no %q in\n%s", line, &b)
		}
	}
}

func ExampleLoss() {
	for _, l := range []Loss{
		{Kind: Block, Block: 3, Version: 9, Kept: 4},
		{Kind: Block, Block: 5, Version: 9},
		{Kind: Entries, First: 4, Last: 6, File: "log/00000000000000000001", Offset: 70, Reason: "checksum does not match"},
		{Kind: Transactions, First: 8, Last: 8},
		{Kind: Left, First: 9, Last: 12, Count: 3},
		{Kind: Snapshot, Name: "night", First: 6},
	} {
		os.Stdout.WriteString(l.String() + "\n")
	}
	// Output:
	// lost block 3 from timestamp 9, it has that from 4
	// lost block 5 from timestamp 9, it is zeros
	// lost log entries 4 to 6: log/00000000000000000001, offset 70: checksum does not match
	// lost transaction 8
	// left out 3 whole: transactions 9 to 12, behind lost ones (--beyond takes them)
	// lost snapshot "night" of timestamp 6
}

// FuzzSalvage puts any bytes into a file of a store that has a checkpoint.
func FuzzSalvage(f *testing.F) {
	w := newWorld(f, 7, true)
	w.run(10)
	w.checkpoint(1e6)
	w.run(6)
	w.close()
	files, err := filepath.Glob(filepath.Join(w.path, "*", "*"))
	must(f, err)
	f.Add(uint8(0), uint16(70), []byte{1}, false)
	f.Add(uint8(1), uint16(4100), []byte("SLOT"), true)
	f.Add(uint8(4), uint16(9), []byte{0, 0, 0, 0}, false)
	f.Fuzz(func(t *testing.T, which uint8, at uint16, b []byte, beyond bool) {
		dir := w.clone(t)
		name, err := filepath.Rel(w.path, files[int(which)%len(files)])
		must(t, err)
		edit(t, filepath.Join(dir, name), func(old []byte) []byte {
			at := min(int(at), len(old))
			return append(old[:at:at], append(b, old[min(len(old), at+len(b)):]...)...)
		})
		salvaged(t, w, dir, Options{Beyond: beyond})
	})
}

// TestNothingLeft: a store that has lost log and blocks is not salvaged as an
// empty one.
func TestNothingLeft(t *testing.T) {
	w := newWorld(t, 4, true)
	w.run(5)
	w.close()
	must(t, errors.Join(os.RemoveAll(filepath.Join(w.path, "log")), os.RemoveAll(filepath.Join(w.path, "blocks"))))
	if s, found := verdict(t, w.path); s.Verdict != inspect.Damaged || len(found) != 1 || found[0].Kind != inspect.Fit {
		t.Errorf("%+v, %v", s, found)
	}
	if _, err := Run(t.Context(), w.path, filepath.Join(t.TempDir(), "new"), Options{}); !errors.Is(err, ErrNothing) {
		t.Error(err)
	}
}
