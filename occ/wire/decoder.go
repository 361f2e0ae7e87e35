package wire

import "encoding/binary"

// decoder walks over the fields of one body. The first failure sticks: from
// then on every method returns zero, so that callers check only where they
// would loop or allocate.
type decoder struct {
	b         []byte // what is left
	typ       Type
	blockSize int // pad the blocks of a ReadReply to this; 0 for not at all
	padded    int // bytes of blocks padded so far
	patched   int // ranges so far
	err       *DecodeError
}

func (d *decoder) fail(field, reason string) {
	if d.err == nil {
		d.err = &DecodeError{Type: d.typ, Field: field, Reason: reason}
	}
	d.b = nil
}

const reasonShort = "the message ends too early"

func (d *decoder) uvarint(field string) uint64 {
	v, n := uvarint(d.b)
	if n <= 0 {
		if n < 0 {
			d.fail(field, reasonVarint)
		} else {
			d.fail(field, reasonShort)
		}
		return 0
	}
	d.b = d.b[n:]
	return v
}

// delta reads what appendDelta wrote.
func (d *decoder) delta(field string, prev uint64) uint64 {
	return addDelta(prev, d.uvarint(field))
}

// below reads what was encoded as the distance below top, modulo 2^64.
func (d *decoder) below(field string, top uint64) uint64 {
	return top - d.uvarint(field)
}

func (d *decoder) byte(field string) byte {
	if len(d.b) == 0 {
		d.fail(field, reasonShort)
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

// raw returns the next n bytes, still in the body; nil after a failure.
func (d *decoder) raw(field string, n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.fail(field, reasonShort)
		return nil
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) id(field string) (id [16]byte) {
	copy(id[:], d.raw(field, uint64(len(id))))
	return id
}

func (d *decoder) uint32(field string) uint32 {
	if v := d.raw(field, 4); v != nil {
		return binary.LittleEndian.Uint32(v)
	}
	return 0
}

func (d *decoder) text(field string) string {
	return string(d.raw(field, d.uvarint(field)))
}

// count reads the length of a list whose entries take at least size bytes
// each, so that a list is never allocated for entries that cannot be there.
func (d *decoder) count(field string, limit, size uint64) uint64 {
	n := d.uvarint(field)
	switch {
	case n > limit:
		d.fail(field, "more entries than the protocol allows")
	case n > uint64(len(d.b))/size:
		d.fail(field, reasonShort)
	default:
		return n
	}
	return 0
}

// block reads n bytes of block data into memory of its own, padded with
// zeros to size unless that is 0. No data gives nil.
func (d *decoder) block(field string, n uint64, size int) []byte {
	v := d.raw(field, n)
	switch {
	case len(v) == 0:
		return nil
	case v[len(v)-1] == 0:
		d.fail(field, "data ends with a zero byte")
		return nil
	case size != 0 && len(v) > size:
		d.fail(field, "more data than a block holds")
		return nil
	}
	// A reply of full blocks has to fit a frame, so no honest one is padded
	// beyond that.
	if d.padded += size; d.padded > MaxFrame {
		d.fail(field, "more blocks than a frame of full ones holds")
		return nil
	}
	if size > len(v) {
		data := make([]byte, size)
		copy(data, v)
		return data
	}
	data := make([]byte, len(v)) // apart, so that the compiler need not clear it
	copy(data, v)
	return data
}
