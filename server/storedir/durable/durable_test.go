package durable

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path+TempSuffix, []byte("left by a crash, and longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"first", "", "second"} {
		if err := Replace(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if b, err := Read(path, 100); err != nil || string(b) != content {
			t.Fatalf("got %q, %v", b, err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files left, %v", len(files), err)
	}
}

func TestReplaceLeavesTheOldContentWhenItFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.MkdirAll(filepath.Join(path, "not empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, []byte("x")); err == nil {
		t.Fatal("replaced a directory")
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 || !files[0].IsDir() {
		t.Fatalf("%d files left, %v", len(files), err)
	}
}

// The new content is durable before it has the name, and the name before Replace
// returns. Until a step has succeeded the content is the old one; the last one
// may be in doubt.
func TestStepsOfReplace(t *testing.T) {
	want := []string{"sync f" + TempSuffix, "rename", "sync directory"}
	failure := errors.New("this step fails")
	for fails := range len(want) + 1 {
		dir := t.TempDir()
		path := filepath.Join(dir, "f")
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		var done []string
		step := func(name string, do func() error) error {
			content := "old"
			if name == "sync directory" {
				content = "new"
			} else if b, err := os.ReadFile(path + TempSuffix); err != nil || string(b) != "new" {
				t.Errorf("step %q meets %q, %v", name, b, err)
			}
			if b, err := os.ReadFile(path); err != nil || string(b) != content {
				t.Errorf("step %q meets %q under the name, %v", name, b, err)
			}
			if done = append(done, name); len(done) == fails {
				return failure
			}
			return do()
		}
		s := steps{
			sync: func(f *os.File) error {
				name := "sync " + filepath.Base(f.Name())
				if f.Name() == dir {
					name = "sync directory"
				}
				return step(name, f.Sync)
			},
			rename: func(from, to string) error {
				return step("rename", func() error { return os.Rename(from, to) })
			},
		}
		if err := s.replace(path, []byte("new")); !errors.Is(err, failure) && (fails > 0 || err != nil) {
			t.Errorf("step %d fails: %v", fails, err)
		}
		if n := cmp.Or(fails, len(want)); !slices.Equal(done, want[:n]) {
			t.Errorf("the steps are %q", done)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
			t.Errorf("step %d fails: %d files left, %v", fails, len(files), err)
		}
	}
}

func TestReadIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, make([]byte, 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := Read(path, 10); err != nil || len(b) != 11 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if err := SyncDir(filepath.Join(filepath.Dir(path), "missing")); err == nil {
		t.Error("synced a directory that is not there")
	}
}
