package core

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// A write of ranges stands for the version that its transaction read, with
// some bytes changed. Validation makes that version the newest one, pending
// ones included; transactions are applied in timestamp order, one after
// another; so when the write is applied, what it is based on is the current
// version of its block. That holds in recovery as well, and is why neither
// the log nor the outcome names the base. A version is dropped only after a
// horizon at or behind its end, which is the Put of its successor, so its Put
// comes before, and its Drop after, every Put that is based on it.

// basesRead reports whether all blocks of which ranges are written are in the
// read set.
func basesRead(m *wire.Commit) bool {
	var read map[occ.BlockID]struct{}
	for _, w := range m.Writes {
		if w.Ranges == nil {
			continue
		}
		if len(m.Reads) <= 16 {
			if !slices.ContainsFunc(m.Reads, func(r occ.Read) bool { return r.Block == w.Block }) {
				return false
			}
			continue
		}
		if read == nil {
			read = make(map[occ.BlockID]struct{}, len(m.Reads))
			for _, r := range m.Reads {
				read[r.Block] = struct{}{}
			}
		}
		if _, ok := read[w.Block]; !ok {
			return false
		}
	}
	return true
}

// covers is how many bytes a block must have to hold a write.
func covers(w occ.Write) uint64 {
	if n := len(w.Ranges); n > 0 {
		return uint64(w.Ranges[n-1].End())
	}
	return uint64(len(w.Data))
}

// commitBytes is what a write counts against Limits.CommitBytes: its encoding
// on the wire and in the log takes no more. Ranges count exactly what they
// take, so that a client which sends them because they are shorter than the
// block is never refused for it.
func commitBytes(w occ.Write) uint64 {
	n := uint64(len(w.Data)) + commitEntryBytes
	end := -1
	for _, r := range w.Ranges {
		n += uvarintLen(uint64(int(r.Off)-end-1)) + uvarintLen(uint64(len(r.Data)-1)) + uint64(len(r.Data))
		end = r.End()
	}
	return n
}

// uvarintLen is the number of bytes of v as a varint.
func uvarintLen(v uint64) uint64 { return uint64(bits.Len64(v|1)+6) / 7 }

// cloned is a write that shares no memory with w.
func cloned(w occ.Write) occ.Write {
	w.Data = bytes.Clone(w.Data)
	w.Ranges = slices.Clone(w.Ranges)
	for i := range w.Ranges {
		w.Ranges[i].Data = bytes.Clone(w.Ranges[i].Data)
	}
	return w
}
