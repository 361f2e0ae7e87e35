package gen

// kind is what a transaction does.
type kind uint8

const (
	getAttr   kind = iota // a lone Attr READ
	readDir               // a lone Dir READ
	readOpen              // Open, Block READs or none, Close
	setAttr               // a lone Attr WRITE
	writeDir              // a lone Dir WRITE
	remove                // a lone Delete
	writeOpen             // Open, Block WRITEs and perhaps a READ, Close
)

// card is one transaction of a deck.
type card struct {
	kind   kind
	blocks int // Block operations
}

// deal returns the transactions of a slice in random order. Their numbers are
// exact: p.transactions of them, of which p.writes are read/write, with
// p.transactions+p.more operations. Shares of kinds come as near to those of
// shape.go as that allows.
func deal(r random, p slice) []card {
	// part is the number of those of a kind in this slice, so that the sums
	// over slices have the share too.
	part := func(before, n int64, share odds) int64 {
		return portion(before+n, int64(share), int64(certain)) - portion(before, int64(share), int64(certain))
	}
	reads, doneReads := p.transactions-p.writes, p.done-p.doneWrites
	// A read/write open costs two operations more than a single, an open that
	// reads two, an empty one one. Whatever remains becomes more blocks.
	writeOpens := min(part(p.doneWrites, p.writes, writeOpenShare), p.more/2)
	left := p.more - 2*writeOpens
	opens := min(part(doneReads, reads, openShare), left)
	left -= opens
	full := min(part(doneReads, reads, portionOf(openShare, readShare)), opens, left)
	left -= full
	if left > 0 && writeOpens+full == 0 { // in a very short trace, which has an open still
		full, left = 1, left-1
	}
	deck := make([]card, 0, p.transactions)
	add := func(n int64, k kind, blocks int) {
		for range n {
			deck = append(deck, card{k, blocks})
		}
	}
	add(writeOpens, writeOpen, 1)
	add(full, readOpen, 1)
	holders := int64(len(deck))
	for left > 0 { // mostly short runs, and some long ones
		n := min(left, 1<<r.doubling(maxDoublings-3))
		deck[r.below(holders)].blocks += int(n)
		left -= n
	}
	deletes := min(part(p.doneWrites, p.writes, deleteShare), p.writes-writeOpens)
	dirWrites := min(part(p.doneWrites, p.writes, dirWriteShare), p.writes-writeOpens-deletes)
	dirReads := min(part(doneReads, reads, dirReadShare), reads-opens)
	add(opens-full, readOpen, 0)
	add(dirReads, readDir, 0)
	add(reads-opens-dirReads, getAttr, 0)
	add(deletes, remove, 0)
	add(dirWrites, writeDir, 0)
	add(p.writes-writeOpens-deletes-dirWrites, setAttr, 0)
	r.shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
	return deck
}

// portionOf is the share of a share.
func portionOf(a, b odds) odds { return odds(portion(int64(a), int64(b), int64(certain))) }
