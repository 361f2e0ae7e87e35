package storedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidemark/tidemark/occ"
)

func TestCreate(t *testing.T) {
	path := t.TempDir()
	id := Identity{Store: occ.StoreID{4, 2}, BlockSize: 1024, Epoch: 7 << 32}
	if err := errors.Join(os.Mkdir(BlocksPath(path), dirPerm), os.Mkdir(LogPath(path), dirPerm)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{}); !errors.Is(err, ErrForeign) {
		t.Fatalf("without a store file: %v", err)
	}
	if err := Create(path, id); err != nil {
		t.Fatal(err)
	}
	d, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if got := (Identity{d.StoreID(), d.BlockSize(), d.Epoch()}); got != id {
		t.Errorf("opened as %+v", got)
	}
	if has, err := d.HasBlocks(); err != nil || !has {
		t.Errorf("it has blocks: %t, %v", has, err)
	}
	if blocks, err := d.BlocksDir(); err != nil || blocks != BlocksPath(path) || d.LogDir() != LogPath(path) {
		t.Errorf("%s, %s, %v", blocks, d.LogDir(), err)
	}
	if next, err := d.NextEpoch(); err != nil || next != id.Epoch+1 {
		t.Errorf("epoch %d, %v", next, err)
	}
}

func TestCreateRefuses(t *testing.T) {
	for _, size := range []int{0, -1, MaxBlockSize + 1} {
		path := t.TempDir()
		if err := Create(path, Identity{BlockSize: size}); !errors.As(err, new(*BlockSizeError)) {
			t.Errorf("blocks of %d bytes: %v", size, err)
		}
		if entries, err := os.ReadDir(path); err != nil || len(entries) > 0 {
			t.Errorf("left %v, %v", entries, err)
		}
	}
	err := Create(filepath.Join(t.TempDir(), "missing"), Identity{BlockSize: 1})
	if !errors.As(err, new(*Error)) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory that is missing: %v", err)
	}
}
