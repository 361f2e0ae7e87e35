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
			if got := h.has(b, slot); got != set[slot] {
				t.Fatalf("seed %d: has(%d, %d) = %v", seed, b, slot, got)
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

// TestManyRegistrationsEnd: those of a connection that is gone end in steps of
// bounded size. Until the last, nobody else gets its slot: a newcomer would be
// told of blocks that it does not hold, and later lose some that it does.
func TestManyRegistrationsEnd(t *testing.T) {
	const many = 20 * maxLeave
	w := newWorld(Config{})
	w.open(1)
	w.open(2)
	for first := occ.BlockID(0); first < many; first += 256 {
		read := latest(2 + uint64(first))
		for b := range occ.BlockID(256) {
			read.Items = append(read.Items, latest(0, first+b).Items...)
		}
		w.receive(2, read)
	}
	slot, left := w.core.conns[2].slot, w.core.counts.holders
	if left != many {
		t.Fatalf("%d registrations", left)
	}
	step := func(what string) {
		t.Helper()
		now := w.core.counts.holders
		if left-now > maxLeave {
			t.Fatalf("%s: of %d registrations %d are left", what, left, now)
		}
		left = now
	}
	w.core.Disconnect(2)
	w.trace = func(e Effect) {
		if send, ok := e.(Send); ok && send.Conn == 2 {
			t.Errorf("the one that is gone is sent %+v", send.Message)
		}
	}
	step("disconnect")
	w.open(3)
	told := make(map[occ.BlockID]int)
	w.onMessage = func(id ConnID, m wire.Message) {
		if items, ok := m.(*wire.Items); ok && id == 3 {
			for _, it := range items.Items {
				if it.Kind == wire.ItemDeprecated {
					told[it.Block]++
				}
			}
		}
	}
	// Near the end, these are held by the one that is gone.
	const both, gone, kept = many - 1, many - 2, many - 3
	w.receive(3, latest(2, both, kept))
	w.receive(1, newCommit(2, 1, nil, []occ.Write{{Block: both, Data: numbered(1)}, {Block: gone, Data: numbered(1)}}))
	w.settle()
	if told[both] != 1 || told[gone] != 0 || w.core.conns[3].slot == slot || w.core.slots[slot] == nil {
		t.Fatalf("told %v, in slot %d, not %d", told, w.core.conns[3].slot, slot)
	}
	left = w.core.counts.holders
	for more := true; more; step("sweep") {
		more = w.core.Sweep()
	}
	if left != 3 || len(w.core.holders.sets) != 3 { // by 1 what it wrote, by 3 kept
		t.Fatalf("%d registrations of %d blocks in the end", left, len(w.core.holders.sets))
	}
	w.receive(1, newCommit(3, 2, nil, []occ.Write{{Block: kept, Data: numbered(2)}}))
	w.settle()
	if told[kept] != 1 {
		t.Errorf("told %v", told)
	}
	w.open(4)
	if got := w.core.conns[4].slot; got != slot {
		t.Errorf("the next one gets slot %d, not %d", got, slot)
	}
	if len(w.problems) > 0 {
		t.Error(w.problems)
	}
}

// TestLeavingKeepsUp: registering ends more of what is left than it adds, even
// if nobody sweeps.
func TestLeavingKeepsUp(t *testing.T) {
	c := New(Config{})
	const many = 4 * maxLeave
	for id := range ConnID(10) {
		c.Connect(id)
		for b := range occ.BlockID(many) {
			c.register(c.conns[id], b)
		}
		c.Disconnect(id)
		if len(c.leaving) > 1 || c.counts.holders > many || len(c.slots) > 2 {
			t.Fatalf("after %d connections: %d are leaving, with %d registrations in %d slots", id+1, len(c.leaving), c.counts.holders, len(c.slots))
		}
	}
}

// mostRegistrations is how long the list is at most of a connection that holds
// so many blocks at most: it may grow by a quarter while it is compacted.
func mostRegistrations(held int) int {
	return (2*held+compactSlack)*(compactStep+1)/compactStep + 2
}

// TestCompact: whatever comes and goes, every block that is held stands in the
// list, which stays short, and those that the connection may not hold go
// in the order in which they came, if they came once.
func TestCompact(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 3))
		cfg := Config{}
		cfg.Limits.Holds = 100
		c := New(cfg)
		c.Connect(1)
		cn := c.conns[1]
		compacted, once := 0, occ.BlockID(1000)
		var want, got []occ.BlockID
		for n := range 20_000 {
			b := occ.BlockID(rng.IntN(20)) // comes and goes
			compacting := cn.regs.seen != nil
			switch {
			case n%10 == 0 && seed%2 == 0: // and this one stays
				once++
				want = append(want, once)
				c.register(cn, once)
			case n%10 == 1: // this one does not
				c.register(cn, occ.BlockID(1_000_000+n))
				c.holders.remove(occ.BlockID(1_000_000+n), cn.slot)
				c.unregistered(cn)
			case c.holders.remove(b, cn.slot):
				c.unregistered(cn)
			default:
				c.register(cn, b)
			}
			if compacting && cn.regs.seen == nil {
				compacted++
			}
			for _, it := range c.dropExcess(cn) {
				if it.Block > 1000 && it.Block < 1_000_000 {
					got = append(got, it.Block)
				}
			}
			if most := mostRegistrations(101); len(cn.regs.list) > most {
				t.Fatalf("seed %d: list of %d, may have %d", seed, len(cn.regs.list), most)
			}
			if n%100 > 0 {
				continue
			}
			for b := range c.holders.sets {
				if !slices.Contains(cn.regs.list, b) {
					t.Fatalf("seed %d: block %d is held, but not in the list", seed, b)
				}
			}
		}
		if compacted < 10 || len(got) < 1000 && seed%2 == 0 || !slices.Equal(got, want[:len(got)]) {
			t.Fatalf("seed %d: compacted %d times, %d of %d dropped", seed, compacted, len(got), len(want))
		}
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
	if r.held != 3 || len(r.list) > mostRegistrations(r.held) {
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
