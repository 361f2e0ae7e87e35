package server

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/wal"
)

// TestShortReplay: what a start replays does not grow with the history, and
// the sessions and outcomes of all of it are there.
func TestShortReplay(t *testing.T) {
	d, log := disk.NewMemory(), wal.NewMemory(occ.StoreID{9}, wal.DefaultMemoryLimit)
	opts := func(d disk.Disk) Options {
		o := scripted(log, d)
		o.BlockSize, o.CheckpointBytes = 512, 10_000
		return o
	}
	s := running(t, opts(d))
	a := pipe(t, s).hello(occ.SessionID{})
	first := a.commit(nil, write(1, "the first"))
	a.send(first)
	expect[*wire.Items](a)
	for _, history := range []int{100, 1000} {
		for i := range history {
			a.committed(nil, write(occ.BlockID(2+i%50), fmt.Sprintf("%0200d", i)))
		}
		for stable := a.figures()["stable"]; uint64(s.storage.blocks.Durable().Stable)+100 < stable; {
			a.settled() // while the checkpoint that is due is made
		}
		// A server that takes over from one that ended without a last checkpoint.
		s.fail(errors.New("the end"))
		shutdown(t, s)
		d = d.Crash(func(disk.Unsynced) bool { return true })
		s = running(t, opts(d))
		b := pipe(t, s).hello(a.welcome.Session)
		if v := b.figures(); v["commits_recovered"] > 100 || v["stable"] < uint64(history) {
			t.Fatalf("%d commits were replayed for a history of %d", v["commits_recovered"], v["stable"])
		}
		again := *first
		again.Req, again.Resend = b.next(), true
		b.send(&again)
		if o := expect[*wire.Outcome](b); o.Status != wire.OutcomeCommitted || o.At != 1 {
			t.Fatalf("%+v", o)
		}
		b.reads(1, 1, "the first")
		b.seq = a.seq
		a = b
	}
	shutdown(t, s)
}

// trimmedDir is the directory of a stopped store whose log begins behind its
// first entry.
func trimmedDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s := running(t, Options{Dir: dir, CheckpointBytes: 256 << 10})
	c := pipe(t, s).hello(occ.SessionID{})
	for i := range 60 { // more than a segment
		var writes []occ.Write
		for b := range occ.BlockID(30) {
			writes = append(writes, write(b+1, content(occ.BlockID(i))))
		}
		c.committed(nil, writes...)
	}
	shutdown(t, s)
	if _, err := os.Stat(filepath.Join(dir, "log", "00000000000000000001")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the log was not trimmed: %v", err)
	}
	return dir
}

// files are the files in a directory tree with their content.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		found[strings.TrimPrefix(path, dir)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestHalfAStore: log and checkpoint that do not belong together are refused,
// each time, and nothing that is there is changed.
func TestHalfAStore(t *testing.T) {
	whole := trimmedDir(t)
	for name, c := range map[string]struct {
		spoil func(dir string) error
		is    error
		says  string
	}{
		"no block files": {
			func(dir string) error { return os.RemoveAll(filepath.Join(dir, "blocks")) },
			ErrNoCheckpoint, "the checkpoint is missing: the log begins with entry ",
		},
		"no log": {
			func(dir string) error { return os.RemoveAll(filepath.Join(dir, "log")) },
			ErrLogShort, "the end of the log is missing: it ends with entry 0, and the newest checkpoint holds all up to ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := errors.Join(os.CopyFS(dir, os.DirFS(whole)), c.spoil(dir)); err != nil {
				t.Fatal(err)
			}
			before := files(t, dir)
			for range 2 {
				s, err := Open(Options{Dir: dir})
				if err == nil {
					shutdown(t, s)
				}
				if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
					t.Fatal(err)
				}
			}
			after := files(t, dir)
			maps.DeleteFunc(after, func(name, content string) bool {
				_, old := before[name]
				return !old && strings.HasPrefix(name, "/log/") // an empty log in place of the one that is missing
			})
			if !maps.Equal(before, after) {
				t.Fatal("the directory was changed")
			}
		})
	}
	shutdown(t, running(t, Options{Dir: whole}))
}

// TestOlderBlockFiles: neither does a checkpoint that is older than the log go
// with it.
func TestOlderBlockFiles(t *testing.T) {
	d, log := disk.NewMemory(), wal.NewMemory(occ.StoreID{9}, wal.DefaultMemoryLimit)
	var older *disk.Memory
	for range 2 {
		s := running(t, scripted(log, d))
		pipe(t, s).hello(occ.SessionID{}).committed(nil, write(1, "x"))
		shutdown(t, s)
		if older == nil {
			older = d.Crash(func(disk.Unsynced) bool { return true })
		}
	}
	if _, err := Open(scripted(log, older)); !errors.Is(err, ErrNoCheckpoint) {
		t.Fatal(err)
	}
	shutdown(t, running(t, scripted(log, d)))
}
