package wire

import (
	"io"
	"math"
)

// readerBytes is the buffer of a Reader between unusually large frames:
// sixteen replies of 4 KiB fit one read of the connection.
const readerBytes = 64 << 10

// maxEmptyReads is how many reads in a row may return nothing at all.
const maxEmptyReads = 100

// Reader cuts a stream into frames. Whatever one read of the underlying
// reader brings is handed out frame by frame before the next. It is not safe
// for concurrent use.
type Reader struct {
	r   io.Reader
	max uint64
	buf []byte // buf[:end] has been read, buf[:at] has been handed out
	at  int
	end int
	err error // of the underlying reader, reported when the bytes before it are used up
}

// NewReader returns a Reader of frames of at most max bytes, counted without
// their prefix, and never of more than 2 GiB.
func NewReader(r io.Reader, max uint64) *Reader {
	return &Reader{r: r, max: min(max, math.MaxInt32), buf: make([]byte, readerBytes)}
}

// Buffered returns how many bytes have arrived beyond the frames that Next
// has handed out if they begin with a whole frame, else 0: as long as it is
// not 0, Next does not wait. A loop that drains it before it wakes anybody
// wakes them once for everything that came together.
func (r *Reader) Buffered() int {
	size, n, err := frameSize(r.buf[r.at:r.end], r.max)
	if err != nil || n == 0 || size > uint64(r.end-r.at-n) {
		return 0
	}
	return r.end - r.at
}

// Partial reports whether the beginning of a frame has arrived, and not all of
// it, when the underlying reader is read.
func (r *Reader) Partial() bool { return r.at < r.end }

// Next returns the next frame without its length prefix. The bytes are valid
// until the next call. At the end of the stream the error is io.EOF, inside a
// frame io.ErrUnexpectedEOF; a bad prefix gives the errors of SplitFrame.
// After an error every further call returns it again.
func (r *Reader) Next() ([]byte, error) {
	for empty := 0; ; {
		size, n, err := frameSize(r.buf[r.at:r.end], r.max)
		if err != nil {
			return nil, err
		}
		if n > 0 && size <= uint64(r.end-r.at-n) {
			from := r.at + n
			r.at = from + int(size)
			return r.buf[from:r.at:r.at], nil
		}
		if r.err != nil {
			return nil, r.failure()
		}
		r.makeRoom(uint64(n) + size)
		got, err := r.r.Read(r.buf[r.end:])
		r.end += got
		r.err = err
		if got > 0 {
			empty = 0
		} else if empty++; empty == maxEmptyReads && err == nil {
			r.err = io.ErrNoProgress
		}
	}
}

// failure is the error of the underlying reader, seen from the frames.
func (r *Reader) failure() error {
	if r.err == io.EOF && r.at < r.end {
		return io.ErrUnexpectedEOF
	}
	return r.err
}

// makeRoom moves the beginning of a frame of want bytes (0 if that is not
// known) to the front of the buffer, which it exchanges for a larger one only
// when what has arrived fills it, and for one of the usual size as soon as
// that is enough again.
func (r *Reader) makeRoom(want uint64) {
	have := r.end - r.at
	size := len(r.buf)
	switch {
	case size > readerBytes && have < readerBytes && want <= readerBytes:
		size = readerBytes
	case have == size:
		size = int(min(2*uint64(size), max(want, readerBytes)))
	}
	next := r.buf
	switch {
	case size != len(r.buf):
		next = make([]byte, size)
	case r.at == 0:
		return
	}
	copy(next, r.buf[r.at:r.end])
	r.buf, r.at, r.end = next, 0, have
}
