package core

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// TestHoldersTwin compares holder sets with a map of maps.
func TestHoldersTwin(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		h := holders{sets: make(map[occ.BlockID]slotSet)}
		twin := make(map[occ.BlockID]map[int]bool)
		for range 2000 {
			b, slot := occ.BlockID(rng.IntN(5)), rng.IntN(200)
			set := twin[b]
			if set == nil {
				set = make(map[int]bool)
				twin[b] = set
			}
			switch rng.IntN(4) {
			case 0, 1:
				if got := h.add(b, slot); got == set[slot] {
					t.Fatalf("seed %d: add(%d, %d) = %v", seed, b, slot, got)
				}
				set[slot] = true
			case 2:
				if got := h.remove(b, slot); got != set[slot] {
					t.Fatalf("seed %d: remove(%d, %d) = %v", seed, b, slot, got)
				}
				delete(set, slot)
			default:
				if rng.IntN(20) > 0 {
					continue
				}
				keep := rng.IntN(201) - 1
				got := slices.Collect(h.replace(b, keep).slots())
				var want []int
				for s := range set {
					want = append(want, s)
				}
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Fatalf("seed %d: replace(%d) was %v, want %v", seed, b, got, want)
				}
				clear(set)
				if keep >= 0 {
					set[keep] = true
				}
			}
			if _, kept := h.sets[b]; kept != (len(set) > 0) {
				t.Fatalf("seed %d: block %d takes memory: %v, members %d", seed, b, kept, len(set))
			}
		}
	}
}

// TestSlotReuse: a slot is given to another connection only after all its
// bits are cleared, so the newcomer holds nothing.
func TestSlotReuse(t *testing.T) {
	w := newWorld(Config{})
	for id := ConnID(1); id <= 100; id++ {
		w.open(id)
	}
	w.receive(70, latest(2, 5))
	slot := w.core.conns[70].slot
	w.core.Disconnect(70)
	w.open(101)
	if got := w.core.conns[101].slot; got != slot {
		t.Fatalf("slot %d, want %d", got, slot)
	}
	w.receive(1, newCommit(2, 1, nil, []occ.Write{{Block: 5, Data: numbered(1)}}))
	w.settle() // the stream of 101 objects to an item for what it does not hold
	if len(w.problems) > 0 {
		t.Fatal(w.problems)
	}
}

// TestRegistrationsStayBounded: reading and losing one block again and again
// does not make the list of registrations grow.
func TestRegistrationsStayBounded(t *testing.T) {
	w := newWorld(Config{})
	w.open(1)
	w.open(2)
	w.receive(1, latest(2, 7, 8, 9))
	for i := range uint64(1000) {
		w.receive(1, latest(3+i, 5))
		w.receive(2, newCommit(2+i, 1+i, nil, []occ.Write{{Block: 5, Data: numbered(i)}}))
		w.settle()
		list := w.core.conns[1].regs.list
		if a, b := slices.Index(list, 7), slices.Index(list, 9); a < 0 || b < a {
			t.Fatalf("registrations %v, want the oldest first", list)
		}
	}
	if len(w.problems) > 0 {
		t.Fatal(w.problems)
	}
	r := w.core.conns[1].regs
	if r.held != 3 || len(r.list) > 2*r.held+compactSlack+1 {
		t.Fatalf("%d blocks held, list of %d", r.held, len(r.list))
	}
	w.core.Disconnect(1)
	if len(w.core.holders.sets) != 1 {
		t.Fatalf("%d holder sets after the reader left, want the writer's", len(w.core.holders.sets))
	}
}

// open connects with a new session.
func (w *world) open(id ConnID) {
	w.connect(id)
	w.receive(id, &wire.Hello{Req: 1, Version: wire.Version})
	w.settle()
}

func latest(req uint64, blocks ...occ.BlockID) *wire.Read {
	m := &wire.Read{Req: req}
	for _, b := range blocks {
		m.Items = append(m.Items, wire.ReadItem{Block: b, At: occ.Latest, Have: wire.Absent})
	}
	return m
}
