package restore_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidemark/tidemark/backup"
	"github.com/tidemark/tidemark/backup/restore"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/storedir"
)

// Backups that are taken while commits go on are of exactly one timestamp each,
// and so is what is restored from each of them.
func TestBackupsUnderCommits(t *testing.T) {
	l := newLoad(t)
	var f files
	for range 4 {
		l.commitDuring(func() { l.take(&f) })
	}
	for i := range f.bytes {
		at := f.headers[i].At
		if i > 0 && at <= f.headers[i-1].At {
			t.Fatalf("backup %d is of %d, the one before of %d: nothing happened meanwhile", i, at, f.headers[i-1].At)
		}
		want := l.state(at)
		got, err := content(f.chain(t, i+1))
		if err == nil {
			err = equal(got, want)
		}
		if err != nil {
			t.Fatalf("backup %d, at %d: %v", i, at, err)
		}
		dir := filepath.Join(t.TempDir(), "data")
		r, err := restore.Directory(l.ctx, dir, f.chain(t, i+1), restore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Blocks != uint64(len(want)) || r.At != at || r.Store != l.db.Store() || r.Epoch <= l.db.Epoch() || r.Epoch&(1<<32-1) != 0 {
			t.Errorf("restored %+v", r)
		}
		if err := equal(stored(t, disk.OS(storedir.BlocksPath(dir)), r, f.headers[i]), want); err != nil {
			t.Errorf("restored from %d backups, at %d: %v", i+1, at, err)
		}
	}
}

// stored opens the block store that was restored and returns all that is in it.
func stored(t *testing.T, d disk.Disk, r restore.Result, h backup.Header) map[occ.BlockID]backup.Record {
	t.Helper()
	s, loaded, err := blocks.Open(d, blocks.Options{Store: h.Store, BlockSize: h.BlockSize})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if loaded == nil || loaded.LogIndex != 1 || loaded.Stable != h.At {
		t.Fatalf("the block store holds %+v", loaded)
	}
	state, err := record.DecodeState(loaded.State)
	if err != nil {
		t.Fatal(err)
	}
	if state.Stable != h.At || state.Horizon != h.At || state.Epoch != r.Epoch || state.Next != h.Next || len(state.Sessions)+len(state.Pins) > 0 {
		t.Fatalf("state %+v", state)
	}
	all := make(map[occ.BlockID]backup.Record)
	err = loaded.Versions(func(b occ.BlockID, from occ.Timestamp, _ int) error {
		data, err := s.Read(b, from)
		all[b] = backup.Record{Block: b, From: from, Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// small is a chain of two little backups, with data in both.
func small(t *testing.T) *files {
	t.Helper()
	l := newLoad(t)
	var f files
	for range 2 {
		if err := l.commit(l.db, rngOf(uint64(len(f.bytes)))); err != nil {
			t.Fatal(err)
		}
		l.take(&f)
	}
	return &f
}

// What is restored is a store that others can open: locked by a server, with
// the id and in the epoch that the result says.
func TestDirectoryIsAStore(t *testing.T) {
	f := small(t)
	dir := filepath.Join(t.TempDir(), "data")
	r, err := restore.Directory(t.Context(), dir, f.chain(t, 2), restore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := storedir.Open(dir, storedir.Options{BlockSize: blockSize})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if d.StoreID() != f.headers[0].Store || d.Epoch() != r.Epoch {
		t.Errorf("store %v in epoch %d, not %+v", d.StoreID(), d.Epoch(), r)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("%v, %v", info, err)
	}
	other, err := restore.Directory(t.Context(), dir+"2", f.chain(t, 2), restore.Options{})
	if err != nil || occ.Generation(other.Epoch) <= f.headers[1].Generation() {
		t.Errorf("again: %+v, %v", other, err)
	}
}

func TestDirectoryRefuses(t *testing.T) {
	f := small(t)
	parent := t.TempDir()
	file, empty := filepath.Join(parent, "file"), filepath.Join(parent, "empty")
	if err := errors.Join(os.WriteFile(file, []byte("text"), 0o600), os.Mkdir(empty, 0o700)); err != nil {
		t.Fatal(err)
	}
	try := func(path string, ctx context.Context, c *backup.Chain, want error) {
		t.Helper()
		_, err := restore.Directory(ctx, path, c, restore.Options{})
		var in *restore.DirError
		if !errors.Is(err, want) || !errors.As(err, &in) || in.Dir != path {
			t.Errorf("%s: %v, not %v", path, err, want)
		}
	}
	for _, path := range []string{file, empty, empty + "/"} {
		try(path, t.Context(), f.chain(t, 2), restore.ErrExists)
	}
	try(filepath.Join(parent, "missing", "data"), t.Context(), f.chain(t, 2), fs.ErrNotExist)

	stopped, stop := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	stop(why)
	try(filepath.Join(parent, "data"), stopped, f.chain(t, 2), why)

	f.bytes[1] = f.bytes[1][:len(f.bytes[1])-1]
	_, err := restore.Directory(t.Context(), filepath.Join(parent, "data"), f.chain(t, 2), restore.Options{})
	var damage *backup.DamageError
	if !errors.As(err, &damage) || damage.Name != "file 1" {
		t.Errorf("a backup that breaks off: %v", err)
	}
	only(t, parent, "empty", "file")
}

// only checks the names in a directory.
func only(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if len(names) != len(want) {
		t.Fatalf("%s holds %q, not %q", dir, names, want)
	}
	for i := range want {
		if names[i] != want[i] {
			t.Fatalf("%s holds %q, not %q", dir, names, want)
		}
	}
}
