package fsim

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"testing"
)

// twin is the file system said simply: paths and contents in maps. Two paths
// of one file share its node.
type twin struct {
	nodes map[string]*twinNode
}

// twinNode keeps content in units, so that a file may be huge and sparse.
type twinNode struct {
	kind  Kind
	h     Handle
	size  int64
	mtime int64
	units map[int64]*[unit]byte
}

const unit = 1000

func (n *twinNode) write(off int64, data []byte) {
	for i, c := range data {
		at := off + int64(i)
		u := n.units[at/unit]
		if u == nil {
			u = new([unit]byte)
			n.units[at/unit] = u
		}
		u[at%unit] = c
	}
	n.size = max(n.size, off+int64(len(data)))
}

func (n *twinNode) truncate(size int64) {
	maps.DeleteFunc(n.units, func(at int64, _ *[unit]byte) bool { return at*unit >= size })
	if u := n.units[size/unit]; u != nil {
		clear(u[size%unit:])
	}
	n.size = size
}

func TestTwin(t *testing.T) {
	for _, geo := range []Geometry{
		tiny,
		{BlockSize: 512, Blocks: 201, BlocksPerGroup: 50, InodesPerGroup: 4},
		{BlockSize: 4096, Blocks: 400},
	} {
		for seed := range uint64(3) {
			runTwin(t, geo, seed)
		}
	}
}

func runTwin(t *testing.T, geo Geometry, seed uint64) {
	defer func() {
		if t.Failed() {
			t.Logf("geometry %+v, seed %d", geo, seed)
		}
	}()
	fs, tx := mkfs(t, geo)
	rng := rand.New(rand.NewPCG(seed, 1))
	w := &twin{nodes: map[string]*twinNode{"/": {kind: Dir, h: fs.Root()}}}
	for step := range 1000 {
		w.step(t, fs, tx, rng, int64(step))
		if step%40 == 39 {
			fsck(t, fs, tx)
			w.compare(t, fs, tx)
		}
	}
}

func (w *twin) pick(rng *rand.Rand, kind Kind) (string, *twinNode) {
	var paths []string
	for _, p := range slices.Sorted(maps.Keys(w.nodes)) {
		if w.nodes[p].kind == kind {
			paths = append(paths, p)
		}
	}
	if len(paths) == 0 {
		return "", nil
	}
	p := paths[rng.IntN(len(paths))]
	return p, w.nodes[p]
}

func (w *twin) empty(dir string) bool {
	for p := range w.nodes {
		if p != "/" && path.Dir(p) == dir {
			return false
		}
	}
	return true
}

