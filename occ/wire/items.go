package wire

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/tidemark/tidemark/occ"
)

// kindMixed stands beside the number of items when they are not all of one
// kind; each then carries its own.
const kindMixed = 3

// hasBlock reports whether items of this kind name a version of a block.
func hasBlock(k ItemKind) bool { return k == ItemDeprecated || k == ItemDropped }

// batch is what the items of one message have in common: what a receiver has
// to know before it can read their bits.
type batch struct {
	kind     ItemKind // or kindMixed
	gaps     uint     // Rice parameter of the steps between timestamps
	blocks   spread
	ages     spread // distances of From below At
	versions int    // items that name a version of a block
}

// spread is the smallest and largest of some numbers. Each is sent as its
// distance from the smallest, in as many bits as the largest needs.
type spread struct{ low, high uint64 }

func (s *spread) add(v uint64, first bool) {
	if first {
		s.low, s.high = v, v
	}
	s.low, s.high = min(s.low, v), max(s.high, v)
}

func (s *spread) width() uint { return uint(bits.Len64(s.high - s.low)) }

// riceParameter is the number of low bits that a step of average length
// takes, less one: with it n steps over a span take at most 3 bits each more
// than the logarithm of their average.
func riceParameter(span uint64, steps int) uint {
	return uint(max(1, bits.Len64(span/uint64(steps)))) - 1
}

// survey computes what items have in common. There is at least one.
func survey(items []Item) batch {
	s := batch{kind: items[0].Kind}
	for i := range items {
		it := &items[i]
		if it.Kind != items[0].Kind {
			s.kind = kindMixed
		}
		if i > 0 && it.At < items[i-1].At {
			panic(fmt.Sprintf("wire: item of timestamp %d follows one of %d", it.At, items[i-1].At))
		}
		if hasBlock(it.Kind) {
			s.blocks.add(uint64(it.Block), s.versions == 0)
			s.ages.add(uint64(it.At-it.From), s.versions == 0)
			s.versions++
		} else if it.Kind != ItemCommitted {
			panic(fmt.Sprintf("wire: item kind %d does not exist", it.Kind))
		}
	}
	if n := len(items); n > 1 {
		s.gaps = riceParameter(uint64(items[n-1].At-items[0].At), n-1)
	}
	return s
}

func appendItems(b []byte, m *Items) []byte {
	n := len(m.Items)
	if n == 0 {
		return append(b, 0)
	}
	s := survey(m.Items)
	b = binary.AppendUvarint(b, uint64(n)<<2|uint64(s.kind))
	b = appendDelta(b, uint64(m.Items[0].At), uint64(m.Stable))
	if n > 1 {
		b = append(b, byte(s.gaps))
	}
	if s.versions > 0 {
		if n > 1 {
			b = append(b, byte(s.blocks.width()), byte(s.ages.width()))
		}
		b = binary.AppendUvarint(b, s.blocks.low)
		b = binary.AppendUvarint(b, s.ages.low)
	}
	w := bitWriter{b: b}
	for i := range m.Items {
		it := &m.Items[i]
		if s.kind == kindMixed {
			w.write(uint64(it.Kind), 2)
		}
		if i > 0 {
			w.rice(uint64(it.At-m.Items[i-1].At), s.gaps)
		}
		if hasBlock(it.Kind) {
			w.write(uint64(it.Block)-s.blocks.low, s.blocks.width())
			w.write(uint64(it.At-it.From)-s.ages.low, s.ages.width())
		}
	}
	b = w.finish()
	prev := uint64(0)
	for i := range m.Items {
		if m.Items[i].Kind == ItemCommitted {
			b = binary.AppendUvarint(b, m.Items[i].Req-prev)
			prev = m.Items[i].Req
		}
	}
	return b
}

func (d *decoder) items(stable occ.Timestamp) []Item {
	const field = "items"
	head := d.uvarint(field)
	n := head >> 2
	want := batch{kind: ItemKind(head & 3)}
	if n == 0 {
		if want.kind != 0 {
			d.fail(field, "a kind of no items")
		}
		return nil
	}
	at := occ.Timestamp(d.delta("at", uint64(stable)))
	// Every item but the first takes at least the one bit of its step.
	if n > MaxEntries || n-1 > 8*uint64(len(d.b)) {
		d.fail(field, "more items than the protocol allows or the message holds")
		return nil
	}
	var blockBits, ageBits uint
	versions := want.kind != ItemCommitted
	if n > 1 {
		want.gaps = d.width("steps", 63)
		if versions {
			blockBits, ageBits = d.width("block", 64), d.width("from", 64)
		}
	}
	if versions {
		want.blocks.low, want.ages.low = d.uvarint("block"), d.uvarint("from")
	}
	if d.err != nil {
		return nil
	}

	list := make([]Item, n)
	r := bitReader{b: d.b}
	for i := range list {
		it := &list[i]
		it.Kind = want.kind
		if want.kind == kindMixed {
			it.Kind = ItemKind(r.read(2))
		}
		if i > 0 {
			step := occ.Timestamp(r.rice(want.gaps))
			if at += step; at < step {
				r.bad = true
			}
		}
		it.At = at
		if hasBlock(it.Kind) {
			it.Block = occ.BlockID(want.blocks.low + r.read(blockBits))
			it.From = at - occ.Timestamp(want.ages.low+r.read(ageBits))
		} else if it.Kind != ItemCommitted {
			r.bad = true
		}
		if r.bad {
			d.fail(field, "the bits make no items")
			return nil
		}
	}
	if d.b = r.finish(); r.bad {
		d.fail(field, "unused bits are set")
		return nil
	}
	prev := uint64(0)
	for i := range list {
		if list[i].Kind == ItemCommitted {
			prev += d.uvarint("request")
			list[i].Req = prev
			if prev == 0 {
				d.fail("request", "0 is no request number")
			}
		}
	}
	// One encoding of a batch: what the sender said of the items as a whole
	// must be what the items say.
	got := survey(list)
	if got.kind != want.kind || got.gaps != want.gaps ||
		got.blocks.low != want.blocks.low || got.blocks.width() != blockBits ||
		got.ages.low != want.ages.low || got.ages.width() != ageBits {
		d.fail(field, "not the shortest form of the batch")
		return nil
	}
	return list
}

// width reads a number of bits.
func (d *decoder) width(field string, limit uint) uint {
	w := uint(d.byte(field))
	if w > limit {
		d.fail(field, "too many bits")
		return 0
	}
	return w
}
