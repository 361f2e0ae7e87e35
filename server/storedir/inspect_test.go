package storedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func mustInspect(t *testing.T, path string) *Inspection {
	t.Helper()
	i, err := Inspect(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { i.Close() })
	return i
}

func TestInspectSharesTheLock(t *testing.T) {
	path := t.TempDir()
	d, err := Open(path, Options{BlockSize: 512})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.NextEpoch(); err != nil {
		t.Fatal(err)
	}
	if _, err := Inspect(path); !errors.Is(err, ErrLocked) {
		t.Errorf("beside a server: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	a, b := mustInspect(t, path), mustInspect(t, path)
	if a.Store != d.StoreID() || a.BlockSize != 512 || a.Epoch != 1 || a.Damage != nil || a.Store != b.Store {
		t.Errorf("%+v", a)
	}
	if _, err := Open(path, Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("a server beside inspections: %v", err)
	}
	a.Close()
	b.Close()
	if d, err = Open(path, Options{}); err != nil {
		t.Fatal(err)
	}
	d.Close()
}

// TestInspectCreatesNothing looks at directories that lack something.
func TestInspectCreatesNothing(t *testing.T) {
	path := t.TempDir()
	holds := func(want int) {
		t.Helper()
		if files, err := os.ReadDir(path); err != nil || len(files) != want {
			t.Errorf("%d files, %v", len(files), err)
		}
	}
	if _, err := Inspect(path); !errors.Is(err, ErrNoStore) {
		t.Errorf("an empty directory: %v", err)
	}
	if _, err := Inspect(filepath.Join(path, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	holds(0)
	if err := os.WriteFile(filepath.Join(path, "holiday.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Inspect(path); !errors.Is(err, ErrNoStore) {
		t.Errorf("a foreign directory: %v", err)
	}
	if err := os.Mkdir(filepath.Join(path, logName), 0o700); err != nil {
		t.Fatal(err)
	}
	if i := mustInspect(t, path); !errors.Is(i.Damage, ErrNoFile) {
		t.Errorf("a log alone: %+v", i)
	}
	holds(2)
	file := storeFile{blockSize: 512}.encode()
	for name, damage := range map[string]func(){
		"short": func() { file = file[:fileLen-1] },
		"bit":   func() { file = storeFile{blockSize: 512}.encode(); file[20] ^= 1 },
	} {
		damage()
		if err := os.WriteFile(filepath.Join(path, storeName), file, 0o600); err != nil {
			t.Fatal(err)
		}
		if i := mustInspect(t, path); !errors.Is(i.Damage, ErrDamaged) || i.BlockSize != 0 {
			t.Errorf("%s: %+v", name, i)
		}
	}
	file = storeFile{blockSize: 512}.encode()
	file[offVersion] = 2
	if err := os.WriteFile(filepath.Join(path, storeName), file, 0o600); err != nil {
		t.Fatal(err)
	}
	var version *VersionError
	if _, err := Inspect(path); !errors.As(err, &version) || version.Version != 2 {
		t.Errorf("a newer store: %v", err)
	}
	holds(3)
}
