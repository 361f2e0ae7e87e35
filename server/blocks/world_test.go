package blocks

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/disk"
)

var testStore = occ.StoreID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}

// tiny makes everything happen often.
var tiny = Options{Store: testStore, BlockSize: 100, CacheBytes: 900, DirtyBytes: 1500, StepBytes: 400}

// snapshot is what a checkpoint must hold.
type snapshot struct {
	moment   Moment
	state    []byte
	versions map[ref][]byte
}

// world is a store, its dumb twin, and the random load that both get. The
// same seed gives the same load.
type world struct {
	rng    *rand.Rand
	opts   Options
	blocks int // ids below it are used
	disk   disk.Disk
	s      *Store

	live    map[ref][]byte
	clock   occ.Timestamp
	log     uint64
	known   map[uint64]snapshot // those begun, by log index
	durable uint64              // log index of the newest that was reported durable
	moved   uint64              // figures of the Stores so far
	cuts    int
	most    uint32 // slots at the last look
}

func newWorld(seed uint64, o Options) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 1)), opts: o, blocks: 150, live: make(map[ref][]byte)}
	w.known = map[uint64]snapshot{0: {versions: map[ref][]byte{}}}
	return w
}

func (w *world) open(d disk.Disk) (err error) {
	w.disk = d
	var loaded *Loaded
	if w.s, loaded, err = Open(d, w.opts); err != nil {
		return err
	}
	return w.match(loaded)
}

