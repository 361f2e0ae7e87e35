package binary

import (
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/tidemark/tidemark/traces"
)

// Writer writes operations to a file. Its memory is that of one block.
type Writer struct {
	w       io.Writer
	head    [blockHead]byte
	payload []byte
	count   uint32 // operations in the payload
	number  uint64 // of the block at hand
	total   uint64
	last    before
	handles []handle
	byFID   map[traces.FID]uint64
	places  map[traces.Place]uint64
	err     error
}

// NewWriter returns a Writer to w, to which the header is written at once.
// What Write was given is in w when Close has returned nil.
func NewWriter(w io.Writer) (*Writer, error) {
	h := binary.LittleEndian.AppendUint32([]byte(magic), version)
	h = binary.LittleEndian.AppendUint32(h, crc32.Checksum(h, castagnoli))
	if _, err := w.Write(h); err != nil {
		return nil, err
	}
	return &Writer{w: w, payload: make([]byte, 0, MaxPayload), byFID: make(map[traces.FID]uint64), places: make(map[traces.Place]uint64)}, nil
}

// Write adds an operation. One that Op.Check refuses is not written, and that
// error returned; any other error is final.
func (w *Writer) Write(op traces.Op) error {
	if err := op.Check(); err != nil {
		return err
	}
	if w.err == nil && len(w.payload) > MaxPayload-maxEncoded {
		w.flush()
	}
	if w.err == nil {
		w.encode(&op)
		w.count++
		w.total++
	}
	return w.err
}

// Close writes the end. It does not close what is written to.
func (w *Writer) Close() error {
	if w.count > 0 && w.err == nil {
		w.flush()
	}
	if w.err == nil {
		end := binary.LittleEndian.AppendUint32(make([]byte, 0, endLen), 0)
		end = binary.LittleEndian.AppendUint64(end, w.total)
		end = binary.LittleEndian.AppendUint32(end, checksum(w.number, end, nil))
		if _, w.err = w.w.Write(end); w.err == nil {
			w.err = traces.ErrClosed
			return nil
		}
	}
	return w.err
}

// flush writes the block at hand and begins the next.
func (w *Writer) flush() {
	le := binary.LittleEndian
	le.PutUint32(w.head[0:], uint32(len(w.payload)))
	le.PutUint32(w.head[4:], w.count)
	le.PutUint32(w.head[8:], checksum(w.number, w.head[:8], w.payload))
	if _, w.err = w.w.Write(w.head[:]); w.err == nil {
		_, w.err = w.w.Write(w.payload)
	}
	w.number++
	w.payload, w.count, w.last, w.handles = w.payload[:0], 0, before{}, w.handles[:0]
	clear(w.byFID)
	clear(w.places)
}

func (w *Writer) encode(op *traces.Op) {
	tag := kindOf(op)
	if op.Place != nil {
		tag |= hasPlace
	}
	if op.Host == w.last.host {
		tag |= sameHost
	}
	if op.Line == w.last.line+1 {
		tag |= nextLine
	}
	b := append(w.payload, tag)
	b = binary.AppendVarint(b, op.Time-w.last.time)
	if tag&nextLine == 0 {
		b = binary.AppendVarint(b, op.Line-w.last.line)
	}
	if tag&sameHost == 0 {
		b = binary.AppendUvarint(b, uint64(op.Host))
	}
	w.last = before{op.Time, op.Line, op.Host}
	w.payload = b
	h := &w.handles[w.handle(op.FID)]
	w.payload = binary.AppendVarint(w.payload, op.Off-h.end)
	w.payload = binary.AppendUvarint(w.payload, uint64(op.Size))
	h.end = op.End()
	if op.Place != nil {
		w.place(op)
	}
}

// handle writes a handle and returns its number.
func (w *Writer) handle(fid traces.FID) uint64 {
	n, known := w.byFID[fid]
	if !known {
		n = uint64(len(w.handles))
		w.byFID[fid] = n
		w.handles = append(w.handles, handle{fid: fid})
	}
	w.payload = binary.AppendUvarint(w.payload, n)
	if !known {
		w.payload = binary.LittleEndian.AppendUint64(w.payload, uint64(fid))
	}
	return n
}

func (w *Writer) place(op *traces.Op) {
	n, known := w.places[*op.Place]
	if !known {
		n = uint64(len(w.places))
		w.places[*op.Place] = n
	}
	w.payload = binary.AppendUvarint(w.payload, n)
	if known {
		return
	}
	w.handle(op.Place.Dir)
	w.name(op.Place.Name)
	if op.Type == traces.Rename {
		w.handle(op.Place.ToDir)
		w.name(op.Place.ToName)
	}
}

func (w *Writer) name(s string) {
	w.payload = binary.AppendUvarint(w.payload, uint64(len(s)))
	w.payload = append(w.payload, s...)
}
