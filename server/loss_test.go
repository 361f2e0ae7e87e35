package server

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/inspect"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/storedir"
	"github.com/tidemark/tidemark/server/wal"
)

// TestLossOfTheLog: a store that was killed before its first checkpoint has
// all that was acknowledged in one segment. Without it, it is no new store.
func TestLossOfTheLog(t *testing.T) {
	dir, killed := filepath.Join(t.TempDir(), "s"), filepath.Join(t.TempDir(), "s")
	s := running(t, Options{Dir: dir})
	pipe(t, s).hello(occ.SessionID{}).committed(nil, write(1, "acknowledged"))
	if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	segment := filepath.Join(killed, "log", "00000000000000000001")
	for range 2 {
		if err := os.Remove(segment); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			var corrupt *wal.CorruptError
			if _, err := Open(Options{Dir: killed}); !errors.As(err, &corrupt) || corrupt.Segment != segment {
				t.Fatalf("opened without its log: %v", err)
			}
			sum, err := inspect.Check(t.Context(), killed, inspect.CheckOptions{Report: func(f inspect.Finding) error {
				if f.Kind != inspect.Log || f.File != segment {
					t.Errorf("found %+v", f)
				}
				return nil
			}})
			if err != nil || sum.Verdict != inspect.Damaged || sum.Places != 1 {
				t.Fatalf("%+v, %v", sum, err)
			}
		}
		// The file is there, but not what was in it.
		if err := os.WriteFile(segment, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLossOfEverything: nor is it one without the whole directory of the log,
// or any of its files, or without the blocks as well.
func TestLossOfEverything(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s := running(t, Options{Dir: dir})
	pipe(t, s).hello(occ.SessionID{}).committed(nil, write(1, "acknowledged"))
	for name, c := range map[string]struct {
		gone []string // patterns
		is   error
	}{
		"the log":            {gone: []string{"log"}, is: ErrLogShort},
		"what is in the log": {gone: []string{"log/*"}, is: ErrLogShort},
		"log and blocks":     {gone: []string{"log", "blocks"}, is: ErrNoCheckpoint},
		"what is in both":    {gone: []string{"log/*", "blocks/*"}, is: ErrNoCheckpoint},
	} {
		t.Run(name, func(t *testing.T) {
			killed := t.TempDir()
			if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			for _, pattern := range c.gone {
				paths, err := filepath.Glob(filepath.Join(killed, pattern))
				if len(paths) == 0 || err != nil {
					t.Fatalf("%s: %v, %v", pattern, paths, err)
				}
				for _, path := range paths {
					if err := os.RemoveAll(path); err != nil {
						t.Fatal(err)
					}
				}
			}
			before := files(t, killed)
			for range 2 {
				if _, err := Open(Options{Dir: killed}); !errors.Is(err, c.is) {
					t.Fatalf("opened: %v", err)
				}
				if after := files(t, killed); !maps.Equal(before, after) {
					t.Fatalf("the directory was changed: it has %q", slices.Sorted(maps.Keys(after)))
				}
				sum, err := inspect.Check(t.Context(), killed, inspect.CheckOptions{Report: func(f inspect.Finding) error {
					if f.Kind != inspect.Fit {
						t.Errorf("found %+v", f)
					}
					return nil
				}})
				if err != nil || sum.Verdict != inspect.Damaged || sum.Places != 1 {
					t.Fatalf("%+v, %v", sum, err)
				}
			}
		})
	}
}

// TestFirstStart: whatever a crash leaves of the first start, before anything
// can have been acknowledged, opens; and so does a directory of an older
// version, which had no checkpoint yet. From then on there is one.
func TestFirstStart(t *testing.T) {
	for name, steps := range map[string]int{"store file": 0, "block store": 1, "log": 2, "epoch": 3, "entry": 4} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			firstStart(t, dir, steps)
			for range 2 {
				s := running(t, Options{Dir: dir})
				if d := s.storage.blocks.Durable(); d.Checkpoint != 1 || d.LogIndex == 0 {
					t.Fatalf("serves with %+v", d)
				}
				killed := t.TempDir()
				if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
					t.Fatal(err)
				}
				shutdown(t, s)
				dir = killed
			}
		})
	}
	s := running(t, Options{Dir: beforeBlocks(t)})
	if d := s.storage.blocks.Durable(); d.Checkpoint != 1 || d.LogIndex < 10 || d.Stable != 5 {
		t.Fatalf("an older store serves with %+v", d)
	}
}

// firstStart does so many steps of a first start.
func firstStart(t *testing.T, path string, steps int) {
	t.Helper()
	dir, err := storedir.Open(path, storedir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if steps--; steps < 0 {
		return
	}
	blocksDir, err := dir.BlocksDir()
	if err != nil {
		t.Fatal(err)
	}
	st, _, err := blocks.Open(disk.OS(blocksDir), blocks.Options{Store: dir.StoreID(), BlockSize: dir.BlockSize()})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if steps--; steps < 0 {
		return
	}
	log, _, err := wal.Open(dir.LogDir(), dir.StoreID(), wal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if steps--; steps < 0 {
		return
	}
	epoch, err := dir.NextEpoch()
	if err != nil {
		t.Fatal(err)
	}
	if steps--; steps < 0 {
		return
	}
	if _, err := log.Fence(epoch); err != nil {
		t.Fatal(err)
	}
	if _, err := log.Append(record.Append(nil, record.Group{Records: []record.Record{&record.Epoch{Epoch: epoch}}})); err != nil {
		t.Fatal(err)
	}
}
