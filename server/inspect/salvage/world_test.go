package salvage

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/core"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/storedir"
	"github.com/tidemark/tidemark/server/wal"
)

const (
	blockSize  = 64
	blockCount = 24
)

var session = occ.SessionID{7}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// version is a version that a block had.
type version struct {
	from occ.Timestamp
	data string // without zeros at its end
}

// world writes a data directory as a server does, and remembers all that a
// block ever was.
type world struct {
	t      testing.TB
	rng    *rand.Rand
	path   string
	dir    *storedir.Dir
	log    *wal.Disk
	core   *core.Core
	disk   disk.Disk     // of the blocks; nil: a directory of an older version
	store  *blocks.Store // on it
	steps  int           // how many bytes a step of it writes; 0 is the usual number
	had    map[occ.BlockID][]version
	stable occ.Timestamp
	index  uint64 // of the log
}

// newWorld begins a store. Its groups have a transaction or two each, its
// segments a few groups.
func newWorld(t testing.TB, seed uint64, withBlocks bool) *world {
	t.Helper()
	w := emptyWorld(t, seed)
	if withBlocks {
		path := filepath.Join(w.path, "blocks")
		must(t, os.Mkdir(path, 0o700))
		w.disk = disk.OS(path)
	}
	w.begin()
	return w
}

// emptyWorld has nothing but a store file.
func emptyWorld(t testing.TB, seed uint64) *world {
	t.Helper()
	w := &world{t: t, rng: rand.New(rand.NewPCG(seed, 1)), path: filepath.Join(t.TempDir(), "data"), had: make(map[occ.BlockID][]version)}
	var err error
	w.dir, err = storedir.Open(w.path, storedir.Options{BlockSize: blockSize})
	must(t, err)
	return w
}

// begin makes everything but the store file.
func (w *world) begin() {
	w.t.Helper()
	epoch := w.start()
	w.append(&record.Epoch{Epoch: epoch}, &record.Session{ID: session}, &record.Lease{Session: session, First: 1, Count: blockCount})
	w.append(&record.Pin{Name: "night", At: 0})
}

// start opens everything, in the order in which a server does, and returns the
// epoch.
func (w *world) start() (epoch uint64) {
	w.t.Helper()
	var loaded *blocks.Loaded
	var err error
	if w.disk != nil {
		w.store, loaded, err = blocks.Open(w.disk, blocks.Options{Store: w.dir.StoreID(), BlockSize: blockSize, DirtyBytes: 1, StepBytes: w.steps})
		must(w.t, err)
	}
	w.log, _, err = wal.Open(w.dir.LogDir(), w.dir.StoreID(), wal.Options{SegmentBytes: 600})
	must(w.t, err)
	epoch, err = w.dir.NextEpoch()
	must(w.t, err)
	_, err = w.log.Fence(epoch)
	must(w.t, err)
	w.core = core.New(core.Config{Store: w.dir.StoreID(), Epoch: epoch, BlockSize: blockSize, NewSession: func() occ.SessionID { return session }})
	from := uint64(1)
	if loaded != nil {
		must(w.t, w.core.Restore(loaded.State, loaded.Versions))
		w.keep()
		from = loaded.LogIndex + 1
	}
	must(w.t, w.log.Read(from, func(_ uint64, payload []byte) error {
		group, err := record.Decode(payload)
		must(w.t, err)
		must(w.t, w.core.Recover(group.Records))
		w.keep()
		return nil
	}))
	return epoch
}

// append makes a group durable and applies it.
func (w *world) append(records ...record.Record) {
	w.t.Helper()
	index, err := w.log.Append(record.Append(nil, record.Group{Records: records}))
	must(w.t, err)
	w.index = index
	must(w.t, w.core.Recover(records))
	w.keep()
}

// keep carries out what a step of the core said about values.
func (w *world) keep() {
	w.t.Helper()
	for _, e := range w.core.Take() {
		if w.store == nil {
			continue
		}
		switch e := e.(type) {
		case core.Put:
			w.store.Put(e.Block, e.From, e.Value(func(r core.Ref) []byte {
				data, err := w.store.Read(r.Block, r.From)
				must(w.t, err)
				return data
			}))
		case core.Drop:
			w.store.Drop(e.Block, e.From)
		}
	}
}