// match compares what was opened with the checkpoints that there can be, and
// goes on from there.
func (w *world) match(loaded *Loaded) error {
	at := uint64(0)
	if loaded != nil {
		at = loaded.LogIndex
	}
	want, ok := w.known[at]
	if !ok || at < w.durable {
		return fmt.Errorf("opened with log index %d, after %d was durable", at, w.durable)
	}
	w.durable = at
	w.live, w.clock = maps.Clone(want.versions), want.moment.Stable
	var seen []ref
	if loaded != nil {
		if loaded.Stable != want.moment.Stable || !bytes.Equal(loaded.State, want.state) {
			return fmt.Errorf("opened with stable %d and state %q, want %d and %q", loaded.Stable, loaded.State, want.moment.Stable, want.state)
		}
		err := loaded.Versions(func(b occ.BlockID, from occ.Timestamp, size int) error {
			seen = append(seen, ref{b, from})
			if len(want.versions[ref{b, from}]) != size {
				return fmt.Errorf("version (%d, %d) has %d bytes, want %d", b, from, size, len(want.versions[ref{b, from}]))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if wanted := slices.SortedFunc(maps.Keys(want.versions), compare); !slices.Equal(seen, wanted) {
		return fmt.Errorf("opened with versions %v, want %v", seen, wanted)
	}
	return w.verify()
}

func compare(a, b ref) int {
	switch {
	case a == b:
		return 0
	case a.before(b):
		return -1
	}
	return 1
}

// verify compares all versions with the twin's.
func (w *world) verify() error {
	for _, r := range slices.SortedFunc(maps.Keys(w.live), compare) {
		if err := w.verifyOne(r); err != nil {
			return err
		}
	}
	if n := w.s.Stats().Versions; n < len(w.live) { // some are dropped later
		return fmt.Errorf("%d versions, want %d", n, len(w.live))
	}
	if err := w.consistent(); err != nil {
		return fmt.Errorf("%w: %w", errInBooks, err)
	}
	return nil
}

// errInBooks says that slots are lost track of, which after a failed write is
// no wonder.
var errInBooks = errors.New("the books do not balance")

func (w *world) verifyOne(r ref) error {
	got, ok := w.s.Get(r.block, r.from)
	if !ok {
		var err error
		if got, err = w.s.Read(r.block, r.from); err != nil {
			return fmt.Errorf("read of %v: %w", r, err)
		}
	}
	if !bytes.Equal(got, w.live[r]) {
		return fmt.Errorf("version %v is %x, want %x", r, got, w.live[r])
	}
	return nil
}

// consistent checks the Store's own books: every slot is in one state.
func (w *world) consistent() error {
	state := make(map[uint32]string)
	note := func(slot uint32, what string) error {
		if state[slot] != "" || slot >= w.s.mu.space.total {
			return fmt.Errorf("slot %d of %d is %s and %s", slot, w.s.mu.space.total, state[slot], what)
		}
		state[slot] = what
		return nil
	}
	var errs []error
	err := w.s.all(func(v layout.Version) error {
		if v.Slot == layout.NoSlot {
			return nil
		}
		if !w.s.mu.space.isLive(v.Slot) {
			errs = append(errs, fmt.Errorf("slot %d of a version is not live", v.Slot))
		}
		return note(v.Slot, "live")
	})
	errs = append(errs, err)
	if len(state) != w.s.mu.space.live {
		errs = append(errs, fmt.Errorf("%d live slots, counted as %d", len(state), w.s.mu.space.live))
	}
	spare, end := 0, uint32(0)
	w.s.mu.space.free.Ascend(func(e extent) bool {
		if spare > 0 && e.first <= end {
			errs = append(errs, fmt.Errorf("free extents touch at %d", e.first))
		}
		for i := range e.count {
			errs = append(errs, note(e.first+i, "free"))
		}
		spare, end = spare+int(e.count), e.first+e.count
		return true
	})
	if spare != w.s.mu.space.spare {
		errs = append(errs, fmt.Errorf("%d free slots, counted as %d", spare, w.s.mu.space.spare))
	}
	for _, slot := range slices.Concat(w.s.mu.space.soon, w.s.mu.space.later) {
		errs = append(errs, note(slot, "waiting"))
	}
	if len(state) != int(w.s.mu.space.total) {
		errs = append(errs, fmt.Errorf("%d slots in %d states", w.s.mu.space.total, len(state)))
	}
	return errors.Join(errs...)
}

func (w *world) put() {
	w.clock++
	w.log += uint64(1 + w.rng.IntN(2))
	b := occ.BlockID(w.rng.IntN(w.blocks))
	data := make([]byte, w.rng.IntN(w.opts.BlockSize+1))
	for i := range data {
		data[i] = byte(w.rng.Uint32())
	}
	w.live[ref{b, w.clock}] = data
	w.s.Put(b, w.clock, data)
}

// drop drops a third of the versions that are not their block's newest, and of
// all versions so many in a hundred.
func (w *world) drop(percent int) {
	all := slices.SortedFunc(maps.Keys(w.live), compare)
	for i, r := range all {
		old := i+1 < len(all) && all[i+1].block == r.block
		if old && w.rng.IntN(3) == 0 || w.rng.IntN(100) < percent {
			delete(w.live, r)
			w.s.Drop(r.block, r.from)
		}
	}
}

// begin begins a checkpoint, if none is under way.
func (w *world) begin() error {
	state := make([]byte, w.rng.IntN(300))
	for i := range state {
		state[i] = byte(w.rng.Uint32())
	}
	w.log++
	snap := snapshot{Moment{w.log, w.clock}, state, maps.Clone(w.live)}
	err := w.s.Begin(snap.moment, iotest.OneByteReader(bytes.NewReader(state)))
	if err == nil {
		w.known[snap.moment.LogIndex] = snap
	} else if errors.Is(err, ErrBusy) {
		err = nil
	}
	return err
}

func (w *world) step() (done bool, err error) {
	done, err = w.s.Step()
	w.durable = max(w.durable, w.s.Durable().LogIndex)
	st := w.s.Stats()
	w.moved = max(w.moved, st.Moved)
	if uint32(st.Slots) < w.most {
		w.cuts++
	}
	w.most = uint32(st.Slots)
	return done, err
}

func (w *world) finish() error {
	for {
		if done, err := w.step(); done || err != nil {
			return err
		}
	}
}

// round is some load, checkpoints that go on through several rounds, and at
// times less data.
func (w *world) round(i int) error {
	for range 5 {
		w.put()
	}
	if w.drop(0); i%7 == 6 {
		w.drop(85)
		for range 2 {
			if err := errors.Join(w.finish(), w.begin(), w.finish()); err != nil {
				return err
			}
		}
	}
	if _, err := w.s.WriteBack(); err != nil {
		return err
	}
	if err := w.begin(); err != nil {
		return err
	}
	for range w.rng.IntN(12) {
		if _, err := w.step(); err != nil {
			return err
		}
		if w.rng.IntN(3) == 0 {
			w.put()
		}
		if w.rng.IntN(4) == 0 {
			w.drop(3)
		}
	}
	return nil
}

// run opens the store and gives it load; in the middle it is closed and opened
// again.
func (w *world) run(d disk.Disk, rounds int) error {
	if err := w.open(d); err != nil {
		return err
	}
	for i := range rounds {
		if err := w.round(i); err != nil {
			return err
		}
		if i != rounds/2 {
			continue
		}
		if err := w.finish(); err != nil {
			return err
		}
		if err := w.s.Close(); err != nil {
			return err
		}
		if err := w.open(d); err != nil {
			return err
		}
	}
	if err := w.finish(); err != nil {
		return err
	}
	return w.verify()
}

// goOn shows that the store on a disk works: it opens with an expected
// checkpoint, nothing of which is damaged, takes more load, makes a checkpoint
// and opens with that.
func (w *world) goOn(d disk.Disk) error {
	if err := w.open(d); err != nil {
		return err
	}
	for i := range 2 {
		if err := w.round(i); err != nil {
			return err
		}
	}
	for range 2 { // the one under way, and one more
		if err := w.finish(); err != nil {
			return err
		}
		if err := w.begin(); err != nil {
			return err
		}
	}
	if err := w.finish(); err != nil {
		return err
	}
	if w.durable != w.log {
		return fmt.Errorf("the checkpoint at %d is not durable, that at %d is", w.log, w.durable)
	}
	if err := w.s.Close(); err != nil {
		return err
	}
	c, err := checkDisk(d, w.opts)
	if err == nil && len(c.damaged) > 0 {
		err = c.damaged[0]
	}
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	if c.header.LogIndex != w.log || c.versions != len(w.live) || !bytes.Equal(c.state, w.known[w.log].state) {
		return fmt.Errorf("checked %d versions at %d with state %x, want %d at %d", c.versions, c.header.LogIndex, c.state, len(w.live), w.log)
	}
	if err := w.open(d); err != nil {
		return err
	}
	if size, err := w.s.blocks.file.Size(); err != nil || size != w.s.Stats().BlockBytes {
		return fmt.Errorf("the block file has %d bytes, want %d (%v)", size, w.s.Stats().BlockBytes, err)
	}
	return nil
}

// fork is a copy of the world in which things go on differently.
func (w *world) fork(seed uint64) *world {
	f := *w
	f.rng = rand.New(rand.NewPCG(seed, 2))
	f.known = maps.Clone(w.known)
	f.log += 1000 // other log indices than any in w
	return &f
}

func keepAll(disk.Unsynced) bool  { return true }
func keepNone(disk.Unsynced) bool { return false }

// keepSome keeps each part with odds of one half.
func keepSome(seed uint64) func(disk.Unsynced) bool {
	rng := rand.New(rand.NewPCG(seed, 3))
	return func(disk.Unsynced) bool { return rng.IntN(2) == 0 }
}

// keepWhole keeps or loses whole changes.
func keepWhole(seed uint64) func(disk.Unsynced) bool {
	return func(u disk.Unsynced) bool {
		return rand.New(rand.NewPCG(seed, uint64(u.Change))).IntN(2) == 0
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
