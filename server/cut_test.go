package server

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/wal"
)

// cutLog is a log of which a test gets copies as a crash in an append may
// leave it, each with the disk of the blocks at that moment.
type cutLog struct {
	wal.Log
	dir  string
	disk *disk.Memory

	mu     sync.Mutex
	copyTo string // the next append makes a copy there, if this is set
	copies []cutCopy
}

type cutCopy struct {
	dir   string
	tail  string // name of the segment that the append wrote to
	whole int64  // its size without the entry
	disk  *disk.Memory
}

func (l *cutLog) Append(payload []byte) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.copyTo == "" {
		return l.Log.Append(payload)
	}
	c := cutCopy{dir: l.copyTo, disk: l.disk.Crash(func(disk.Unsynced) bool { return true })}
	l.copyTo = ""
	before, err := segmentSizes(l.dir)
	if err != nil {
		return 0, err
	}
	index, err := l.Log.Append(payload)
	if err != nil {
		return 0, err
	}
	if err := os.CopyFS(c.dir, os.DirFS(l.dir)); err != nil {
		return 0, err
	}
	after, err := segmentSizes(c.dir)
	if err != nil {
		return 0, err
	}
	for name, size := range after {
		if size > before[name] {
			c.tail, c.whole = name, before[name]
		}
	}
	l.copies = append(l.copies, c)
	return index, nil
}

// Trim implements wal.Log, but not while a copy is made.
func (l *cutLog) Trim(upTo uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Log.Trim(upTo)
}

func segmentSizes(dir string) (map[string]int64, error) {
	names, err := filepath.Glob(filepath.Join(dir, "0*"))
	sizes := make(map[string]int64)
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		sizes[filepath.Base(name)] = info.Size()
	}
	return sizes, err
}

// openSmall opens a log of small segments.
func openSmall(t *testing.T, dir string) wal.Log {
	t.Helper()
	log, _, err := wal.Open(dir, occ.StoreID{9}, wal.Options{SegmentBytes: 700})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// cutOptions are those of a script, but for the log.
func cutOptions(log wal.Log, d disk.Disk) Options {
	o := scripted(wal.NewMemory(occ.StoreID{}, 1), d)
	o.Log = log
	return o
}

// clone is the script as it is now, for a test that lets time branch.
func (l *script) clone(t testing.TB) *script {
	other := newScript(t, 1)
	other.session, other.seq, other.acked, other.stable = l.session, l.seq, l.acked, l.stable
	other.now, other.horizon, other.pinned = l.now, l.horizon, l.pinned
	maps.Copy(other.tried, l.tried)
	other.sent, other.leased = slices.Clone(l.sent), slices.Clone(l.leased)
	for b, versions := range l.blocks {
		other.blocks[b] = slices.Clone(versions)
	}
	return other
}

// TestCutLog crashes in the middle of an append: the log is cut at every byte
// of its last entry. The group of that entry is there only if all of it is,
// and everything before it always.
func TestCutLog(t *testing.T) {
	stride := int64(1)
	if testing.Short() {
		stride = 13
	}
	dir, d := filepath.Join(t.TempDir(), "log"), disk.NewMemory()
	live := &cutLog{Log: openSmall(t, dir), dir: dir, disk: d}
	s := running(t, cutOptions(live, d))
	l := newScript(t, 3)
	c, err := l.connect(s)
	if err != nil {
		t.Fatal(err)
	}
	var before []*script
	copies := t.TempDir()
	for i := range 3 {
		if err := l.steps(c, 4); err != nil {
			t.Fatal(err)
		}
		m := l.numbered(&wire.Commit{Writes: []occ.Write{write(1, "a"), write(occ.BlockID(50+i), "b")}})
		before = append(before, l.clone(t))
		live.mu.Lock()
		live.copyTo = filepath.Join(copies, fmt.Sprint(i))
		live.mu.Unlock()
		if err := l.commit(c, m); err != nil {
			t.Fatal(err)
		}
	}
	shutdown(t, s)
	for i, moment := range live.copies {
		whole, err := segmentSizes(moment.dir)
		if err != nil {
			t.Fatal(err)
		}
		end := whole[moment.tail]
		if moment.whole == end {
			t.Fatal("the append is not in the copy")
		}
		for at := moment.whole; at < end+stride; at += stride {
			cut(t, before[i].clone(t), moment, min(at, end), at >= end)
		}
	}
}

// cut opens what a crash left when the last segment had so many bytes.
func cut(t *testing.T, l *script, moment cutCopy, size int64, whole bool) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "log")
	if err := os.CopyFS(dir, os.DirFS(moment.dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, moment.tail), size); err != nil {
		t.Fatal(err)
	}
	d := moment.disk.Crash(nil) // nothing is unsynced in it
	s, err := Open(cutOptions(openSmall(t, dir), d))
	if err != nil {
		t.Fatalf("cut at %d: %v", size, err)
	}
	c := l.verify(s)
	if want := len(l.sent); whole && int(c.welcome.Stable) != want || !whole && int(c.welcome.Stable) != want-1 {
		t.Errorf("cut at %d: stable is %d of %d", size, c.welcome.Stable, want)
	}
	if err := stop(s); err != nil {
		t.Fatal(err)
	}
}
