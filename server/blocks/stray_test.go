package blocks

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/disk"
)

// wasteful is a store with versions in all slots of its file, of which every
// eighth is to stay, and the slots at the end, the last one first.
func wasteful(t *testing.T, seed uint64, d disk.Disk) (w *world, ends []int64) {
	w = newWorld(seed, tiny)
	must(t, w.open(d))
	for range 60 {
		w.put()
	}
	must(t, w.begin())
	must(t, w.finish())
	return w, w.ends()
}

// ends are where slots are in use, the last one first.
func (w *world) ends() []int64 {
	ends := slices.Sorted(maps.Keys(w.slotsOf()))
	slices.Reverse(ends)
	return ends
}

// thin drops what need not stay, and makes checkpoints.
func (w *world) thin(t *testing.T, stay []ref, checkpoints int) {
	for i, r := range slices.SortedFunc(maps.Keys(w.live), compare) {
		if i%8 > 0 && !slices.Contains(stay, r) {
			delete(w.live, r)
			w.s.Drop(r.block, r.from)
		}
	}
	for range checkpoints {
		must(t, w.begin())
		must(t, w.finish())
	}
}

// TestDamageIsMoved: versions at the end of the file are damaged in every way.
// They stay damaged, with all that is left of them, but not at their places:
// the file gets as short as if they were whole.
func TestDamageIsMoved(t *testing.T) {
	w, ends := wasteful(t, 26, disk.NewMemory())
	size := w.s.owner.SlotSize()
	raw := func(at int64) []byte {
		b := make([]byte, size)
		_, err := w.s.blocks.file.ReadAt(b, at)
		must(t, err)
		return b
	}
	damage := map[int]func([]byte){
		0: func(b []byte) { b[layout.SlotHeader]++ },                      // the data
		1: func(b []byte) { b[8]++ },                                      // whose it is
		2: func(b []byte) { clear(b) },                                    // all
		3: func(b []byte) { copy(b, raw(ends[9])) },                       // another version came here
		4: func(b []byte) { layout.EncodeDamaged(b, 7, 7) },               // on purpose
		5: func(b []byte) { copy(b, bytes.Repeat([]byte{0xff}, len(b))) }, // all, too
	}
	places, spoilt, left := w.slotsOf(), []ref(nil), map[ref][]byte{}
	for i := range len(damage) {
		b := raw(ends[i])
		damage[i](b)
		_, err := w.s.blocks.file.WriteAt(b, ends[i])
		must(t, err)
		spoilt = append(spoilt, places[ends[i]])
		left[places[ends[i]]] = b
	}
	w.thin(t, append(slices.Clone(spoilt), places[ends[9]]), 4)
	w.s.mu.memory.init(1)
	for _, r := range spoilt {
		where, _ := w.s.mu.index.get(r)
		var corrupt *CorruptError
		if _, err := w.s.Read(r.block, r.from); !errors.As(err, &corrupt) || corrupt.Block != r.block || corrupt.From != r.from {
			t.Errorf("version %v reads with %v", r, err)
		}
		if at := w.s.owner.SlotOffset(where.slot); slices.Contains(ends[:len(damage)], at) || !bytes.Equal(raw(at), left[r]) {
			t.Errorf("version %v is at %d, with %x", r, at, raw(at)[:layout.SlotHeader])
		}
		delete(w.live, r)
	}
	must(t, w.verify())
	if st := w.s.Stats(); 4*st.Slots > 7*st.LiveSlots+4 || st.LiveSlots < len(damage) {
		t.Errorf("%+v", st)
	}
	must(t, w.s.Close())
	var found []ref
	c, err := checkDisk(w.disk, w.opts)
	must(t, err)
	for _, damage := range c.damaged {
		found = append(found, ref{damage.Block, damage.From})
	}
	slices.SortFunc(spoilt, compare)
	if !slices.Equal(found, spoilt) {
		t.Errorf("found %v, want %v", found, spoilt)
	}
}

// TestUnreadableStays: a slot that the disk does not return keeps its place, and
// moves when the disk returns it.
func TestUnreadableStays(t *testing.T) {
	f := disk.NewFaulty(disk.NewMemory())
	w, ends := wasteful(t, 27, f)
	last := w.slotsOf()[ends[0]]
	w.thin(t, []ref{last}, 1) // makes slots free
	f.Inject(disk.Fault{Op: disk.OpRead, Nth: f.Count(disk.OpRead) + 1})
	for _, stays := range []bool{true, false} {
		must(t, w.begin())
		must(t, w.finish())
		where, _ := w.s.mu.index.get(last)
		if at := w.s.owner.SlotOffset(where.slot); stays != (at == ends[0]) || w.s.Stats().Moved == 0 {
			t.Errorf("%d were moved, and what was at %d is at %d", w.s.Stats().Moved, ends[0], at)
		}
	}
	w.s.mu.memory.init(1)
	must(t, w.verify())
}

// TestStrayOfNobody: a version that was dropped while it was looked for needs no
// new place.
func TestStrayOfNobody(t *testing.T) {
	w, ends := wasteful(t, 28, disk.NewMemory())
	free := w.s.Stats().FreeSlots
	w.s.mu.Lock()
	to, _ := w.s.mu.space.take()
	nobodys, _ := w.s.mu.space.take()
	w.s.mu.Unlock()
	var y strays
	y.add(move{from: nobodys, to: to})
	steps := 0
	for done := false; !done; steps++ {
		var err error
		done, err = y.step(w.s)
		must(t, err)
	}
	if got := w.s.Stats().FreeSlots; got != max(free-2, 0)+1 || !slices.Equal(w.ends(), ends) {
		t.Errorf("%d slots are free after %d steps, %d were before", got, steps, free)
	}
}
