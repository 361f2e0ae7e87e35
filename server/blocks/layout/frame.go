package layout

import (
	"encoding/binary"

	"github.com/tidemark/tidemark/occ"
)

const (
	// IndexHead is the size in bytes of what precedes the frames.
	IndexHead = 48
	// FrameHead is the size in bytes of what precedes a frame's payload.
	FrameHead = 16
	// IndexEnd is the size in bytes of the last frame of an index file.
	IndexEnd = FrameHead + endLen
	// MaxFrame is the largest payload of a frame in bytes.
	MaxFrame = 64 << 10

	kindState    = 1
	kindVersions = 2
	kindEnd      = 3

	offIndexCheckpoint = 32
	offFrameLength     = 4
	offFrameNumber     = 8
	offFrameCRC        = 12
	endLen             = 16
	maxVersionLen      = 3*binary.MaxVarintLen64 + binary.MaxVarintLen32
)

// Version is a version in an index: which it is and where its data are.
type Version struct {
	Block occ.BlockID
	From  occ.Timestamp
	Size  uint32 // bytes of data
	Slot  uint32 // NoSlot if Size is 0
}

// IndexWriter makes an index file. It appends to Bytes, which whoever uses it
// takes away and truncates. The zero value is not ready: see NewIndexWriter.
type IndexWriter struct {
	Bytes []byte

	number   uint32 // of the next frame
	versions uint64
	state    uint64
	frame    int // where the open frame of versions begins in Bytes; -1: none is open
	last     occ.BlockID
}

// NewIndexWriter begins the index file of a checkpoint.
func NewIndexWriter(o Owner, checkpoint uint64) *IndexWriter {
	b := make([]byte, IndexHead)
	o.begin(b, indexMagic)
	binary.LittleEndian.PutUint64(b[offIndexCheckpoint:], checkpoint)
	return &IndexWriter{Bytes: seal(b), frame: -1}
}

// State adds up to MaxFrame bytes of state, before any version.
func (w *IndexWriter) State(b []byte) {
	at := len(w.Bytes)
	w.Bytes = append(w.Bytes, make([]byte, FrameHead)...)
	w.Bytes = append(w.Bytes, b...)
	w.state += uint64(len(b))
	w.close(at, kindState)
}

// Add adds a version, which comes behind all that were added.
func (w *IndexWriter) Add(v Version) {
	if w.frame >= 0 && len(w.Bytes)-w.frame-FrameHead > MaxFrame-maxVersionLen {
		w.Flush()
	}
	if w.frame < 0 {
		w.frame, w.last = len(w.Bytes), 0
		w.Bytes = append(w.Bytes, make([]byte, FrameHead)...)
	}
	w.Bytes = binary.AppendUvarint(w.Bytes, uint64(v.Block-w.last))
	w.Bytes = binary.AppendUvarint(w.Bytes, uint64(v.From))
	w.Bytes = binary.AppendUvarint(w.Bytes, uint64(v.Size))
	if v.Size > 0 {
		w.Bytes = binary.AppendUvarint(w.Bytes, uint64(v.Slot))
	}
	w.last = v.Block
	w.versions++
}

// Flush ends a frame of versions: Bytes can be taken away.
func (w *IndexWriter) Flush() {
	if w.frame >= 0 {
		w.close(w.frame, kindVersions)
		w.frame = -1
	}
}

// End adds the last frame.
func (w *IndexWriter) End() {
	w.Flush()
	at := len(w.Bytes)
	w.Bytes = append(w.Bytes, make([]byte, FrameHead)...)
	w.Bytes = binary.LittleEndian.AppendUint64(w.Bytes, w.versions)
	w.Bytes = binary.LittleEndian.AppendUint64(w.Bytes, w.state)
	w.close(at, kindEnd)
}

// Versions returns how many versions were added.
func (w *IndexWriter) Versions() uint64 { return w.versions }

// close completes the frame that begins at an offset in Bytes.
func (w *IndexWriter) close(at int, kind uint32) {
	le, f := binary.LittleEndian, w.Bytes[at:]
	le.PutUint32(f, kind)
	le.PutUint32(f[offFrameLength:], uint32(len(f)-FrameHead))
	le.PutUint32(f[offFrameNumber:], w.number)
	le.PutUint32(f[offFrameCRC:], frameChecksum(f))
	w.number++
}

func frameChecksum(f []byte) uint32 {
	return Checksum(Checksum(0, f[:offFrameCRC]), f[FrameHead:])
}
