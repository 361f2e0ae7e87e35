package salvage

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/inspect"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/storedir"
)

// result is what a salvage came to.
type result struct {
	*Summary
	losses []Loss
	has    map[occ.BlockID]version
}

func (r *result) lost(k Kind) (n int) {
	for _, l := range r.losses {
		if l.Kind == k {
			n++
		}
	}
	return n
}

// salvaged salvages a damaged copy of w and checks what holds whatever the
// damage is: the old directory is as it was, the new one is clean, each block
// has data that it once had or is listed, and a state that is called
// consistent is one. It returns nil if nothing could be salvaged.
func salvaged(t testing.TB, w *world, dir string, o Options) *result {
	t.Helper()
	r := &result{has: make(map[occ.BlockID]version)}
	o.Lost = func(l Loss) error {
		if line := l.String(); strings.Contains(line, "\n") || !strings.HasPrefix(line, "l") {
			t.Errorf("%q", line)
		}
		r.losses = append(r.losses, l)
		return nil
	}
	before := tree(t, dir)
	to := filepath.Join(t.TempDir(), "new")
	var err error
	r.Summary, err = Run(t.Context(), dir, to, o)
	if after := tree(t, dir); !maps.Equal(before, after) {
		t.Error("the old directory was changed")
	}
	if err != nil {
		if _, gone := os.Stat(to); gone == nil {
			t.Errorf("after %v there is a new directory", err)
		}
		var newer *storedir.VersionError // a flipped bit in the version is believed
		if !errors.Is(err, ErrNothing) && !errors.Is(err, ErrBlockSize) && !errors.As(err, &newer) {
			t.Fatal(err)
		}
		return nil
	}
	check, err := inspect.Check(t.Context(), to, inspect.CheckOptions{Report: func(f inspect.Finding) error {
		t.Error(f)
		return nil
	}})
	must(t, err)
	if check.Verdict != inspect.Clean || check.Epoch != r.Epoch || r.Epoch>>32 <= r.WasEpoch>>32 || check.Checkpoint.Stable != r.Stable {
		t.Errorf("the new store is %+v, of %+v", check, r.Summary)
	}
	r.read(t, w, disk.OS(filepath.Join(to, "blocks")))
	r.compare(t, w)
	return r
}

// read reads the blocks of the new store.
func (r *result) read(t testing.TB, w *world, d disk.Disk) {
	t.Helper()
	s, loaded, err := blocks.Open(d, blocks.Options{Store: w.dir.StoreID(), BlockSize: blockSize})
	must(t, err)
	defer s.Close()
	if loaded == nil {
		t.Fatal("the block store has no checkpoint")
	}
	must(t, loaded.Versions(func(b occ.BlockID, from occ.Timestamp, _ int) error {
		data, err := s.Read(b, from)
		if _, twice := r.has[b]; twice {
			t.Errorf("two versions of block %d", b)
		}
		r.has[b] = version{from, string(data)}
		return err
	}))
	state, err := record.DecodeState(loaded.State)
	must(t, err)
	if loaded.LogIndex != 1 || len(state.Sessions)+len(state.Pins) > 0 || state.Epoch != r.Epoch || state.Horizon != r.Stable {
		t.Errorf("state %+v", state)
	}
	for b := range r.has {
		if b >= state.Next {
			t.Errorf("block %d, and the next is %d", b, state.Next)
		}
	}
}

// compare compares with all that w remembers.
func (r *result) compare(t testing.TB, w *world) {
	t.Helper()
	listed := make(map[occ.BlockID]Loss)
	for _, l := range r.losses {
		if l.Kind == Block {
			listed[l.Block] = l
		}
	}
	for b := occ.BlockID(1); b <= blockCount; b++ {
		has, l := r.has[b], listed[b]
		if has.from > 0 && has != w.at(b, has.from) {
			t.Errorf("block %d has %q from %d, which it never had", b, has.data, has.from)
		}
		if l.Kind == Block && (l.Kept != has.from || l.Version <= has.from) {
			t.Errorf("%v, but it has that from %d", l, has.from)
		}
		if want := w.at(b, r.Stable); r.Consistent && l.Kind == "" && has != want {
			t.Errorf("block %d has %+v, not %+v, and is not listed: %v", b, has, want, r.losses)
		}
	}
	if n := uint64(len(listed)); n != r.LostStale+r.LostZeros {
		t.Errorf("%d blocks are listed, %d+%d counted", n, r.LostStale, r.LostZeros)
	}
}

