package fsim

import "bytes"

const (
	recordHead = 12
	// MaxName is the longest name of an entry in bytes.
	MaxName = 255
)

// record is a decoded directory record. Name points into the block.
type record struct {
	off, size int // bytes, in the block
	h         Handle
	kind      Kind
	name      []byte
}

func (r *record) free() bool { return r.h.Ino == 0 }

// room is what a record has left for others: all of a free one.
func (r *record) room() int {
	if r.free() {
		return r.size
	}
	return r.size - recordSize(len(r.name))
}

// recordSize is the length in bytes of a record with a name of n bytes.
func recordSize(n int) int { return (recordHead + n + 3) &^ 3 }

// recordAt decodes the record at off, which is below len(b). What is wrong
// with it, if anything, is returned as why; size is then not to be used.
func recordAt(b []byte, off int) (r record, why string) {
	if len(b)-off < recordHead {
		return r, "record does not fit its block"
	}
	h := b[off : off+recordHead]
	r = record{
		off:  off,
		size: int(le.Uint16(h[8:])) * 4,
		h:    Handle{Ino: le.Uint32(h), Gen: le.Uint32(h[4:])},
		kind: Kind(h[11]),
	}
	if r.size < recordHead || r.size > len(b)-off {
		return r, "bad record length"
	}
	if r.free() {
		return r, ""
	}
	n := int(h[10])
	if recordHead+n > r.size {
		return r, "name longer than its record"
	}
	r.name = b[off+recordHead : off+recordHead+n]
	if !validName(r.name) {
		return r, "bad name"
	}
	if r.kind < File || r.kind > Symlink {
		return r, "bad kind"
	}
	return r, ""
}

// putRecord writes a record of r.size bytes at r.off. The bytes after the
// name are room, whose content means nothing.
func putRecord(b []byte, r record, name string) {
	h := b[r.off:]
	le.PutUint32(h, r.h.Ino)
	le.PutUint32(h[4:], r.h.Gen)
	setRecordSize(h, r.size)
	h[10] = byte(len(name))
	h[11] = byte(r.kind)
	copy(h[recordHead:], name)
}

func setRecordSize(h []byte, size int) { le.PutUint16(h[8:], uint16(size/4)) }

func validName(s []byte) bool {
	return len(s) >= 1 && len(s) <= MaxName && string(s) != "." && string(s) != ".." &&
		bytes.IndexByte(s, '/') < 0 && bytes.IndexByte(s, 0) < 0
}
