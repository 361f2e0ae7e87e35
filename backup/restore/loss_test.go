package restore_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidemark/tidemark/backup/restore"
	"github.com/tidemark/tidemark/server"
	"github.com/tidemark/tidemark/server/inspect"
	"github.com/tidemark/tidemark/server/wal"
)

// A restored store that loses its blocks or its log is refused, by a check as
// well, before a server has been there and after: it is no empty store.
func TestLossIsNoEmptyStore(t *testing.T) {
	f := small(t)
	segment := filepath.Join("log", "00000000000000000001")
	for name, c := range map[string]struct {
		gone []string
		is   func(error) bool
	}{
		"blocks":                {[]string{"blocks"}, func(err error) bool { return errors.Is(err, server.ErrNoCheckpoint) }},
		"blocks and log":        {[]string{"blocks", "log"}, func(err error) bool { return errors.Is(err, server.ErrNoCheckpoint) }},
		"log":                   {[]string{"log"}, func(err error) bool { return errors.Is(err, server.ErrLogShort) }},
		"segment of the log":    {[]string{segment}, func(err error) bool { return errors.As(err, new(*wal.CorruptError)) }},
		"segment and its bound": {[]string{segment, filepath.Join("log", "bounds")}, func(err error) bool { return errors.Is(err, server.ErrLogShort) }},
	} {
		for _, served := range []bool{false, true} {
			dir := filepath.Join(t.TempDir(), "data")
			_, err := restore.Directory(t.Context(), dir, f.chain(t, 2), restore.Options{})
			if err == nil && served {
				var s *server.Server
				if s, err = server.Open(server.Options{Dir: dir}); err == nil {
					err = s.Shutdown(t.Context())
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			if v := verdict(t, dir); v != inspect.Clean {
				t.Fatalf("%s: %s before the loss", name, v)
			}
			for _, gone := range c.gone {
				if err := os.RemoveAll(filepath.Join(dir, gone)); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 { // the first refusal leaves it as it is
				if v := verdict(t, dir); v != inspect.Damaged {
					t.Errorf("%s, served %v: the store is %s", name, served, v)
				}
				if _, err := server.Open(server.Options{Dir: dir}); err == nil || !c.is(err) {
					t.Fatalf("%s, served %v: %v", name, served, err)
				}
			}
		}
	}
}

func verdict(t *testing.T, dir string) inspect.Verdict {
	t.Helper()
	s, err := inspect.Check(t.Context(), dir, inspect.CheckOptions{Report: func(inspect.Finding) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	return s.Verdict
}
