package binary

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/tidemark/tidemark/traces"
)

// Reader reads the operations of a file. Its memory is that of one block, and
// it allocates for places only. It is not safe for concurrent use.
type Reader struct {
	r       io.Reader
	name    string
	buf     []byte // one payload
	at      int64  // bytes of the file before the block at hand, 0 in the header
	next    int64  // bytes of the file read so far
	number  uint64 // of the block at hand
	total   uint64 // operations before the block at hand
	count   uint32 // operations of the block at hand
	decoder decoder
	err     error
}

// NewReader reads a file from r, in which name stands for it in messages, and
// reads its header. What is not in this form is a *traces.StreamError with
// ErrCut, ErrDamaged or ErrVersion. No option concerns this form.
func NewReader(r io.Reader, name string, _ traces.Options) (*Reader, error) {
	in := &Reader{r: r, name: name, buf: make([]byte, MaxPayload)}
	h := in.buf[:headerLen]
	if err := in.fill(h); err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	switch v := le.Uint32(h[len(magic):]); {
	case !Recognize(h) || crc32.Checksum(h[:12], castagnoli) != le.Uint32(h[12:]):
		return nil, in.damage("does not match its checksum")
	case v != version:
		return nil, in.failure(ErrVersion, fmt.Sprintf("version %d", v))
	}
	return in, nil
}

// Next returns the next operation, and io.EOF after the last. Any other error
// is a *traces.StreamError, whose Detail names the damaged block and the byte
// at which it begins; of a damaged block no operation is returned that its
// checksum does not cover.
func (in *Reader) Next() (traces.Op, error) {
	if in.err == nil && in.decoder.left == 0 {
		in.block()
	}
	if in.err != nil {
		return traces.Op{}, in.err
	}
	op, ok := in.decoder.next()
	if !ok || in.decoder.left == 0 && len(in.decoder.rest) > 0 || op.Check() != nil {
		// The checksum is right: whoever wrote the block wrote it wrong.
		in.err = in.damage("holds what is no operation")
		return traces.Op{}, in.err
	}
	return op, nil
}

// block reads the next block, or the end.
func (in *Reader) block() {
	if in.count > 0 {
		in.number++
		in.total += uint64(in.count)
	}
	in.at = in.next
	head := in.buf[:blockHead]
	if in.err = in.fill(head); in.err != nil {
		return
	}
	le := binary.LittleEndian
	length, count, sum := le.Uint32(head), le.Uint32(head[4:]), le.Uint32(head[8:])
	if length == 0 {
		in.end()
		return
	}
	// An operation takes five bytes at least.
	if length > MaxPayload || count == 0 || count > length/5 {
		in.err = in.damage("has an impossible length or count")
		return
	}
	expected := [8]byte(head[:8])
	payload := in.buf[:length]
	if in.err = in.fill(payload); in.err != nil {
		return
	}
	if checksum(in.number, expected[:], payload) != sum {
		in.err = in.damage("does not match its checksum")
		return
	}
	in.count = count
	in.decoder.begin(payload, count)
}

// end reads the rest of the end. The first blockHead bytes are in the buffer.
func (in *Reader) end() {
	if in.err = in.fill(in.buf[blockHead:endLen]); in.err != nil {
		return
	}
	le := binary.LittleEndian
	end := in.buf[:endLen]
	if checksum(in.number, end[:12], nil) != le.Uint32(end[12:]) {
		in.err = in.damage("does not match its checksum")
		return
	}
	if n := le.Uint64(end[4:]); n != in.total {
		in.err = in.failure(ErrDamaged, fmt.Sprintf("%d operations were read, the end says %d", in.total, n))
		return
	}
	switch _, err := io.ReadFull(in.r, in.buf[:1]); {
	case err == nil:
		in.err = in.failure(ErrDamaged, fmt.Sprintf("something follows the end, at byte %d", in.next))
	case err != io.EOF:
		in.err = in.failure(err, "")
	case in.total == 0:
		in.err = in.failure(traces.ErrEmpty, "")
	default:
		in.err = io.EOF
	}
}

// fill reads all of p.
func (in *Reader) fill(p []byte) error {
	n, err := io.ReadFull(in.r, p)
	in.next += int64(n)
	switch err {
	case nil:
		return nil
	case io.EOF, io.ErrUnexpectedEOF:
		return in.failure(ErrCut, in.where())
	}
	return in.failure(err, "")
}

// where names the block at hand and the byte at which it begins.
func (in *Reader) where() string {
	if in.at == 0 {
		return "header"
	}
	return fmt.Sprintf("block %d at byte %d", in.number, in.at)
}

// damage is an error of the block at hand.
func (in *Reader) damage(what string) error {
	return in.failure(ErrDamaged, in.where()+" "+what)
}

func (in *Reader) failure(err error, detail string) error {
	return &traces.StreamError{File: in.name, Err: err, Detail: detail}
}

// Skipped returns nothing: whatever is no operation ends the reading.
func (in *Reader) Skipped() (int64, *traces.LineError) { return 0, nil }

// Format names the format.
func (in *Reader) Format() string { return "Tidemark binary trace" }

// Close ends the reading. Later calls of Next fail.
func (in *Reader) Close() error {
	if in.err == nil {
		in.err = in.failure(traces.ErrClosed, "")
	}
	return nil
}
