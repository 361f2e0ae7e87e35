package nfsdump

import (
	"bytes"
	"io"
)

const (
	// MaxLine is the length in bytes of the longest line that is looked at.
	// Only lists of directory entries come near it.
	MaxLine = 256 << 10

	bufferSize = 2 * MaxLine
	emptyReads = 100 // reads without a byte or an error before giving up
)

// lines cuts text at its newlines.
type lines struct {
	r          io.Reader
	buf        []byte
	head, tail int // buf[head:tail] is read but not yet used
	err        error
	count      int64 // lines begun so far
}

// line is a line without its newline, valid until the next one is read.
type line struct {
	text   []byte // nil if it is too long
	zeros  bool   // of one that is too long, whether it holds zero bytes
	cutOff bool   // no newline follows
}

// next returns the next line, or what ended the text.
func (l *lines) next() (line, error) {
	found := line{}
	tooLong := false
	for from := l.head; ; {
		if i := bytes.IndexByte(l.buf[from:l.tail], '\n'); i >= 0 {
			found.text = l.buf[l.head : from+i]
			l.head = from + i + 1
			break
		}
		if l.err != nil {
			if l.head == l.tail && !tooLong {
				return line{}, l.err
			}
			found.text, found.cutOff = l.buf[l.head:l.tail], true
			l.head = l.tail
			break
		}
		if l.tail-l.head > MaxLine {
			tooLong = true
			found.zeros = found.zeros || bytes.IndexByte(l.buf[l.head:l.tail], 0) >= 0
			l.head = l.tail
		}
		have := l.tail - l.head
		l.fill()
		from = l.head + have
	}
	l.count++
	if tooLong || len(found.text) > MaxLine {
		found.zeros = found.zeros || bytes.IndexByte(found.text, 0) >= 0
		found.text = nil
	}
	return found, nil
}

// fill moves the unused bytes to the front of the buffer and reads more.
func (l *lines) fill() {
	l.tail = copy(l.buf, l.buf[l.head:l.tail])
	l.head = 0
	for range emptyReads {
		n, err := l.r.Read(l.buf[l.tail:])
		l.tail += n
		if err != nil {
			l.err = err
		}
		if n > 0 || err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}
