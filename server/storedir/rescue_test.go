package storedir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidemark/tidemark/occ"
)

func TestRescue(t *testing.T) {
	path := t.TempDir()
	if err := os.Mkdir(filepath.Join(path, logName), 0o700); err != nil {
		t.Fatal(err)
	}
	refused(t, path, Options{}, ErrForeign)
	id := Identity{Store: occ.StoreID{9}, BlockSize: 512, Epoch: NextHistory(5, 7)}
	if err := Rescue(path, id); err != nil {
		t.Fatal(err)
	}
	d := mustOpen(t, path, Options{})
	if d.StoreID() != id.Store || d.BlockSize() != 512 || d.Epoch() != 8<<32 {
		t.Errorf("%v, %d, epoch %d", d.StoreID(), d.BlockSize(), d.Epoch())
	}
	before := tree(t, path)
	if err := Rescue(path, id); !errors.Is(err, ErrExists) {
		t.Errorf("over a store: %v", err)
	}
	sameTree(t, before, tree(t, path))
	var size *BlockSizeError
	if err := Rescue(t.TempDir(), Identity{}); !errors.As(err, &size) {
		t.Errorf("without a block size: %v", err)
	}
	var e *Error
	if err := Rescue(filepath.Join(path, "missing"), id); !errors.As(err, &e) {
		t.Errorf("no directory: %v", err)
	}
}

func TestNextHistory(t *testing.T) {
	for _, c := range []struct {
		epoch  uint64
		chance uint16
		want   uint64
	}{{0, 0, 1 << 32}, {1<<32 - 1, 0, 1 << 32}, {1 << 32, 0, 2 << 32}, {7<<32 | 5, 3, 11 << 32}} {
		if got := NextHistory(c.epoch, c.chance); got != c.want {
			t.Errorf("after %x by %d: %x", c.epoch, c.chance, got)
		}
	}
}
