package record

import (
	"encoding/binary"

	"github.com/tidemark/tidemark/occ"
)

// maxBlock bounds where a range ends, in bytes: no block of a store is larger.
const maxBlock = 1 << 20

// writeForm is the number behind the block of a write. forms says that it has
// to tell whole blocks from ranges.
func writeForm(w *occ.Write, size int, forms bool) uint64 {
	switch {
	case !forms:
		return uint64(size)
	case w.Ranges == nil:
		return uint64(size) << 1
	}
	return uint64(len(w.Ranges)-1)<<1 | 1
}

func appendWrite(dst []byte, w *occ.Write, forms bool) []byte {
	n := trimmedLen(w.Data)
	dst = binary.AppendUvarint(dst, uint64(w.Block))
	dst = binary.AppendUvarint(dst, writeForm(w, n, forms))
	dst = append(dst, w.Data[:n]...)
	end := -1
	for _, r := range w.Ranges {
		dst = binary.AppendUvarint(dst, uint64(int(r.Off)-end-1))
		dst = binary.AppendUvarint(dst, uint64(len(r.Data)-1))
		dst = append(dst, r.Data...)
		end = r.End()
	}
	return dst
}

// writeSize is the length of what appendWrite appends.
func writeSize(w *occ.Write, forms bool) int {
	d := trimmedLen(w.Data)
	n := varintLen(uint64(w.Block)) + varintLen(writeForm(w, d, forms)) + d
	end := -1
	for _, r := range w.Ranges {
		n += varintLen(uint64(int(r.Off)-end-1)) + varintLen(uint64(len(r.Data)-1)) + len(r.Data)
		end = r.End()
	}
	return n
}

// write reads a write; forms says that its form is told.
func (d *decoder) write(forms bool) occ.Write {
	w := occ.Write{Block: occ.BlockID(d.varint("write block"))}
	if forms {
		at := d.off
		form := d.varint("write form")
		if form&1 == 1 {
			w.Ranges = d.ranges(at, form>>1)
		} else {
			w.Data = d.whole(at, form>>1)
		}
		return w
	}
	at := d.off
	w.Data = d.whole(at, d.varint("write length"))
	return w
}

// whole reads n bytes of a block; n stood at byte at.
func (d *decoder) whole(at int, n uint64) []byte {
	length := d.fits(at, "write length", n, 1)
	at = d.off
	data := d.bytes("write data", length)
	if len(data) == 0 {
		return nil
	}
	if data[length-1] == 0 {
		d.fail(at, "write data", ErrPadding)
	}
	return data
}

// ranges reads n+1 ranges; their number stood at byte at.
func (d *decoder) ranges(at int, n uint64) []occ.Range {
	count := d.fits(at, "range count", n+1, minRangeLen)
	list := make([]occ.Range, 0, min(count, preallocate))
	end := uint64(0)
	for i := 0; i < count && d.err == nil; i++ {
		at := d.off
		off, size := d.varint("range gap"), d.varint("range length")
		if i > 0 && off < maxBlock {
			off += end + 1
		}
		if off >= maxBlock || size >= maxBlock || off+size >= maxBlock {
			d.fail(at, "range", ErrRange)
			break
		}
		end = off + size + 1
		list = append(list, occ.Range{Off: uint32(off), Data: d.bytes("range data", int(size+1))})
	}
	return list
}
