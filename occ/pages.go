package occ

import "github.com/google/btree"

// pageBlocks is how many neighbouring blocks share a page. Ids are leased in
// sequence, so pages fill up; an id on its own costs a whole one, which
// Versions.Bytes counts.
const pageBlocks = 64

// PageBytes is what a page costs in memory, its place in the
// map and in the order included.
const PageBytes = pageBlocks*12 + 56

// page says which version of each of its blocks is current, and what it
// weighs. It has no pointers, so the garbage collector does not look into it.
type page struct {
	from   [pageBlocks]Timestamp // 0 for a block that was never written
	weight [pageBlocks]uint32
}

// pages are the current versions of all blocks.
type pages struct {
	byNumber map[BlockID]*page      // by block / pageBlocks
	order    *btree.BTreeG[BlockID] // its keys
	blocks   int                    // that were ever written
}

func newPages() pages {
	return pages{byNumber: make(map[BlockID]*page), order: btree.NewOrderedG[BlockID](32)}
}

// current returns the start and the weight of b's current version.
func (p *pages) current(b BlockID) (from Timestamp, weight uint32) {
	if pg := p.byNumber[b/pageBlocks]; pg != nil {
		return pg.from[b%pageBlocks], pg.weight[b%pageBlocks]
	}
	return 0, 0
}

// reserve makes the page of b, if there is none.
func (p *pages) reserve(b BlockID) *page {
	pg := p.byNumber[b/pageBlocks]
	if pg == nil {
		pg = new(page)
		p.byNumber[b/pageBlocks] = pg
		p.order.ReplaceOrInsert(b / pageBlocks)
	}
	return pg
}

// set makes a version the current one.
func (p *pages) set(b BlockID, from Timestamp, weight uint32) {
	pg := p.reserve(b)
	i := b % pageBlocks
	if pg.from[i] == 0 {
		p.blocks++
	}
	pg.from[i], pg.weight[i] = from, weight
}

// missing is how many pages the writes would make, or somewhat more if they
// are not in the order of their blocks.
func (p *pages) missing(writes []Write) (n int) {
	last, any := BlockID(0), false
	for i := range writes {
		number := writes[i].Block / pageBlocks
		if any && number == last {
			continue
		}
		if last, any = number, true; p.byNumber[number] == nil {
			n++
		}
	}
	return n
}
