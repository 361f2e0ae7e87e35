package salvage

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/server/inspect"
)

// spoilings take something away, put something else there, or empty it.
var spoilings = map[string]func(path string) error{
	"removed": os.RemoveAll,
	"emptied": func(path string) error {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() {
			return errors.Join(err, os.Truncate(path, 0))
		}
		return errors.Join(os.RemoveAll(path), os.Mkdir(path, 0o700))
	},
	"halved": func(path string) error {
		info, err := os.Stat(path)
		if err != nil || info.IsDir() {
			return err
		}
		return os.Truncate(path, info.Size()/2)
	},
	"a directory": func(path string) error {
		return errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Join(path, "within"), 0o700))
	},
	"a file": func(path string) error {
		return errors.Join(os.RemoveAll(path), os.WriteFile(path, []byte("text"), 0o600))
	},
}

// TestRefused: what a server refuses a check does not call clean, or it cannot
// look, whichever file or directory of whichever store is spoilt, and how. What
// a server takes is not called damaged. Nothing changes there.
func TestRefused(t *testing.T) {
	all := worlds(t, 9)
	for _, name := range []string{"without blocks", "four checkpoints", "header written"} {
		w := all[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for file := range tree(t, w.path) {
				for how, spoil := range spoilings {
					if file == "." {
						continue
					}
					dir := w.clone(t)
					must(t, spoil(filepath.Join(dir, file)))
					_, found, err := looked(t, dir)
					untouched(t, dir)
					if refused := start(t, dir); err == nil && (refused == nil) != starts(found) {
						t.Errorf("%s: %s: a server says %v, a check %v", file, how, refused, found)
					}
				}
			}
		})
	}
}

// untouched salvages a directory, in which nothing changes, whatever comes of it.
func untouched(t *testing.T, dir string) {
	t.Helper()
	before, to := tree(t, dir), dir+"-new"
	_, err := Run(t.Context(), dir, to, Options{Beyond: true, BlockSize: blockSize})
	if _, there := os.Stat(to); (there == nil) != (err == nil) {
		t.Errorf("after %v, the new directory: %v", err, there)
	}
	if !maps.Equal(before, tree(t, dir)) {
		t.Error("the old directory was changed")
	}
}

// TestLeftovers: what the next start removes is told only if there is one. The
// only index that is whole is no leftover of a checkpoint whose header is
// damaged, nor is what an older header does not name behind a trimmed log:
// either is the base of a salvage.
func TestLeftovers(t *testing.T) {
	w := newWorld(t, 12, true)
	w.run(9)
	w.checkpoint(1e6)
	w.run(9)
	old := w.clone(t)
	w.checkpoint(1e6)
	w.run(9)
	w.close()
	for name, spoil := range map[string]func(dir string){
		"newest header": func(dir string) { edit(t, filepath.Join(dir, "blocks/header"), flip(40)) },
		"older header and index": func(dir string) {
			for _, file := range []string{"blocks/header", "blocks/index-0000000000000001"} {
				b, err := os.ReadFile(filepath.Join(old, file))
				must(t, err)
				must(t, os.WriteFile(filepath.Join(dir, file), b, 0o600))
			}
		},
		"block file": func(dir string) {
			must(t, os.WriteFile(filepath.Join(dir, "log/00000000000000000001.START.TEMP"), nil, 0o600))
			must(t, os.WriteFile(filepath.Join(dir, "blocks/header.new"), nil, 0o600))
			must(t, os.Truncate(filepath.Join(dir, "blocks/blocks"), 9))
		},
	} {
		dir := w.clone(t)
		spoil(dir)
		s, found := verdict(t, dir)
		named := slices.ContainsFunc(found, func(f inspect.Finding) bool {
			return strings.Contains(f.Reason, "index-0000000000000002, which may be of a newer one")
		})
		if named != (name != "block file") {
			t.Errorf("%s: %v", name, found)
		}
		r := salvaged(t, w, dir, Options{})
		if r == nil || name != "block file" && (r.Base != fromIndex || r.Checkpoint != 2 || !r.Consistent || r.Stable != w.stable || r.lost(Block) > 0) {
			t.Fatalf("%s: %+v", name, r)
		}
		if s.Verdict != inspect.Damaged || starts(found) || len(s.BlockLeftover)+len(s.Leftover) > 0 {
			t.Errorf("%s: %s, found %v, leftovers %v, %v", name, s.Verdict, found, s.BlockLeftover, s.Leftover)
		}
		var text strings.Builder
		s.WriteTo(&text)
		if strings.Contains(text.String(), "the next start removes") {
			t.Errorf("%s:\n%s", name, &text)
		}
	}
}

// TestLossOfHeaderAndLog: the header before tells of entries of the log, so that
// these are missed, although the index file says nothing of the log.
func TestLossOfHeaderAndLog(t *testing.T) {
	w := worlds(t, 13)["four checkpoints"]
	dir := w.clone(t)
	edit(t, filepath.Join(dir, "blocks/header"), flip(40))
	must(t, os.RemoveAll(filepath.Join(dir, "log")))
	if r := salvaged(t, w, dir, Options{}); r == nil || r.Base != fromIndex || r.lost(Entries) != 1 {
		t.Errorf("%+v", r)
	}
}

// TestLossOfTheBlocks: the log does not go back to the first transaction, so
// that the checkpoint is missed.
func TestLossOfTheBlocks(t *testing.T) {
	w := worlds(t, 10)["four checkpoints"]
	for _, how := range []string{"removed", "emptied"} {
		dir := w.clone(t)
		must(t, spoilings[how](filepath.Join(dir, "blocks")))
		s, found := verdict(t, dir)
		if s.Verdict != inspect.Damaged || len(found) != 1 || found[0].Kind != inspect.Fit || found[0].Lost == 0 ||
			!strings.Contains(found[0].Reason, "no checkpoint holds those before it") {
			t.Errorf("%s: %s, found %v", how, s.Verdict, found)
		}
	}
}
