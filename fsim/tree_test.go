package fsim

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// plant makes the same tree in any volume, by different ways.
func plant(t *testing.T, geo Geometry, reverse bool) (*FS, *MemTx) {
	fs, tx := mkfs(t, geo)
	names := []string{"a", "b", "c"}
	if reverse {
		slices.Reverse(names)
		must(fs.Create(tx, fs.Root(), "gone", File, 0, 0))(t)
		ok(t, fs.Remove(tx, fs.Root(), "gone"))
	}
	for i, name := range names {
		d := must(fs.Create(tx, fs.Root(), name, Dir, uint32(i), int64(i)))(t)
		h := must(fs.Create(tx, d, "file", File, uint32(i), int64(i)))(t)
		ok(t, fs.Truncate(tx, h, 1<<20+100, 0))
		if reverse {
			// Zeros written are holes to the digest.
			ok(t, fs.Write(tx, h, 3000, make([]byte, 9000), 1))
		}
		ok(t, fs.Write(tx, h, 5000, pattern(700, name[0]), 1))
		ok(t, fs.Write(tx, h, 1<<20+50, pattern(50, name[0]), 1))
	}
	return fs, tx
}

func TestTreesCompare(t *testing.T) {
	fs, tx := plant(t, tiny, false)
	nodes := must(fs.Tree(tx))(t)
	var paths []string
	for _, n := range nodes {
		paths = append(paths, n.Path)
	}
	if want := []string{"/", "/a", "/a/file", "/b", "/b/file", "/c", "/c/file"}; !slices.Equal(paths, want) {
		t.Errorf("paths are %q, want %q", paths, want)
	}
	for size := uint32(512); size <= 65536; size *= 8 {
		otherFS, otherTx := plant(t, Geometry{BlockSize: size, Blocks: 2000}, true)
		other := must(otherFS.Tree(otherTx))(t)
		if !slices.Equal(nodes, other) || Digest(nodes) != Digest(other) {
			t.Errorf("block size %d: the trees differ:\n%v\n%v", size, nodes, other)
		}
	}
	changes := map[string]func(h Handle){
		"a byte":    func(h Handle) { ok(t, fs.Write(tx, h, 5000, []byte{0}, 1)) },
		"the size":  func(h Handle) { ok(t, fs.Truncate(tx, h, 1<<20+101, 1)) },
		"the place": func(h Handle) { ok(t, fs.Write(tx, h, 4488, pattern(700, 'b'), 1)) },
		"the name":  func(h Handle) { ok(t, fs.Link(tx, fs.Root(), "d", h, 1)) },
	}
	for name, change := range changes {
		before := Digest(must(fs.Tree(tx))(t))
		change(nodesHandle(t, fs, tx, "b"))
		if Digest(must(fs.Tree(tx))(t)) == before {
			t.Errorf("a change of %s does not show", name)
		}
	}
}

func nodesHandle(t *testing.T, fs *FS, tx Tx, dir string) Handle {
	return must(fs.Lookup(tx, must(fs.Lookup(tx, fs.Root(), dir))(t), "file"))(t)
}

func TestWalkStops(t *testing.T) {
	fs, tx := plant(t, tiny, false)
	stop, visits := errors.New("enough"), 0
	err := fs.Walk(tx, func(path string, info Info, h Handle) error {
		if visits++; path == "/b" {
			return stop
		}
		return nil
	})
	if err != stop || visits != 4 {
		t.Errorf("walk ended with %v after %d paths", err, visits)
	}
}

// Paths that are too long are shortened, and still told apart.
func TestLongPaths(t *testing.T) {
	fs, tx := mkfs(t, Geometry{Blocks: 1000})
	met := map[string]bool{}
	for _, top := range []string{"a", "b"} {
		dir := must(fs.Create(tx, fs.Root(), top, Dir, 0, 0))(t)
		for range 40 {
			dir = must(fs.Create(tx, dir, strings.Repeat("n", MaxName), Dir, 0, 0))(t)
		}
	}
	nodes := must(fs.Tree(tx))(t)
	for _, n := range nodes {
		if len(n.Path) > MaxPath+2*MaxName || met[n.Path] {
			t.Errorf("path of %d bytes, met before: %v", len(n.Path), met[n.Path])
		}
		met[n.Path] = true
	}
	if len(nodes) != 83 {
		t.Errorf("%d paths", len(nodes))
	}
}
