package wire

import "encoding/binary"

const reasonVarint = "not a minimal uvarint of at most 64 bits"

// uvarint reads a uvarint in its one minimal form. n is its width; 0 if b
// ends before it does; -1 if it has more bytes than it needs or more than 64
// bits.
func uvarint(b []byte) (v uint64, n int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	v, n = binary.Uvarint(b)
	switch {
	case n < 0 || n == 0 && len(b) >= binary.MaxVarintLen64:
		return 0, -1
	case n > 1 && b[n-1] == 0:
		return 0, -1
	}
	return v, n
}

// appendDelta appends v as its difference from prev, modulo 2^64, in zigzag
// form: small steps up or down take one byte, and every pair of values has
// exactly one encoding.
func appendDelta(b []byte, v, prev uint64) []byte {
	d := v - prev
	return binary.AppendUvarint(b, d<<1^uint64(int64(d)>>63))
}

// addDelta undoes appendDelta.
func addDelta(prev, z uint64) uint64 { return prev + (z>>1 ^ -(z & 1)) }
