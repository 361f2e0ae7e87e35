package blocks

import (
	"github.com/google/btree"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks/layout"
)

// ref names a version.
type ref struct {
	block occ.BlockID
	from  occ.Timestamp
}

func (r ref) before(o ref) bool {
	return r.block < o.block || r.block == o.block && r.from < o.from
}

// place is where a version's data are.
type place struct {
	size uint32 // bytes
	slot uint32 // layout.NoSlot: nowhere on disk
}

// page holds the newest versions of pageBlocks successive blocks. Block ids
// are handed out in sequence, so pages are full, and there is no pointer in
// them for the garbage collector to follow: 16 bytes a block.
type page struct {
	from  [pageBlocks]occ.Timestamp // 0: the block has no version
	place [pageBlocks]place
}

const pageBlocks = 64

// older is a version that is not its block's newest.
type older struct {
	ref
	place
}

// index knows all versions and where they are. It has one owner.
type index struct {
	pages    map[uint64]*page
	order    *btree.BTreeG[uint64] // the numbers of all pages
	old      *btree.BTreeG[older]
	versions int
	number   uint64 // of the page that was used last, if last is not nil
	last     *page
}

const treeDegree = 32

func newIndex() index {
	return index{
		pages: make(map[uint64]*page),
		order: btree.NewOrderedG[uint64](treeDegree),
		old:   btree.NewG(treeDegree, func(a, b older) bool { return a.before(b.ref) }),
	}
}

func pageOf(b occ.BlockID) (number uint64, at int) {
	return uint64(b) / pageBlocks, int(b % pageBlocks)
}

// page returns a page, nil if there is none.
func (x *index) page(number uint64) *page {
	if x.last == nil || x.number != number {
		p := x.pages[number]
		if p == nil {
			return nil
		}
		x.number, x.last = number, p
	}
	return x.last
}

// get returns where a version is.
func (x *index) get(r ref) (place, bool) {
	number, at := pageOf(r.block)
	p := x.page(number)
	if p == nil || r.from == 0 || p.from[at] < r.from {
		return place{}, false
	}
	if p.from[at] == r.from {
		return p.place[at], true
	}
	o, ok := x.old.Get(older{ref: r})
	return o.place, ok
}

// add adds a version that is not there.
func (x *index) add(r ref, where place) {
	number, at := pageOf(r.block)
	p := x.page(number)
	if p == nil {
		p = &page{}
		x.pages[number] = p
		x.order.ReplaceOrInsert(number)
	}
	x.versions++
	if r.from < p.from[at] {
		x.old.ReplaceOrInsert(older{r, where})
		return
	}
	if p.from[at] > 0 {
		x.old.ReplaceOrInsert(older{ref{r.block, p.from[at]}, p.place[at]})
	}
	p.from[at], p.place[at] = r.from, where
}

// set changes where a version is that is there.
func (x *index) set(r ref, where place) {
	number, at := pageOf(r.block)
	if p := x.page(number); p.from[at] == r.from {
		p.place[at] = where
		return
	}
	x.old.ReplaceOrInsert(older{r, where})
}

// remove removes a version that is there.
func (x *index) remove(r ref) {
	x.versions--
	number, at := pageOf(r.block)
	p := x.page(number)
	if p.from[at] != r.from {
		x.old.Delete(older{ref: r})
		return
	}
	p.from[at], p.place[at] = 0, place{}
	var newest older
	x.old.DescendLessOrEqual(older{ref: r}, func(o older) bool {
		newest = o
		return false
	})
	if newest.from > 0 && newest.block == r.block {
		x.old.Delete(newest)
		p.from[at], p.place[at] = newest.from, newest.place
	}
	if *p == (page{}) {
		delete(x.pages, number)
		x.order.Delete(number)
		x.last = nil
	}
}

// walk is a piece of a walk over the versions up to stable, in order.
type walk struct {
	start  ref // where to go on
	budget int // how many versions to look at
	stable occ.Timestamp
	out    []layout.Version // what was found is added
	done   bool             // there are no more: start says nothing
}

// walk goes on with a walk.
func (x *index) walk(w *walk) {
	w.done = true
	number, _ := pageOf(w.start.block)
	x.order.AscendGreaterOrEqual(number, func(n uint64) bool {
		w.done = x.walkPage(n, w)
		return w.done
	})
}

// visit looks at a version. It returns false, and where to go on is at this
// version, if the budget is spent.
func (w *walk) visit(r ref, p place) bool {
	switch {
	case r.before(w.start):
		return true
	case w.budget == 0:
		w.start = r
		return false
	}
	w.budget--
	if r.from <= w.stable {
		w.out = append(w.out, layout.Version{Block: r.block, From: r.from, Size: p.size, Slot: p.slot})
	}
	return true
}

// walkPage goes through a page and the older versions of its blocks, and
// returns false if the budget was spent before the end.
func (x *index) walkPage(number uint64, w *walk) bool {
	p, first := x.pages[number], occ.BlockID(number*pageBlocks)
	at, going := 0, true
	newest := func(until int) {
		for ; going && at < until; at++ {
			if f := p.from[at]; f > 0 {
				going = w.visit(ref{first + occ.BlockID(at), f}, p.place[at])
			}
		}
	}
	begin := ref{block: first}
	if begin.before(w.start) {
		begin = w.start
	}
	x.old.AscendGreaterOrEqual(older{ref: begin}, func(o older) bool {
		if o.block-first >= pageBlocks {
			return false
		}
		if newest(int(o.block - first)); going {
			going = w.visit(o.ref, o.place)
		}
		return going
	})
	newest(pageBlocks)
	return going
}
