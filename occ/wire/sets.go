package wire

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/tidemark/tidemark/occ"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CommitDigest returns the CRC-32C (polynomial of Castagnoli, RFC 3720
// appendix B.4) of a read set and a write set as they stand in a Commit,
// counts included. It does not depend on how long the trailing zeros of the
// data are.
func CommitDigest(reads []occ.Read, writes []occ.Write) uint32 {
	b := appendReads(make([]byte, 0, 16+6*len(reads)), reads)
	b = binary.AppendUvarint(b, uint64(len(writes)))
	sum := crc32.Update(0, castagnoli, b)
	prev := uint64(0)
	for i := range writes {
		data := trim(writes[i].Data)
		b = appendWriteHead(b[:0], writes[i].Block, prev, len(data))
		sum = crc32.Update(sum, castagnoli, b)
		sum = crc32.Update(sum, castagnoli, data)
		prev = uint64(writes[i].Block)
	}
	return sum
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
	prev := uint64(0)
	for i := range writes {
		data := trim(writes[i].Data)
		b = appendWriteHead(b, writes[i].Block, prev, len(data))
		b = append(b, data...)
		prev = uint64(writes[i].Block)
	}
	return b
}

func appendWriteHead(b []byte, block occ.BlockID, prev uint64, size int) []byte {
	b = appendDelta(b, uint64(block), prev)
	return binary.AppendUvarint(b, uint64(size))
}

func (d *decoder) writes(field string) []occ.Write {
	n := d.count(field, MaxEntries, 2)
	if n == 0 {
		return nil
	}
	list := make([]occ.Write, n)
	prev := uint64(0)
	for i := range list {
		if d.err != nil {
			return nil
		}
		prev = d.delta(field, prev)
		list[i].Block = occ.BlockID(prev)
		list[i].Data = d.block(field, d.uvarint(field), 0)
	}
	return list
}
