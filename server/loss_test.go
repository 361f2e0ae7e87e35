package server

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/inspect"
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

// TestLossAfterACheckpoint: with a checkpoint the whole directory of the log
// may be missing.
func TestLossAfterACheckpoint(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	pipe(t, s).hello(occ.SessionID{}).committed(nil, write(1, "acknowledged"))
	shutdown(t, s)
	if err := os.RemoveAll(filepath.Join(dir, "log")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := Open(Options{Dir: dir}); !errors.Is(err, ErrLogShort) {
			t.Fatal(err)
		}
	}
}