// step does one random operation on both. What the twin cannot know is
// whether there is space: ErrNoSpace is believed, and must change nothing.
func (w *twin) step(t *testing.T, fs *FS, tx *MemTx, rng *rand.Rand, now int64) {
	t.Helper()
	writes := tx.BlocksWritten
	dirPath, dir := w.pick(rng, Dir)
	filePath, file := w.pick(rng, File)
	name := string(rune('a'+rng.IntN(26))) + string(bytes.Repeat([]byte{'x'}, rng.IntN(60)))
	target := path.Join(dirPath, name)
	var err error
	switch op := rng.IntN(13); {
	case op < 3:
		kind := File
		if rng.IntN(4) == 0 {
			kind = Dir
		}
		var h Handle
		h, err = fs.Create(tx, dir.h, name, kind, rng.Uint32(), now)
		if old := w.nodes[target]; old != nil {
			wantErr(t, err, ErrExist)
			return
		}
		if err == nil {
			w.nodes[target] = &twinNode{kind: kind, h: h, mtime: now, units: map[int64]*[unit]byte{}}
		}
	case op < 5 && file != nil:
		target, dirPath = filePath, path.Dir(filePath)
		if rng.IntN(3) == 0 {
			target, dirPath = dirPath, path.Dir(dirPath)
		}
		if target == "/" {
			return
		}
		err = fs.Remove(tx, w.nodes[dirPath].h, path.Base(target))
		if w.nodes[target].kind == Dir && !w.empty(target) {
			wantErr(t, err, ErrNotEmpty)
			return
		}
		if err == nil {
			delete(w.nodes, target)
		}
	case op < 6 && file != nil:
		err = fs.Link(tx, dir.h, name, file.h, now)
		if w.nodes[target] != nil {
			wantErr(t, err, ErrExist)
			return
		}
		if err == nil {
			w.nodes[target] = file
		}
	case op < 8:
		var done bool
		if err, done = w.rename(t, fs, tx, rng, now); done {
			return
		}
	case op < 9:
		text := string(bytes.Repeat([]byte{'t'}, 1+rng.IntN(1500)))
		var h Handle
		h, err = fs.Symlink(tx, dir.h, name, text, rng.Uint32(), now)
		if w.nodes[target] != nil {
			wantErr(t, err, ErrExist)
			return
		}
		if err == nil {
			n := &twinNode{kind: Symlink, h: h, mtime: now, units: map[int64]*[unit]byte{}}
			n.write(0, []byte(text))
			w.nodes[target] = n
		}
	case op < 11 && file != nil:
		off := offset(rng, fs)
		data := pattern(1+rng.IntN(2000), byte(now))
		data = data[:min(int64(len(data)), fs.MaxFileSize()-off)]
		if err = fs.Write(tx, file.h, off, data, now); err == nil {
			file.write(off, data)
			file.mtime = now
		}
	case file != nil:
		size := offset(rng, fs)
		if rng.IntN(2) == 0 && file.size > 0 {
			size = rng.Int64N(file.size)
		}
		if err = fs.Truncate(tx, file.h, size, now); err == nil {
			file.truncate(size)
			file.mtime = now
		}
	}
	if errors.Is(err, ErrNoSpace) {
		if tx.BlocksWritten != writes {
			t.Fatal("an operation without space has written")
		}
		return
	}
	ok(t, err)
}

// offset favours the edges of the direct, indirect, doubly and triply
// indirect ranges.
func offset(rng *rand.Rand, fs *FS) int64 {
	edges := []int64{0, 0, directPtrs}
	for depth := 1; depth <= 3; depth++ {
		edges = append(edges, edges[len(edges)-1]+int64(fs.span(depth)))
	}
	at := edges[rng.IntN(len(edges))]<<fs.shift + rng.Int64N(6000) - 3000
	return min(max(at, 0), fs.MaxFileSize()-1)
}

func (w *twin) compare(t *testing.T, fs *FS, tx *MemTx) {
	t.Helper()
	visited := 0
	err := fs.Walk(tx, func(p string, info Info, h Handle) error {
		visited++
		n := w.nodes[p]
		if n == nil || n.kind != info.Kind || n.h != h || n.kind != Dir && (n.size != info.Size || n.mtime != info.MTime) {
			t.Fatalf("%s is %v %+v, the twin has %+v", p, h, info, n)
		}
		if n.kind != Dir {
			n.compare(t, p, fs, tx)
		}
		return nil
	})
	ok(t, err)
	if visited != len(w.nodes) {
		t.Fatalf("walked over %d paths of %d", visited, len(w.nodes))
	}
}

// compare reads every unit that was ever written, and the last.
func (n *twinNode) compare(t *testing.T, p string, fs *FS, tx *MemTx) {
	t.Helper()
	got := make([]byte, unit)
	check := func(i int64) {
		for j := range got {
			got[j] = 0xEE
		}
		want := new([unit]byte)
		if u := n.units[i]; u != nil {
			want = u
		}
		count := must(fs.Read(tx, n.h, i*unit, got))(t)
		if left := min(unit, max(n.size-i*unit, 0)); int64(count) != left || !bytes.Equal(got[:count], want[:count]) {
			t.Fatalf("%s: the %d bytes read at %d are not the %d of the twin", p, count, i*unit, left)
		}
	}
	for i := range n.units {
		check(i)
	}
	check(max(n.size-1, 0) / unit)
}
