package server

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/wal"
)

// untrimmed is a log that keeps everything: of two servers on copies of one
// disk, neither takes away what the other's checkpoint goes on from.
type untrimmed struct{ wal.Log }

func (untrimmed) Trim(uint64) error { return nil }

// TestShortReplay: what a start replays does not grow with the history, and
// the sessions and outcomes of all of it are there.
func TestShortReplay(t *testing.T) {
	d, log := disk.NewMemory(), wal.NewMemory(occ.StoreID{9}, wal.DefaultMemoryLimit)
	opts := func(d disk.Disk) Options {
		o := scripted(log, d)
		o.Log, o.BlockSize, o.CheckpointBytes = untrimmed{o.Log}, 512, 10_000
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
	moreThanASegment(pipe(t, s).hello(occ.SessionID{}))
	shutdown(t, s)
	if _, err := os.Stat(filepath.Join(dir, "log", "00000000000000000001")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the log was not trimmed: %v", err)
	}
	return dir
}

// moreThanASegment commits more than a segment of the log holds.
func moreThanASegment(c *rawClient) {
	for i := range 60 {
		var writes []occ.Write
		for b := range occ.BlockID(30) {
			writes = append(writes, write(b+1, content(occ.BlockID(i))))
		}
		c.committed(nil, writes...)
	}
}

// files are the files in a directory tree with their content, and the
// directories with none.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			found[strings.TrimPrefix(path, dir)+"/"] = ""
			return nil
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

// lastSegment is the path of the newest segment of the log in dir.
func lastSegment(dir string) string {
	segments, _ := filepath.Glob(filepath.Join(dir, "log", "[0-9]*")) // sorted; the pattern is good
	return slices.Max(segments)
}

// TestHalfAStore: log and checkpoint that do not belong together are refused,
// each time, and nothing is created or changed, not even what a crash left.
func TestHalfAStore(t *testing.T) {
	whole := trimmedDir(t)
	for name, c := range map[string]struct {
		spoil func(dir string) error
		is    error
		says  string
	}{
		"no block files": {
			func(dir string) error {
				torn, err := os.OpenFile(lastSegment(dir), os.O_WRONLY|os.O_APPEND, 0)
				if err != nil {
					return err
				}
				_, err = torn.WriteString("\x80\x01torn")
				return errors.Join(err, torn.Close(), os.WriteFile(filepath.Join(dir, "log", "tail.TEMP"), nil, 0o600),
					os.RemoveAll(filepath.Join(dir, "blocks")))
			},
			ErrNoCheckpoint, "the checkpoint is missing: the log begins with entry ",
		},
		"no log": {
			func(dir string) error {
				unfinished := filepath.Join(dir, "blocks", "index-00000000ffffffff")
				return errors.Join(os.WriteFile(unfinished, nil, 0o600), os.RemoveAll(filepath.Join(dir, "log")))
			},
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
			if after := files(t, dir); !maps.Equal(before, after) {
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

// TestCommitsDuringCheckpoint: a checkpoint holds the sessions as they were at
// its moment, whatever they commit before that is written.
func TestCommitsDuringCheckpoint(t *testing.T) {
	d, log := disk.NewMemory(), wal.NewMemory(occ.StoreID{9}, wal.DefaultMemoryLimit)
	f := disk.NewFaulty(d)
	s := running(t, scripted(log, f))
	t.Cleanup(f.Release)
	before := s.storage.blocks.Durable().Checkpoint
	a := pipe(t, s).hello(occ.SessionID{})
	f.Inject(disk.Fault{Op: disk.OpSync, Nth: f.Count(disk.OpSync) + 1, Kind: disk.Stall})
	first := a.commit(nil, write(1, strings.Repeat("x", 900)), write(2, strings.Repeat("x", 900)))
	a.send(first)
	expect[*wire.Items](a)
	<-f.Stalled() // the block file is synced before the index is written
	for i := range 5 {
		a.committed(nil, write(3, fmt.Sprint("version ", i)))
	}
	pipe(t, s).hello(occ.SessionID{})
	f.Release()
	for s.storage.blocks.Durable().Checkpoint == before {
		a.settled()
	}
	_, loaded, err := blocks.Open(d.Crash(func(disk.Unsynced) bool { return true }), blocks.Options{Store: occ.StoreID{9}, BlockSize: scriptBlock})
	if err != nil {
		t.Fatal(err)
	}
	state, err := record.DecodeState(loaded.State)
	if err != nil {
		t.Fatal(err)
	}
	want := record.State{Stable: 1, Epoch: 1, Next: 1, Sessions: []record.SessionState{{
		ID: a.welcome.Session, Next: 2, Outcomes: []record.Outcome{{Seq: 1, Digest: first.Digest, At: 1}},
	}}}
	if !reflect.DeepEqual(*state, want) || loaded.Stable != 1 {
		t.Errorf("the checkpoint at %d has the state\n%+v, not\n%+v", loaded.Stable, *state, want)
	}
}
