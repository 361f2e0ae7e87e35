package salvage

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server"
	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/inspect"
	"github.com/tidemark/tidemark/server/inspect/blockdir"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/storedir"
)

// looked is what a check says of a directory. Neither it nor a dump changes
// anything there, and if one cannot look, the other cannot.
func looked(t testing.TB, dir string) (s *inspect.Summary, found []inspect.Finding, err error) {
	t.Helper()
	before := tree(t, dir)
	s, err = inspect.Check(t.Context(), dir, inspect.CheckOptions{Report: func(f inspect.Finding) error {
		found = append(found, f)
		return nil
	}})
	dumped := inspect.Dump(t.Context(), dir, io.Discard, inspect.DumpOptions{Blocks: true})
	if after := tree(t, dir); !maps.Equal(before, after) {
		t.Error("the directory was changed")
	}
	if (err == nil) != (dumped == nil) {
		t.Errorf("a check says %v, a dump %v", err, dumped)
	}
	return s, found, err
}

// verdict checks a directory, and that a server thinks the same: it starts there
// if nothing but data is damaged, which it does not read.
func verdict(t testing.TB, dir string) (*inspect.Summary, []inspect.Finding) {
	t.Helper()
	s, found, err := looked(t, dir)
	var newer *storedir.VersionError // a flipped bit in the version is believed
	if errors.As(err, &newer) {
		return nil, nil
	}
	must(t, err)
	if err := start(t, dir); (err == nil) != starts(found) {
		t.Errorf("found %v, but a server says %v", found, err)
	}
	return s, found
}

// starts says that with no more than this found a server starts.
func starts(found []inspect.Finding) bool {
	return !slices.ContainsFunc(found, func(f inspect.Finding) bool { return f.Kind != inspect.Slot && !f.Torn })
}

// start starts a server in a copy.
func start(t testing.TB, dir string) error {
	t.Helper()
	at := filepath.Join(t.TempDir(), "started")
	must(t, os.CopyFS(at, os.DirFS(dir)))
	s, err := server.Open(server.Options{Dir: at})
	if err == nil {
		s.Shutdown(t.Context()) // which may meet damaged data
	}
	return err
}

// slotOf finds a version's slot in the index of the newest checkpoint.
func slotOf(t testing.TB, dir string, pick func(v layout.Version) bool) (found layout.Version, offset int64) {
	t.Helper()
	d, err := blockdir.Open(filepath.Join(dir, "blocks"), layout.Owner{})
	must(t, err)
	defer d.Close()
	damage, err := d.ReadIndex(d.Newest().Header, layout.Visitor{State: func([]byte) {}, Version: func(v layout.Version) error {
		if v.Size > 0 && pick(v) {
			found = v
		}
		return nil
	}})
	if err != nil || damage != nil || found.From == 0 {
		t.Fatalf("version %+v, %v, %v", found, err, damage)
	}
	return found, d.Owner.SlotOffset(found.Slot)
}

func flip(at int64) func([]byte) []byte {
	return func(b []byte) []byte { b[at] ^= 4; return b }
}

// want is what is expected of a damaged directory.
type want struct {
	kind       inspect.Kind // of the first finding
	reason     string
	base       string
	consistent bool
	whole      bool // everything up to the last transaction is there
	blocks     int  // lost
	left       bool // transactions were left out
}

