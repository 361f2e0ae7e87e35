package fsim

import (
	"math/rand/v2"
	"path"
	"strings"
	"testing"
)

// rename gives a random path another random name on both. Done says that an
// expected error came, or that there was nothing to try.
func (w *twin) rename(t *testing.T, fs *FS, tx *MemTx, rng *rand.Rand, now int64) (err error, done bool) {
	t.Helper()
	from, node := w.pick(rng, []Kind{File, Dir, Symlink}[rng.IntN(3)])
	toDir, dir := w.pick(rng, Dir)
	if node == nil || from == "/" {
		return nil, true
	}
	to := path.Join(toDir, path.Base(from)+strings.Repeat("r", rng.IntN(3)))
	if rng.IntN(2) == 0 { // onto something that is there
		to, _ = w.pick(rng, []Kind{File, Dir}[rng.IntN(2)])
		if to == "" || to == "/" {
			return nil, true
		}
		toDir = path.Dir(to)
		dir = w.nodes[toDir]
	}
	if len(path.Base(to)) > MaxName {
		return nil, true
	}
	var want error
	switch old := w.nodes[to]; {
	case node.kind == Dir && (toDir == from || strings.HasPrefix(toDir, from+"/")):
		want = ErrLoop
	case old == nil || old == node:
	case old.kind == Dir && node.kind != Dir:
		want = ErrIsDir
	case old.kind != Dir && node.kind == Dir:
		want = ErrNotDir
	case old.kind == Dir && !w.empty(to):
		want = ErrNotEmpty
	}
	err = fs.Rename(tx, w.nodes[path.Dir(from)].h, path.Base(from), dir.h, path.Base(to), now)
	if want != nil {
		wantErr(t, err, want)
		return nil, true
	}
	if err != nil || w.nodes[to] == node {
		return err, false
	}
	delete(w.nodes, to)
	for p, n := range w.nodes {
		if rest, below := strings.CutPrefix(p, from+"/"); below {
			delete(w.nodes, p)
			w.nodes[to+"/"+rest] = n
		}
	}
	delete(w.nodes, from)
	w.nodes[to] = node
	return nil, false
}
