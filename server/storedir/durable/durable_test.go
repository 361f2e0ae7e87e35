package durable

import (
	"os"
	"path/filepath"
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
