package infer

import "github.com/tidemark/tidemark/traces"

// open is a transaction that an Open line or a Block began.
type open struct {
	id    TxID
	first traces.Op // the line that began it
	orig  Origin
	write bool // has a Block WRITE
	empty bool // has no Block
	ended bool
	// written is the size of the pages that its Block WRITEs touch.
	written int64
	cause   Cause

	byAge, byFile links
}

// decided reports whether the class of the open is known.
func (o *open) decided() bool { return o.write || o.ended }

// class returns the class, final once it is decided.
func (o *open) class() Class {
	if o.write {
		return ReadWrite
	}
	return ReadOnly
}

type (
	links struct{ prev, next *open }
	chain struct{ head, tail *open }
	owner struct {
		host uint32
		fid  traces.FID
	}
)

// table holds the opens that have not ended: by owner, by file, and all of
// them by age. Both chains are in order of begin.
type table struct {
	owned map[owner]*open
	files map[traces.FID]chain
	all   chain
}

func newTable() table {
	return table{owned: map[owner]*open{}, files: map[traces.FID]chain{}}
}

func (t *table) of(op traces.Op) *open { return t.owned[owner{op.Host, op.FID}] }

// add enters an open that began after all others.
func (t *table) add(o *open) {
	t.owned[owner{o.first.Host, o.first.FID}] = o
	t.all.append(o, func(o *open) *links { return &o.byAge })
	file := t.files[o.first.FID]
	file.append(o, func(o *open) *links { return &o.byFile })
	t.files[o.first.FID] = file
}

func (t *table) remove(o *open) {
	delete(t.owned, owner{o.first.Host, o.first.FID})
	t.all.remove(o, func(o *open) *links { return &o.byAge })
	file := t.files[o.first.FID]
	file.remove(o, func(o *open) *links { return &o.byFile })
	if file.head == nil {
		delete(t.files, o.first.FID)
	} else {
		t.files[o.first.FID] = file
	}
}

func (c *chain) append(o *open, at func(*open) *links) {
	at(o).prev = c.tail
	if c.tail == nil {
		c.head = o
	} else {
		at(c.tail).next = o
	}
	c.tail = o
}

func (c *chain) remove(o *open, at func(*open) *links) {
	l := at(o)
	if l.prev == nil {
		c.head = l.next
	} else {
		at(l.prev).next = l.next
	}
	if l.next == nil {
		c.tail = l.prev
	} else {
		at(l.next).prev = l.prev
	}
	*l = links{}
}