// TestDamage damages one thing at a time, in a store with a checkpoint and a
// log behind it, and tells what is found, and what a salvage makes of it.
func TestDamage(t *testing.T) {
	w := worlds(t, 3)["four checkpoints"]
	for name, c := range map[string]struct {
		do func(t *testing.T, dir string)
		want
	}{
		"header of the newest checkpoint": {func(t *testing.T, dir string) { edit(t, filepath.Join(dir, "blocks/header"), flip(40)) },
			want{inspect.Index, "the file is missing, in which checkpoint 3 has its index; perhaps there was a newer checkpoint", fromIndex, true, true, 0, false}},
		"header of the checkpoint before": {func(t *testing.T, dir string) { edit(t, filepath.Join(dir, "blocks/header"), flip(layout.PageSize+40)) },
			want{"", "", fromHeader, true, true, 0, false}},
		"header of zeros": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "blocks/header"), func(b []byte) []byte { return make([]byte, len(b)) })
		}, want{inspect.Header, "no header was ever written", fromIndex, true, true, 0, false}},
		"header file": {func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "blocks/header"))) },
			want{inspect.Header, "the file is missing, but there are blocks", fromIndex, true, true, 0, false}},
		"index": {func(t *testing.T, dir string) { edit(t, filepath.Join(dir, "blocks/index-0000000000000004"), flip(70)) },
			want{inspect.Index, "checksum mismatch in a frame", fromPieces, false, false, -1, false}},
		"index cut": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "blocks/index-0000000000000004"), func(b []byte) []byte { return b[:90] })
		}, want{inspect.Index, "the file has 90 bytes, not", fromPieces, false, false, -1, false}},
		"index file": {func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "blocks/index-0000000000000004")))
		},
			want{inspect.Index, "the file is missing, in which checkpoint 4", fromPieces, false, false, -1, false}},
		"page of the block file": {func(t *testing.T, dir string) { edit(t, filepath.Join(dir, "blocks/blocks"), flip(100)) },
			want{inspect.BlockFile, "checksum mismatch", fromHeader, true, true, 0, false}},
		"block file": {func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "blocks/blocks"))) },
			want{inspect.BlockFile, "the file is missing", fromHeader, true, false, -1, false}},
		"block file cut": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "blocks/blocks"), func(b []byte) []byte { return b[:layout.PageSize+500] })
		}, want{inspect.BlockFile, "the file has 4596 bytes", fromHeader, true, false, -1, false}},
		"log behind the checkpoint": {func(t *testing.T, dir string) {
			files, err := filepath.Glob(filepath.Join(dir, "log", "0*"))
			must(t, err)
			edit(t, files[len(files)-2], flip(90))
		}, want{inspect.Log, "checksum does not match", fromHeader, true, false, 0, true}},
		"log": {func(t *testing.T, dir string) { must(t, os.RemoveAll(filepath.Join(dir, "log"))) },
			want{inspect.Fit, "the log ends with entry 0, but the checkpoint with entry", fromHeader, true, false, 0, false}},
		"store file": {func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "tidemark.store"))) },
			want{inspect.StoreFile, "store file is missing", fromHeader, true, true, 0, false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := w.clone(t)
			c.do(t, dir)
			s, found := verdict(t, dir)
			if c.kind == "" && len(found) > 0 || c.kind != "" && (s.Verdict != inspect.Damaged || len(found) == 0 || found[0].Kind != c.kind || !strings.Contains(found[0].Reason, c.reason)) {
				t.Errorf("%s, found %v", s.Verdict, found)
			}
			r := salvaged(t, w, dir, Options{})
			if r == nil {
				t.Fatal("nothing")
			}
			if r.Base != c.base || r.Consistent != c.consistent || c.whole && r.Stable != w.stable || (r.LeftOut > 0) != c.left ||
				c.blocks >= 0 && r.lost(Block) != c.blocks || c.kind != "" && c.kind != inspect.BlockFile && len(r.losses) < 2 {
				t.Errorf("%+v, %v", r.Summary, r.losses)
			}
			if b := salvaged(t, w, dir, Options{Beyond: true}); c.left && (b.Consistent || b.Stable != w.stable || b.LostTransactions == 0) {
				t.Errorf("beyond: %+v, %v", b.Summary, b.losses)
			}
		})
	}
}

