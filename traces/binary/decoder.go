package binary

import (
	"encoding/binary"
	"math"

	"github.com/tidemark/tidemark/traces"
)

// decoder takes a payload apart. What it returns need not pass Op.Check.
type decoder struct {
	rest    []byte
	left    uint32 // operations that are still to come
	last    before
	handles []handle
	places  []*traces.Place
	bad     bool
}

// begin starts on a payload, which is used until the next one.
func (d *decoder) begin(payload []byte, count uint32) {
	clear(d.places) // the operations keep those that they need
	*d = decoder{rest: payload, left: count, handles: d.handles[:0], places: d.places[:0]}
}

// next decodes an operation, and reports false if there is none.
func (d *decoder) next() (op traces.Op, ok bool) {
	if len(d.rest) == 0 {
		return op, false
	}
	tag := d.rest[0]
	d.rest = d.rest[1:]
	if tag&kindBits >= kinds {
		return op, false
	}
	setKind(&op, tag&kindBits)
	op.Time = d.last.time + d.signed()
	if op.Line = d.last.line + 1; tag&nextLine == 0 {
		op.Line = d.last.line + d.signed()
	}
	if op.Host = d.last.host; tag&sameHost == 0 {
		host := d.number()
		d.bad = d.bad || host > math.MaxUint32
		op.Host = uint32(host)
	}
	d.last = before{op.Time, op.Line, op.Host}
	h := d.handle()
	op.FID = h.fid
	op.Off = h.end + d.signed()
	op.Size = int64(d.number())
	h.end = op.End()
	if tag&hasPlace != 0 {
		op.Place = d.place(op.Type == traces.Rename)
	}
	d.left--
	return op, !d.bad
}

// number reads a varint. The first two lengths are by far the most common.
func (d *decoder) number() uint64 {
	b := d.rest
	if len(b) > 1 {
		if b[0] < 0x80 {
			d.rest = b[1:]
			return uint64(b[0])
		}
		if b[1] < 0x80 {
			d.rest = b[2:]
			return uint64(b[0]&0x7f) | uint64(b[1])<<7
		}
	}
	v, n := binary.Uvarint(b)
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.rest = b[n:]
	return v
}

func (d *decoder) signed() int64 {
	v := d.number()
	return int64(v>>1) ^ -int64(v&1)
}

// bytes reads n bytes, which belong to the payload.
func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.bad = true
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

// handle reads a handle. The result is valid until the next new one.
func (d *decoder) handle() *handle {
	n := d.number()
	if n < uint64(len(d.handles)) {
		return &d.handles[n]
	}
	b := d.bytes(8)
	if d.bad || n > uint64(len(d.handles)) {
		d.bad = true
		return &handle{}
	}
	d.handles = append(d.handles, handle{fid: traces.FID(binary.LittleEndian.Uint64(b))})
	return &d.handles[n]
}

func (d *decoder) place(renames bool) *traces.Place {
	n := d.number()
	if n < uint64(len(d.places)) {
		return d.places[n]
	}
	p := &traces.Place{Dir: d.handle().fid}
	p.Name = d.name()
	if renames {
		p.ToDir = d.handle().fid
		p.ToName = d.name()
	}
	if d.bad || n > uint64(len(d.places)) {
		d.bad = true
		return nil
	}
	d.places = append(d.places, p)
	return p
}

func (d *decoder) name() string {
	n := d.number()
	d.bad = d.bad || n > traces.MaxName
	if d.bad {
		return ""
	}
	return string(d.bytes(n))
}
