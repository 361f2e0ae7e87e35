package traces

import (
	"bytes"
	"io"
)

const (
	// MaxLine is the length in bytes, newline not counted, beyond which a
	// line is refused unread. A real line has about 85.
	MaxLine = 4096

	bufferSize = 64 << 10 // at least MaxLine+1
	emptyReads = 100      // reads without a byte or an error before giving up

	tooLong = "line is over 4096 bytes"
)

// Options say how to read a trace. The zero value is strict.
type Options struct {
	// SkipUnknown passes over lines that are not operations, and counts
	// them, instead of stopping at the first.
	SkipUnknown bool
	// Once says that the trace will be opened only once: then standard input
	// and pipes are read as they come, and not spooled.
	Once bool
	// Watch, if not nil, is called before each read of the file, with the
	// bytes of it read so far, compressed as they are, and its size, -1 while
	// standard input is spooled or read as it comes. An error that it returns ends the reading.
	// Inputs of one Source that are read at the same time call it at the same
	// time.
	Watch func(read, size int64) error
}

// Reader reads the operations of a trace in the text form, in the order of its
// lines. It is not safe for concurrent use. Memory is constant: a buffer of
// 64 KiB.
type Reader struct {
	name string
	opt  Options
	text io.Reader

	buf        []byte
	head, tail int // buf[head:tail] is read but not yet used
	readErr    error

	line    int64 // lines begun so far
	ops     int64
	skipped int64
	first   *LineError // the first line skipped
	err     error      // final
}

// NewReader reads a trace in the text form from r, which is not compressed.
// The name stands in error messages. The reader reads ahead and does not close
// r.
func NewReader(r io.Reader, name string, opt Options) *Reader {
	return &Reader{name: name, opt: opt, text: r, buf: make([]byte, bufferSize)}
}

// Next returns the next operation, and io.EOF after the last. A line that is
// not an operation is a *LineError, any other failure a *StreamError; one
// that is ErrEmpty says that there was no operation at all. Nothing follows
// an error.
func (r *Reader) Next() (Op, error) {
	for r.err == nil {
		line, err := r.nextLine()
		if err != nil {
			r.err = err
			break
		}
		op, bad := Op{}, fault{reason: tooLong}
		if len(line) <= MaxLine {
			if op, bad = parse(line); bad.reason == "" {
				op.Line = r.line
				r.ops++
				return op, nil
			}
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
		}
		r.refuse(bad)
	}
	return Op{}, r.err
}

// refuse skips the current line, or makes it the end.
func (r *Reader) refuse(bad fault) {
	if r.opt.SkipUnknown && r.first != nil {
		r.skipped++
		return
	}
	e := &LineError{File: r.name, Line: r.line, Reason: bad.String()}
	if !r.opt.SkipUnknown {
		r.err = e
		return
	}
	r.first, r.skipped = e, 1
}

// nextLine returns the next line without its newline, valid until the next
// call. Of a line that is too long it returns only the last part that was
// read, which still is longer than MaxLine.
func (r *Reader) nextLine() ([]byte, error) {
	for {
		if i := bytes.IndexByte(r.buf[r.head:r.tail], '\n'); i >= 0 {
			line := r.buf[r.head : r.head+i]
			r.head += i + 1
			r.line++
			return line, nil
		}
		if r.readErr != nil {
			return r.lastLine()
		}
		if r.tail-r.head == len(r.buf) {
			// Far too long: keep enough to know it by.
			r.head = r.tail - (MaxLine + 1)
		}
		r.fill()
	}
}

// lastLine returns what follows the last newline, or why there is no more.
func (r *Reader) lastLine() ([]byte, error) {
	if r.readErr != io.EOF {
		return nil, r.failure(r.readErr)
	}
	if r.head < r.tail {
		line := r.buf[r.head:r.tail]
		r.head = r.tail
		r.line++
		return line, nil
	}
	if r.ops == 0 {
		return nil, r.failure(ErrEmpty)
	}
	return nil, io.EOF
}

func (r *Reader) failure(err error) error {
	e := &StreamError{File: r.name, Line: r.line, Err: err}
	if err == ErrEmpty && r.first != nil {
		e.Detail = "every line was skipped, the first because: " + r.first.Reason
	}
	return e
}

// fill moves the unused bytes to the front of the buffer and reads more.
func (r *Reader) fill() {
	r.tail = copy(r.buf, r.buf[r.head:r.tail])
	r.head = 0
	for range emptyReads {
		n, err := r.text.Read(r.buf[r.tail:])
		r.tail += n
		if err != nil {
			r.readErr = err
		}
		if n > 0 || err != nil {
			return
		}
	}
	r.readErr = io.ErrNoProgress
}

// Skipped returns how many lines were skipped so far and the first of them.
func (r *Reader) Skipped() (int64, *LineError) { return r.skipped, r.first }

// Format names the format.
func (r *Reader) Format() string { return "Auspex text" }

// Close ends the reading. Later calls of Next fail; a second Close does
// nothing.
func (r *Reader) Close() error {
	r.head, r.tail = 0, 0
	if r.err == nil {
		r.err = &StreamError{File: r.name, Line: r.line, Err: ErrClosed}
	}
	return nil
}
