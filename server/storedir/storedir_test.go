package storedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/storedir/durable"
)

func mustOpen(t *testing.T, path string, opts Options) *Dir {
	t.Helper()
	d, err := Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil && !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
	return d
}

// refused checks that Open fails with one line that names the directory, for
// the cause given.
func refused(t *testing.T, path string, opts Options, cause error) {
	t.Helper()
	_, err := Open(path, opts)
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, cause) {
		t.Fatalf("got %v, want %v", err, cause)
	}
	if s := err.Error(); !strings.Contains(s, path) || strings.Contains(s, "\n") {
		t.Errorf("message %q", s)
	}
}

// tree returns everything below a directory: names, modes, contents.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		all[path] = info.Mode().String() + info.ModTime().String()
		if e.Type().IsRegular() {
			b, err := os.ReadFile(path)
			all[path] += string(b)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func sameTree(t *testing.T, a, b map[string]string) {
	t.Helper()
	for name := range a {
		if a[name] != b[name] {
			t.Errorf("%s changed", name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			t.Errorf("%s appeared", name)
		}
	}
}

func TestCreateAndOpenAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b")
	d := mustOpen(t, path, Options{})
	id := d.StoreID()
	if id == (occ.StoreID{}) || d.BlockSize() != DefaultBlockSize || d.Epoch() != 0 {
		t.Fatalf("new store %v, block size %d, epoch %d", id, d.BlockSize(), d.Epoch())
	}
	if filepath.Dir(d.LogDir()) != path {
		t.Errorf("log in %s", d.LogDir())
	}
	epoch := uint64(0)
	for range 5 {
		for range 2 {
			epoch++
			if got, err := d.NextEpoch(); err != nil || got != epoch {
				t.Fatalf("epoch %d, %v, want %d", got, err, epoch)
			}
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		d = mustOpen(t, path, Options{BlockSize: DefaultBlockSize})
		if d.StoreID() != id || d.Epoch() != epoch {
			t.Fatalf("reopened: store %v, epoch %d, want %v, %d", d.StoreID(), d.Epoch(), id, epoch)
		}
	}
	other := mustOpen(t, t.TempDir(), Options{BlockSize: 512})
	if other.StoreID() == id || other.BlockSize() != 512 {
		t.Errorf("second store: %v, block size %d", other.StoreID(), other.BlockSize())
	}
}

func TestLock(t *testing.T) {
	path := t.TempDir()
	d := mustOpen(t, path, Options{})
	refused(t, path, Options{}, ErrLocked)
	refused(t, path, Options{}, ErrLocked) // a refusal releases nothing
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, path, Options{})
	if _, err := d.NextEpoch(); !errors.Is(err, ErrClosed) {
		t.Errorf("epoch of a closed store: %v", err)
	}
	if err := d.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("second close: %v", err)
	}
	refused(t, path, Options{}, ErrLocked) // nor does the second close
}

func TestForeignDirectoryIsLeftUntouched(t *testing.T) {
	for name, files := range map[string][]string{
		"a file":              {"notes.txt"},
		"a hidden file":       {".profile"},
		"a subdirectory":      {"sub/x"},
		"a lock and a file":   {lockName, "x"},
		"a log without store": {"log/00000000000000000001"},
		"a name in capitals":  {"TIDEMARK.STORE.bak"},
	} {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			for _, f := range files {
				f = filepath.Join(path, f)
				if err := os.MkdirAll(filepath.Dir(f), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(f, []byte(f), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			before := tree(t, path)
			refused(t, path, Options{}, ErrForeign)
			sameTree(t, before, tree(t, path))
		})
	}
}

func TestNotADirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := tree(t, path)
	var e *Error
	if _, err := Open(path, Options{}); !errors.As(err, &e) {
		t.Fatalf("got %v", err)
	}
	sameTree(t, before, tree(t, path))
	if _, err := Open(filepath.Join(path, "below"), Options{}); !errors.As(err, &e) {
		t.Fatalf("got %v", err)
	}
}

func TestCrashWhileCreating(t *testing.T) {
	for _, files := range [][]string{{lockName}, {lockName, storeName + durable.TempSuffix}} {
		path := t.TempDir()
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(path, f), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		d := mustOpen(t, path, Options{})
		if d.Epoch() != 0 {
			t.Errorf("epoch %d", d.Epoch())
		}
	}
}

func TestBlockSize(t *testing.T) {
	path := t.TempDir()
	for _, size := range []int{-1, MaxBlockSize + 1} {
		var e *BlockSizeError
		if _, err := Open(path, Options{BlockSize: size}); !errors.As(err, &e) || e.Want != size || e.Have != 0 {
			t.Errorf("block size %d: %v", size, err)
		}
	}
	if left := tree(t, path); len(left) != 1 {
		t.Errorf("a refused size left %d files", len(left)-1)
	}
	d := mustOpen(t, path, Options{BlockSize: 1024})
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	var e *BlockSizeError
	if _, err := Open(path, Options{BlockSize: 2048}); !errors.As(err, &e) || e.Want != 2048 || e.Have != 1024 {
		t.Errorf("got %v", err)
	}
	if d := mustOpen(t, path, Options{}); d.BlockSize() != 1024 {
		t.Errorf("block size %d", d.BlockSize())
	}
}

func TestEpochSurvivesFailure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	d := mustOpen(t, path, Options{})
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.NextEpoch(); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("got %v", err)
	}
	if d.Epoch() != 0 {
		t.Errorf("epoch %d after a failure", d.Epoch())
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	if got, err := d.NextEpoch(); err != nil || got != 1 {
		t.Errorf("epoch %d, %v", got, err)
	}
}
