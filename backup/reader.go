package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"

	"github.com/tidemark/tidemark/occ"
)

// Reader reads a backup. It keeps one frame in memory, whatever the backup
// says. What it returns counts once Next has returned io.EOF: only then is it
// known that nothing is missing.
type Reader struct {
	r      io.Reader
	name   string
	h      Header
	digest hash.Hash
	at     int64  // offset of what is read next
	frame  []byte // the newest one
	rest   []byte // what is left of its payload
	first  bool   // none of its records has been returned
	number uint32
	last   occ.BlockID
	done   Summary
	err    error
}

// NewReader reads the header of a backup; the name is for errors. They are
// *ReadError and *DamageError, here and in Next.
func NewReader(r io.Reader, name string) (*Reader, error) {
	b := &Reader{r: r, name: name, digest: sha256.New()}
	return b, b.header()
}

// Name returns the name that the Reader was given.
func (r *Reader) Name() string { return r.name }

// Header returns what the backup is of.
func (r *Reader) Header() Header { return r.h }

// Summary returns what has been read.
func (r *Reader) Summary() Summary {
	s := r.done
	s.FileBytes = r.at
	return s
}

func (r *Reader) damaged(at int64, format string, args ...any) error {
	return &DamageError{Name: r.name, Offset: at, Reason: fmt.Sprintf(format, args...)}
}

// read fills b.
func (r *Reader) read(b []byte) error {
	n, err := io.ReadFull(r.r, b)
	r.at += int64(n)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return r.damaged(r.at, "it breaks off")
	}
	return &ReadError{r.name, err}
}

func (r *Reader) header() error {
	b := make([]byte, headerLen)
	err := r.read(b[:offVersion])
	if errors.As(err, new(*DamageError)) || err == nil && string(b[:offVersion]) != magic {
		return &ReadError{r.name, ErrForeign}
	}
	if err == nil {
		err = r.read(b[offVersion:offBlockSize])
	}
	if err != nil {
		return err
	}
	if v := binary.LittleEndian.Uint32(b[offVersion:]); v != FormatVersion {
		return &ReadError{r.name, &VersionError{v}}
	}
	if err := r.read(b[offBlockSize:]); err != nil {
		return err
	}
	h, problem := decodeHeader(b)
	if problem != "" {
		return r.damaged(0, "%s", problem)
	}
	r.h = h
	r.digest.Write(b)
	return nil
}

// Next returns the next record, whose data are valid until the next call, and
// io.EOF behind the last one if the backup is whole. After an error it returns
// the same again.
func (r *Reader) Next() (Record, error) {
	if r.err == nil && len(r.rest) == 0 {
		r.err = r.nextFrame()
	}
	if r.err != nil {
		return Record{}, r.err
	}
	record, err := r.record()
	if err != nil {
		r.err = err
	}
	return record, err
}

// nextFrame reads a frame. It returns io.EOF if it ends the backup.
func (r *Reader) nextFrame() error {
	le, start := binary.LittleEndian, r.at
	r.frame = append(r.frame[:0], make([]byte, frameHead)...)
	if err := r.read(r.frame); err != nil {
		return err
	}
	n := le.Uint32(r.frame[offLength:])
	if n > MaxFrame {
		return r.damaged(start, "a frame of %d bytes", n)
	}
	r.frame = append(r.frame, make([]byte, n)...)
	if err := r.read(r.frame[frameHead:]); err != nil {
		return err
	}
	if le.Uint32(r.frame[offCRC:]) != frameChecksum(r.frame) {
		return r.damaged(start, "checksum mismatch in a frame")
	}
	if number := le.Uint32(r.frame[offNumber:]); number != r.number {
		return r.damaged(start, "frame %d where frame %d is expected", number, r.number)
	}
	r.number++
	switch kind := le.Uint32(r.frame[offKind:]); {
	case kind == kindEnd:
		return r.end(start)
	case kind != kindRecords || n == 0:
		return r.damaged(start, "a frame of kind %d with %d bytes", kind, n)
	}
	r.digest.Write(r.frame)
	r.rest, r.first = r.frame[frameHead:], true
	return nil
}

// uvarint takes the next number from the frame; ok is false if there is none.
func (r *Reader) uvarint() (x uint64, ok bool) {
	x, n := binary.Uvarint(r.rest)
	if n <= 0 || n > 1 && r.rest[n-1] == 0 {
		return 0, false
	}
	r.rest = r.rest[n:]
	return x, true
}

// record takes the next record from the frame.
func (r *Reader) record() (Record, error) {
	start := r.at - int64(len(r.rest))
	block, ok1 := r.uvarint()
	from, ok2 := r.uvarint()
	size, ok3 := r.uvarint()
	switch {
	case !ok1 || !ok2 || !ok3:
		return Record{}, r.damaged(start, "a record that does not begin with three numbers")
	case size > uint64(r.h.BlockSize) || size > uint64(len(r.rest)):
		return Record{}, r.damaged(start, "a record of %d bytes, where %d are left and a block is %d", size, len(r.rest), r.h.BlockSize)
	case !r.first && block > math.MaxUint64-uint64(r.last):
		return Record{}, r.damaged(start, "a block above all others")
	case !r.first:
		block += uint64(r.last)
	}
	record := Record{Block: occ.BlockID(block), From: occ.Timestamp(from), Data: r.rest[:size:size]}
	if problem := misplaced(r.h, record, r.last, r.done.Records == 0); problem != "" {
		return Record{}, r.damaged(start, "block %d from %d: %s", block, from, problem)
	}
	if bytes.HasSuffix(record.Data, []byte{0}) {
		return Record{}, r.damaged(start, "block %d with zeros at its end", block)
	}
	r.rest = r.rest[size:]
	r.first, r.last = false, record.Block
	r.done.Records++
	r.done.DataBytes += size
	return record, nil
}

// end checks the frame that ends the backup, and that nothing follows.
func (r *Reader) end(start int64) error {
	le, payload := binary.LittleEndian, r.frame[frameHead:]
	switch {
	case len(payload) != endLen:
		return r.damaged(start, "an end of %d bytes", len(payload))
	case le.Uint64(payload) != r.done.Records:
		return r.damaged(start, "an end of %d records, where %d precede it", le.Uint64(payload), r.done.Records)
	case le.Uint64(payload[offDataBytes:]) != r.done.DataBytes:
		return r.damaged(start, "an end of %d bytes of data, where %d precede it", le.Uint64(payload[offDataBytes:]), r.done.DataBytes)
	case !bytes.Equal(payload[offDigest:], r.digest.Sum(nil)):
		return r.damaged(start, "the digest of the whole backup does not match")
	}
	switch _, err := io.ReadFull(r.r, make([]byte, 1)); {
	case err == nil:
		return r.damaged(r.at, "something follows its end")
	case !errors.Is(err, io.EOF):
		return &ReadError{r.name, err}
	}
	return io.EOF
}