// worlds are the directories that are damaged.
func worlds(t testing.TB, seed uint64) map[string]*world {
	all := make(map[string]*world)
	for name, make := range map[string]func(w *world){
		"without blocks": func(w *world) { w.run(30) },
		"no checkpoint":  func(w *world) { w.run(20) },
		"one checkpoint": func(w *world) { w.run(20); w.checkpoint(1e6); w.run(12) },
		"four checkpoints": func(w *world) {
			for range 4 {
				w.run(15)
				w.checkpoint(1e6)
			}
			w.run(9)
		},
		"unfinished":     func(w *world) { w.run(20); w.checkpoint(1e6); w.run(12); w.checkpoint(5) },
		"header written": func(w *world) { w.run(20); w.checkpoint(1e6); w.run(12); w.checkpoint(6) },
	} {
		w := newWorld(t, seed, name != "without blocks")
		make(w)
		w.close()
		all[name] = w
	}
	return all
}

// TestWhole: of a store that is whole nothing is lost but its sessions.
func TestWhole(t *testing.T) {
	for name, w := range worlds(t, 1) {
		t.Run(name, func(t *testing.T) {
			for _, o := range []Options{{}, {Beyond: true}} {
				r := salvaged(t, w, w.clone(t), o)
				if r == nil || !r.Consistent || r.Stable != w.stable || len(r.losses) != 1 || r.lost(Snapshot) != 1 || r.Sessions != 1 {
					t.Errorf("%+v, %v", r.Summary, r.losses)
				}
			}
		})
	}
}

// TestAnyDamage damages files of all worlds at random.
func TestAnyDamage(t *testing.T) {
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	for name, w := range worlds(t, 2) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := range rounds {
				dir := w.clone(t)
				what := ""
				for range 1 + w.rng.IntN(3) {
					what += damage(t, w, dir) + "; "
				}
				verdict(t, dir)
				for _, beyond := range []bool{false, true} {
					if salvaged(t, w, dir, Options{Beyond: beyond, BlockSize: blockSize}); t.Failed() {
						t.Fatalf("round %d, beyond=%t: %s", n, beyond, what)
					}
				}
			}
		})
	}
}

// damage does something to some file.
func damage(t testing.TB, w *world, dir string) (what string) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	must(t, err)
	files = append(files, filepath.Join(dir, "tidemark.store"))
	file := files[w.rng.IntN(len(files))]
	if _, err := os.Stat(file); err != nil {
		return "nothing"
	}
	edit(t, file, func(b []byte) []byte {
		what = "remove"
		if len(b) == 0 {
			return nil
		}
		switch at := w.rng.IntN(len(b)); w.rng.IntN(8) {
		case 0:
			return nil
		case 1:
			what = fmt.Sprintf("cut to %d bytes", at)
			return b[:at]
		case 2:
			end := min(len(b), at+w.rng.IntN(1000))
			what = fmt.Sprintf("zeros from %d to %d", at, end)
			clear(b[at:end])
			return b
		default:
			what = fmt.Sprintf("flip at %d", at)
			b[at] ^= 1 << w.rng.IntN(8)
			return b
		}
	})
	return what + " " + file
}

// TestLossOfASalvagedStore: its log has an entry, but does not hold what the
// store began with.
func TestLossOfASalvagedStore(t *testing.T) {
	w := newWorld(t, 3, true)
	w.run(20)
	w.checkpoint(1e6)
	w.close()
	to := filepath.Join(t.TempDir(), "new")
	_, err := Run(t.Context(), w.path, to, Options{})
	must(t, err)
	must(t, os.RemoveAll(filepath.Join(to, "blocks")))
	if sum, found := verdict(t, to); sum.Verdict != inspect.Damaged || len(found) != 1 || found[0].Kind != inspect.Fit {
		t.Errorf("%+v, %v", sum, found)
	}
	if _, err := Run(t.Context(), to, filepath.Join(t.TempDir(), "again"), Options{}); !errors.Is(err, ErrNothing) {
		t.Errorf("salvaged out of nothing: %v", err)
	}
}
