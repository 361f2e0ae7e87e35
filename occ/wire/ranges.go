package wire

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/tidemark/tidemark/occ"
)

// Ranges are encoded by what their order leaves open: how many there are
// besides the one that there must be, the bytes between one and the next
// besides the one that must lie there, and their lengths besides the one byte
// that each has. So no bytes stand for ranges that overlap, touch, go
// backwards or are empty.

// appendRangeHead appends what precedes the data of range r, where the range
// before it ended at end; -1 if there is none.
func appendRangeHead(b []byte, r occ.Range, end int) []byte {
	b = binary.AppendUvarint(b, uint64(int(r.Off)-end-1))
	return binary.AppendUvarint(b, uint64(len(r.Data)-1))
}

func appendRanges(b []byte, ranges []occ.Range) []byte {
	end := -1
	for _, r := range ranges {
		b = append(appendRangeHead(b, r, end), r.Data...)
		end = r.End()
	}
	return b
}

// ranges reads n+1 ranges into memory of their own.
func (d *decoder) ranges(field string, n uint64) []occ.Range {
	const smallest = 3 // bytes: gap, length, one byte of data
	if n >= MaxEntries || n >= uint64(len(d.b))/smallest {
		d.fail(field, "more ranges than the protocol allows or the message holds")
		return nil
	}
	if d.patched += int(n) + 1; d.patched > MaxEntries {
		d.fail(field, "more ranges than the protocol allows")
		return nil
	}
	list := make([]occ.Range, n+1)
	end, total := uint64(0), 0
	for i := range list {
		off, size := d.uvarint(field), d.uvarint(field)
		if off >= MaxBlock || size >= MaxBlock {
			d.fail(field, "a range beyond the largest block")
			return nil
		}
		if i > 0 {
			off += end + 1
		}
		if off+size >= MaxBlock {
			d.fail(field, "a range beyond the largest block")
			return nil
		}
		data := d.raw(field, size+1)
		if d.err != nil {
			return nil
		}
		end = off + size + 1
		total += len(data)
		list[i] = occ.Range{Off: uint32(off), Data: data}
	}
	own := make([]byte, 0, total)
	for i := range list {
		at := len(own)
		own = append(own, list[i].Data...)
		list[i].Data = own[at:len(own):len(own)]
	}
	return list
}

// Difference returns the ranges that turn the block base into the block data,
// which is as long, if they take fewer bytes in a Commit than data as a whole,
// else nil. The ranges share the memory of data.
//
// If the blocks are equal, the first byte stands for the whole: a write that
// changes nothing is a write all the same.
func Difference(base, data []byte) []occ.Range {
	whole := len(trim(data))
	budget := whole + uvarintLen(uint64(whole))
	var list []occ.Range
	cost, end := 0, -1
	for off := 0; ; {
		off += common(base[off:], data[off:])
		if off == len(data) {
			if len(list) > 0 || len(data) == 0 {
				break
			}
			off = 0
		}
		next := off + 1 // behind the range, which ends before bytes that are cheaper to leave out
		for next < len(data) {
			next += different(base[next:], data[next:])
			same := common(base[next:], data[next:])
			if next+same == len(data) || same > rangeHead {
				break
			}
			next += same
		}
		r := occ.Range{Off: uint32(off), Data: data[off:next:next]}
		list = append(list, r)
		cost += uvarintLen(uint64(off-end-1)) + uvarintLen(uint64(len(r.Data)-1)) + len(r.Data)
		if cost >= budget {
			return nil
		}
		off, end = next, next
	}
	if cost+uvarintLen(uint64(len(list)-1)<<1|1) >= budget {
		return nil
	}
	return list
}

// rangeHead is what a further range in a block costs at least, in bytes.
const rangeHead = 2

// common is how many bytes a and b, which are as long, have in common at
// their beginning.
func common(a, b []byte) int {
	const step = 256 // what is equal is passed over in large steps
	n := 0
	for n+step <= len(a) && bytes.Equal(a[n:n+step], b[n:n+step]) {
		n += step
	}
	for ; n+8 <= len(a); n += 8 {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
	}
	for n < len(a) && a[n] == b[n] {
		n++
	}
	return n
}

// different is in how many bytes a and b, which are as long, differ one and
// all at their beginning.
func different(a, b []byte) int {
	const low, high = 0x0101010101010101, 0x8080808080808080
	n := 0
	for ; n+8 <= len(a); n += 8 {
		x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:])
		if (x-low)&^x&high != 0 { // some byte is zero
			break
		}
	}
	for n < len(a) && a[n] != b[n] {
		n++
	}
	return n
}
