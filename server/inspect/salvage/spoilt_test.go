package salvage

import (
	"errors"
	"os"
	"path/filepath"
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
// a server takes is not called damaged.
func TestRefused(t *testing.T) {
	for name, w := range worlds(t, 9) {
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
					if refused := start(t, dir); err == nil && (refused == nil) != starts(found) {
						t.Errorf("%s: %s: a server says %v, a check %v", file, how, refused, found)
					}
				}
			}
		})
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
