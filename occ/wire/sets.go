package wire

import (
	"encoding/binary"
	"hash/crc32"
	"slices"

	"github.com/tidemark/tidemark/occ"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CommitDigest returns the CRC-32C (polynomial of Castagnoli, RFC 3720
// appendix B.4) of a read set and a write set as they stand in a Commit,
// counts included, and of the flag that says in which form the writes stand,
// if it is set. It does not depend on how long the trailing zeros of the data
// of whole blocks are.
func CommitDigest(reads []occ.Read, writes []occ.Write) uint32 {
	b := make([]byte, 0, 16+6*len(reads))
	forms := hasRanges(writes)
	if forms {
		b = append(b, flagRanges)
	}
	b = appendReads(b, reads)
	b = binary.AppendUvarint(b, uint64(len(writes)))
	sum := crc32.Update(0, castagnoli, b)
	prev := uint64(0)
	for i := range writes {
		w := &writes[i]
		data := trim(w.Data)
		b = appendWriteHead(b[:0], w, prev, len(data), forms)
		b = appendRanges(b, w.Ranges)
		sum = crc32.Update(sum, castagnoli, b)
		sum = crc32.Update(sum, castagnoli, data)
		prev = uint64(w.Block)
	}
	return sum
}

// hasRanges reports whether a write set needs the encoding that tells the two
// forms of a write apart.
func hasRanges(writes []occ.Write) bool {
	return slices.ContainsFunc(writes, func(w occ.Write) bool { return w.Ranges != nil })
}

func appendReads(b []byte, reads []occ.Read) []byte {
	b = binary.AppendUvarint(b, uint64(len(reads)))
	var prev occ.Read
	for _, r := range reads {
		b = appendDelta(b, uint64(r.Block), uint64(prev.Block))
		b = appendDelta(b, uint64(r.From), uint64(prev.From))
		prev = r
	}
	return b
}

func (d *decoder) reads(field string) []occ.Read {
	n := d.count(field, MaxEntries, 2)
	if n == 0 {
		return nil
	}
	list := make([]occ.Read, n)
	var prev occ.Read
	for i := range list {
		prev.Block = occ.BlockID(d.delta(field, uint64(prev.Block)))
		prev.From = occ.Timestamp(d.delta(field, uint64(prev.From)))
		list[i] = prev
	}
	return list
}

func appendWrites(b []byte, writes []occ.Write) []byte {
	b = binary.AppendUvarint(b, uint64(len(writes)))
	forms := hasRanges(writes)
	prev := uint64(0)
	for i := range writes {
		w := &writes[i]
		if w.Ranges != nil && (w.Data != nil || len(w.Ranges) == 0 || !occ.InOrder(w.Ranges)) {
			panic("wire: a write in no proper form")
		}
		data := trim(w.Data)
		b = appendWriteHead(b, w, prev, len(data), forms)
		b = append(b, data...)
		b = appendRanges(b, w.Ranges)
		prev = uint64(w.Block)
	}
	return b
}

// appendWriteHead appends what precedes the data or the ranges of w; size is
// that of its trimmed data.
func appendWriteHead(b []byte, w *occ.Write, prev uint64, size int, forms bool) []byte {
	b = appendDelta(b, uint64(w.Block), prev)
	switch {
	case !forms:
		return binary.AppendUvarint(b, uint64(size))
	case w.Ranges == nil:
		return binary.AppendUvarint(b, uint64(size)<<1)
	}
	return binary.AppendUvarint(b, uint64(len(w.Ranges)-1)<<1|1)
}

func (d *decoder) writes(field string, forms bool) []occ.Write {
	n := d.count(field, MaxEntries, 2)
	var list []occ.Write
	if n > 0 {
		list = make([]occ.Write, n)
	}
	prev := uint64(0)
	for i := range list {
		if d.err != nil {
			return nil
		}
		prev = d.delta(field, prev)
		list[i].Block = occ.BlockID(prev)
		size := d.uvarint(field)
		switch {
		case !forms:
			list[i].Data = d.block(field, size, 0)
		case size&1 == 0:
			list[i].Data = d.block(field, size>>1, 0)
		default:
			list[i].Ranges = d.ranges(field, size>>1)
		}
	}
	if forms && d.patched == 0 {
		d.fail("flags", "announces ranges, but there are none")
	}
	return list
}
