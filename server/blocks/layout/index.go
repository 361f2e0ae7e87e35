package layout

import (
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/tidemark/tidemark/occ"
)

// Visitor is told what an index file holds, in its order.
type Visitor struct {
	// State gets a part of the state, which is valid until it returns.
	State func([]byte)
	// Version gets a version. An error of it is damage to the index.
	Version func(Version) error
}

// indexReader reads an index file.
type indexReader struct {
	r        io.Reader
	h        Header
	at       int64  // offset
	sum      uint32 // checksum up to it
	buf      []byte // up to FrameHead + MaxFrame
	frames   uint32
	state    uint64
	versions uint64
	last     Version
}

// ReadIndex reads the index file of the checkpoint h from its beginning and
// tells visit what is in it. It checks all there is to check, some of it only
// at the end: what was told counts once ReadIndex returns nil. Errors are
// *Damage, *VersionError and those of r. Memory is bounded whatever the file
// says.
func ReadIndex(r io.Reader, h Header, visit Visitor) error {
	d := &indexReader{r: r, h: h}
	if err := d.head(); err != nil {
		return err
	}
	for {
		start := d.at
		kind, payload, err := d.frame()
		if err != nil {
			return err
		}
		switch kind {
		case kindState:
			if d.versions > 0 {
				return damaged(start, "state behind versions")
			}
			d.state += uint64(len(payload))
			visit.State(payload)
		case kindVersions:
			if err := d.add(payload, start+FrameHead, visit.Version); err != nil {
				return err
			}
		case kindEnd:
			return d.end(payload, start)
		default:
			return damaged(start, "a frame of kind %d", kind)
		}
	}
}

// read fills b from the file.
func (d *indexReader) read(b []byte) error {
	if left := d.h.IndexBytes - uint64(d.at); uint64(len(b)) > left {
		return damaged(d.at, "%d bytes where %d are left", len(b), left)
	}
	if n, err := io.ReadFull(d.r, b); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return damaged(d.at+int64(n), "the file ends")
		}
		return err
	}
	d.at += int64(len(b))
	d.sum = Checksum(d.sum, b)
	return nil
}

func (d *indexReader) head() error {
	d.buf = make([]byte, IndexHead)
	b := d.buf
	if err := d.read(b); err != nil {
		return err
	}
	o, err := open(b, indexMagic)
	switch {
	case err != nil:
		return err
	case o != d.h.Owner:
		return damaged(0, "it belongs to store %v with blocks of %d bytes", o.Store, o.BlockSize)
	case binary.LittleEndian.Uint64(b[offIndexCheckpoint:]) != d.h.Checkpoint:
		return damaged(offIndexCheckpoint, "it belongs to checkpoint %d", binary.LittleEndian.Uint64(b[offIndexCheckpoint:]))
	}
	return zeros(b, offIndexCheckpoint+8, IndexHead-4)
}

// frame reads the next frame; its payload is valid until the next call.
func (d *indexReader) frame() (kind uint32, payload []byte, err error) {
	start := d.at
	if err := d.read(d.buf[:FrameHead]); err != nil {
		return 0, nil, err
	}
	le := binary.LittleEndian
	n := le.Uint32(d.buf[offFrameLength:])
	if n > MaxFrame {
		return 0, nil, damaged(start+offFrameLength, "a frame of %d bytes", n)
	}
	if grow := FrameHead + int(n) - len(d.buf); grow > 0 {
		d.buf = append(d.buf, make([]byte, grow)...)
	}
	f := d.buf[:FrameHead+n]
	if err := d.read(f[FrameHead:]); err != nil {
		return 0, nil, err
	}
	if le.Uint32(f[offFrameCRC:]) != frameChecksum(f) {
		return 0, nil, damaged(start, "checksum mismatch in a frame")
	}
	if number := le.Uint32(f[offFrameNumber:]); number != d.frames {
		return 0, nil, damaged(start+offFrameNumber, "frame %d where frame %d is expected", number, d.frames)
	}
	d.frames++
	return le.Uint32(f), f[FrameHead:], nil
}

// uvarint decodes a minimal uvarint; n is 0 if there is none.
func uvarint(b []byte) (x uint64, n int) {
	x, n = binary.Uvarint(b)
	if n <= 0 || n > 1 && b[n-1] == 0 {
		return 0, 0
	}
	return x, n
}

// add decodes the versions of a frame, whose payload begins at offset at.
func (d *indexReader) add(payload []byte, at int64, visit func(Version) error) error {
	block := uint64(0)
	for b := payload; len(b) > 0; {
		offset := at + int64(len(payload)-len(b))
		var fields [4]uint64 // block, from, size, slot
		count := 4
		for i := 0; i < count; i++ {
			x, n := uvarint(b)
			if n == 0 {
				return damaged(offset, "a version that is no list of numbers")
			}
			fields[i], b = x, b[n:]
			if i == 2 && x == 0 {
				count = 3
			}
		}
		if fields[0] > math.MaxUint64-block {
			return damaged(offset, "a block above all others")
		}
		block += fields[0]
		v := Version{Block: occ.BlockID(block), From: occ.Timestamp(fields[1]), Slot: NoSlot}
		switch {
		case v.From == 0 || v.From > d.h.Stable:
			return damaged(offset, "a version that begins at %d, in a checkpoint up to %d", v.From, d.h.Stable)
		case d.versions > 0 && (v.Block < d.last.Block || v.Block == d.last.Block && v.From <= d.last.From):
			return damaged(offset, "version (%d, %d) behind (%d, %d)", v.Block, v.From, d.last.Block, d.last.From)
		case fields[2] > uint64(d.h.BlockSize):
			return damaged(offset, "%d bytes in a block", fields[2])
		case count == 4 && fields[3] >= uint64(d.h.Slots):
			return damaged(offset, "slot %d of %d", fields[3], d.h.Slots)
		}
		if v.Size = uint32(fields[2]); count == 4 {
			v.Slot = uint32(fields[3])
		}
		if err := visit(v); err != nil {
			return damaged(offset, "version (%d, %d): %v", v.Block, v.From, err)
		}
		d.last = v
		d.versions++
	}
	return nil
}

func (d *indexReader) end(payload []byte, start int64) error {
	le := binary.LittleEndian
	switch {
	case len(payload) != endLen:
		return damaged(start, "an end of %d bytes", len(payload))
	case le.Uint64(payload) != d.versions || d.h.Versions != d.versions:
		return damaged(start, "%d versions, not %d", d.versions, d.h.Versions)
	case le.Uint64(payload[8:]) != d.state:
		return damaged(start, "%d bytes of state, not %d", d.state, le.Uint64(payload[8:]))
	case uint64(d.at) != d.h.IndexBytes:
		return damaged(d.at, "%d bytes behind the end", d.h.IndexBytes-uint64(d.at))
	case d.sum != d.h.IndexCRC:
		return damaged(0, "checksum mismatch of the whole file")
	}
	return nil
}
