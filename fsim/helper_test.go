package fsim

import (
	"testing"

	"github.com/tidemark/tidemark/occ"
)

const testBase = occ.BlockID(1000)

// tiny has small blocks and groups, so that few operations reach triply
// indirect blocks and full groups.
var tiny = Geometry{BlockSize: 512, Blocks: 601, BlocksPerGroup: 150, InodesPerGroup: 16}

func mkfs(t testing.TB, geo Geometry) (*FS, *MemTx) {
	t.Helper()
	tx := NewMemTx(int(geo.withDefaults().BlockSize))
	fs, err := Mkfs(tx, testBase, geo, 7)
	if err != nil {
		t.Fatal(err)
	}
	return fs, tx
}

func fsck(t testing.TB, fs *FS, tx Tx) {
	t.Helper()
	r, err := fs.Check(tx)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Problems {
		t.Error(p)
	}
	if !r.OK() {
		t.FailNow()
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func pattern(n int, seed byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7) + seed + byte(i>>8) | 1
	}
	return b
}