// TestSlot damages the data of a version: the check names it, and a salvage
// gives the block an older version, that in the log, or zeros.
func TestSlot(t *testing.T) {
	w := worlds(t, 4)["four checkpoints"]
	d, err := blockdir.Open(filepath.Join(w.path, "blocks"), layout.Owner{})
	must(t, err)
	defer d.Close()
	upTo := d.Newest().Header.Stable
	dir := w.clone(t)
	v, offset := slotOf(t, dir, func(v layout.Version) bool { return w.current(v.Block).from == v.From })
	edit(t, filepath.Join(dir, "blocks/blocks"), flip(offset+layout.SlotHeader))
	s, found := verdict(t, dir)
	if len(found) != 1 || s.Verdict != inspect.Damaged || s.Checkpoint.Damaged != 1 {
		t.Fatalf("%+v, %v", s, found)
	}
	var text strings.Builder
	s.WriteTo(&text)
	if !strings.Contains(text.String(), "damaged at 1 place: a server starts, and cannot read 1 version\n") {
		t.Error(&text)
	}
	f := found[0]
	if f.Kind != inspect.Slot || f.Block != v.Block || f.From != v.From || f.Offset < offset || f.Offset >= offset+layout.SlotHeader || filepath.Base(f.File) != "blocks" {
		t.Errorf("%+v, not of %+v at %d", f, v, offset)
	}
	if line := f.String(); !strings.Contains(line, "from timestamp") || !strings.Contains(line, "offset") {
		t.Error(line)
	}
	r := salvaged(t, w, dir, Options{})
	if r.lost(Block) != 1 || !r.Consistent || r.Stable != w.stable || r.has[v.Block].from >= v.From {
		t.Errorf("%+v, %v", r.Summary, r.losses)
	}
	// With the other slots of the block gone there is nothing left.
	edit(t, filepath.Join(dir, "blocks/blocks"), func(b []byte) []byte {
		clear(b[layout.PageSize:])
		return b
	})
	r = salvaged(t, w, dir, Options{})
	if r.LostZeros == 0 || r.Stable != w.stable || upTo == w.stable {
		t.Errorf("%+v, %v", r.Summary, r.losses)
	}
}

// TestLogMendsSlots: what the log still has is not lost.
func TestLogMendsSlots(t *testing.T) {
	w := newWorld(t, 5, true)
	w.append(&record.Commit{At: 1, Session: session, Seq: 1, Writes: []occ.Write{{Block: 3, Data: []byte("whole")}}})
	w.had[3], w.stable = []version{{1, "whole"}}, 1
	w.checkpoint(1e6)
	w.close()
	_, offset := slotOf(t, w.path, func(layout.Version) bool { return true })
	edit(t, filepath.Join(w.path, "blocks/blocks"), flip(offset))
	if r := salvaged(t, w, w.path, Options{}); r.lost(Block) > 0 || r.has[3] != w.current(3) {
		t.Errorf("%+v, %v", r.Summary, r.losses)
	}
}

// TestUnfinished: an unfinished checkpoint is no damage.
func TestUnfinished(t *testing.T) {
	all := worlds(t, 6)
	for name, leftovers := range map[string]int{"no checkpoint": 0, "one checkpoint": 0, "unfinished": 1, "header written": 1, "without blocks": 0} {
		s, found := verdict(t, all[name].path)
		if s.Verdict != inspect.Clean || len(found) > 0 || len(s.BlockLeftover) != leftovers || (s.Checkpoint == nil) != (name == "without blocks") {
			t.Errorf("%s: %+v, %v", name, s, found)
		}
	}
}

// TestEveryStep stops a checkpoint behind each of its steps: it is no damage,
// and a salvage finds everything.
func TestEveryStep(t *testing.T) {
	for steps := range 11 {
		w := newWorld(t, 8, true)
		w.run(12)
		w.checkpoint(1e6)
		w.run(12)
		w.checkpoint(steps)
		w.close()
		if s, found := verdict(t, w.path); s.Verdict != inspect.Clean || len(found) > 0 {
			t.Errorf("%d steps: %+v, %v", steps, s, found)
		}
		for _, o := range []Options{{}, {Beyond: true}} {
			if r := salvaged(t, w, w.clone(t), o); r == nil || !r.Consistent || r.Stable != w.stable || len(r.losses) != 1 {
				t.Errorf("%d steps: %+v, %v", steps, r.Summary, r.losses)
			}
		}
	}
}