func (w *world) random(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(1 + w.rng.IntN(255))
	}
	return b
}

// current is the newest version of a block.
func (w *world) current(b occ.BlockID) version { return w.at(b, occ.Open) }

// at is the version of a block at a timestamp.
func (w *world) at(b occ.BlockID, at occ.Timestamp) (v version) {
	for _, one := range w.had[b] {
		if one.from <= at {
			v = one
		}
	}
	return v
}

// commit makes a transaction that writes whole blocks, ranges and zeros.
func (w *world) commit() *record.Commit {
	w.stable++
	c := &record.Commit{At: w.stable, Session: session, Seq: uint64(w.stable), Acked: uint64(w.stable) - 1}
	for range 1 + w.rng.IntN(3) {
		b := occ.BlockID(1 + w.rng.IntN(blockCount))
		if slices.ContainsFunc(c.Writes, func(o occ.Write) bool { return o.Block == b }) {
			continue
		}
		write := occ.Write{Block: b}
		var data []byte
		switch w.rng.IntN(5) {
		case 0: // zeros
		case 1, 2:
			write.Ranges = []occ.Range{{Off: w.rng.Uint32N(blockSize - 8), Data: w.random(1 + w.rng.IntN(8))}}
			data = occ.Patch([]byte(w.current(b).data), write.Ranges)
		default:
			write.Data = w.random(1 + w.rng.IntN(blockSize))
			data = write.Data
		}
		c.Writes = append(c.Writes, write)
		w.had[b] = append(w.had[b], version{c.At, string(data)})
	}
	return c
}

// run makes n groups of transactions; what is older than a few is forgotten.
func (w *world) run(n int) {
	w.t.Helper()
	for range n {
		group := []record.Record{w.commit()}
		if w.rng.IntN(3) == 0 {
			group = append(group, w.commit())
		}
		if w.stable > 6 && w.rng.IntN(4) == 0 {
			group = append(group, &record.Horizon{At: w.stable - 5})
		}
		w.append(group...)
		if w.store != nil && w.rng.IntN(6) == 0 {
			_, err := w.store.WriteBack()
			must(w.t, err)
		}
	}
}

// checkpoint makes one, and trims the log; steps bounds how far it comes.
func (w *world) checkpoint(steps int) { w.checkpointWhile(steps, func() {}) }

// checkpointWhile does something else behind each step.
func (w *world) checkpointWhile(steps int, meanwhile func()) {
	w.t.Helper()
	w.core.BeginState()
	var state []byte
	for complete := false; !complete; {
		state, complete = w.core.NextState(state)
	}
	index := w.index
	must(w.t, w.store.Begin(blocks.Moment{LogIndex: index, Stable: w.stable}, bytes.NewReader(state)))
	for range steps {
		done, err := w.store.Step()
		must(w.t, err)
		if done {
			must(w.t, w.log.Trim(index))
			return
		}
		meanwhile()
	}
}

func (w *world) close() {
	w.t.Helper()
	must(w.t, w.log.Close())
	if w.store != nil {
		must(w.t, w.store.Close())
	}
	must(w.t, w.dir.Close())
}

// clone copies the directory.
func (w *world) clone(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data")
	must(t, os.CopyFS(path, os.DirFS(w.path)))
	return path
}

// tree is every file below a directory.
func tree(t testing.TB, root string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	must(t, fs.WalkDir(os.DirFS(root), ".", func(name string, e fs.DirEntry, err error) error {
		must(t, err)
		info, err := e.Info()
		must(t, err)
		var b []byte
		if !e.IsDir() {
			b, err = os.ReadFile(filepath.Join(root, name))
		}
		files[name] = info.Mode().String() + info.ModTime().String() + string(b)
		return err
	}))
	return files
}

// edit changes a file; a change to nil removes it.
func edit(t testing.TB, path string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	if b = change(bytes.Clone(b)); b == nil {
		must(t, os.Remove(path))
		return
	}
	must(t, os.WriteFile(path, b, 0o600))
}
