package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"

	"github.com/tidemark/tidemark/occ"
)

// Record is a version of a block: the one at the timestamp of the backup.
type Record struct {
	Block occ.BlockID
	From  occ.Timestamp // where the version begins
	// Data is the content; zeros that are missing at the end of the block do
	// not matter.
	Data []byte
}

// Writer writes a backup. It keeps one frame in memory.
type Writer struct {
	w      io.Writer
	h      Header
	digest hash.Hash
	frame  []byte // the open one
	first  bool   // nothing has been added to it
	number uint32
	last   occ.BlockID // of the record added last
	done   Summary
	err    error
}

// NewWriter begins a backup with its header, which is written at once. It fails
// with a *HeaderError or an error of w.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	if problem := h.problem(); problem != "" {
		return nil, &HeaderError{problem}
	}
	b := &Writer{w: w, h: h, digest: sha256.New()}
	b.begin()
	return b, b.write(h.encode())
}

// begin begins the next frame.
func (w *Writer) begin() {
	w.frame, w.first = append(w.frame[:0], make([]byte, frameHead)...), true
}

// Add adds a record, whose data are not kept. It fails with a *RecordError if
// the record does not belong behind those before, or with an error of the
// io.Writer, after which the Writer is of no use.
func (w *Writer) Add(r Record) error {
	if w.err != nil {
		return w.err
	}
	if len(r.Data) > w.h.BlockSize {
		return &RecordError{Record{r.Block, r.From, nil}, fmt.Sprintf("it has %d bytes, a block is %d", len(r.Data), w.h.BlockSize)}
	}
	if problem := misplaced(w.h, r, w.last, w.done.Records == 0); problem != "" {
		return &RecordError{Record{r.Block, r.From, nil}, problem}
	}
	data := bytes.TrimRight(r.Data, "\x00")
	if !w.first && len(w.frame)+len(data) > frameBytes {
		if err := w.flush(); err != nil {
			return err
		}
	}
	delta := uint64(r.Block)
	if !w.first {
		delta -= uint64(w.last)
	}
	w.frame = binary.AppendUvarint(w.frame, delta)
	w.frame = binary.AppendUvarint(w.frame, uint64(r.From))
	w.frame = binary.AppendUvarint(w.frame, uint64(len(data)))
	w.frame = append(w.frame, data...)
	w.first, w.last = false, r.Block
	w.done.Records++
	w.done.DataBytes += uint64(len(data))
	return nil
}

// misplaced returns why a record cannot come behind last, or anywhere.
func misplaced(h Header, r Record, last occ.BlockID, first bool) string {
	switch {
	case r.From <= h.Since || r.From > h.At:
		return fmt.Sprintf("it does not begin between %d and %d", h.Since, h.At)
	case !first && r.Block <= last:
		return fmt.Sprintf("it comes behind block %d", last)
	}
	return ""
}

// flush writes the open frame, if there is anything in it.
func (w *Writer) flush() error {
	if w.first {
		return nil
	}
	sealFrame(w.frame, kindRecords, w.number)
	w.number++
	err := w.write(w.frame)
	w.begin()
	return err
}

// write writes a whole header or frame.
func (w *Writer) write(b []byte) error {
	w.digest.Write(b)
	n, err := w.w.Write(b)
	w.done.FileBytes += int64(n)
	w.err = err
	return err
}

// Close ends the backup and returns what it holds. It does not close the
// io.Writer; what has no end is no backup.
func (w *Writer) Close() (Summary, error) {
	if w.err != nil {
		return Summary{}, w.err
	}
	if err := w.flush(); err != nil {
		return Summary{}, err
	}
	w.frame = binary.LittleEndian.AppendUint64(w.frame, w.done.Records)
	w.frame = binary.LittleEndian.AppendUint64(w.frame, w.done.DataBytes)
	w.frame = w.digest.Sum(w.frame)
	sealFrame(w.frame, kindEnd, w.number)
	err := w.write(w.frame)
	return w.done, err
}
