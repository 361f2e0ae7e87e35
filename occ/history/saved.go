package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tidemark/tidemark/occ"
)

// MaxLine is the longest line of a saved history, in bytes, its newline not
// counted. A Writer refuses to write a longer one.
const MaxLine = 16 << 20

// ErrLineTooLong is the cause of an error about a line longer than MaxLine.
var ErrLineTooLong = errors.New("line too long")

// LineError says which line of a saved history could not be read or written.
type LineError struct {
	Line int // counted from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("history: line %d: %v", e.Line, e.Err) }

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// Writer saves a history as JSON lines in the order in which it is given, so
// that ReadEvents can have it judged again. Nothing is complete before Flush.
type Writer struct {
	out   *bufio.Writer
	lines int
	err   error
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{out: bufio.NewWriter(w)} }

// Record saves an event. Like all methods that write, it does nothing after an
// error; Flush returns the error.
func (w *Writer) Record(e Event) {
	if e.Kind >= kinds && w.err == nil {
		w.err = &LineError{w.lines + 1, fmt.Errorf("no such kind of event: %v", e.Kind)}
	}
	w.write(line{Event: eventToLine(e)})
}

// Unknown saves a commit whose client never learned that it happened.
func (w *Writer) Unknown(ts occ.Timestamp, writes []occ.BlockID) {
	w.write(line{Unknown: &unknownLine{ts, writes}})
}

// InDoubt saves that there was one more commit in doubt.
func (w *Writer) InDoubt() { w.write(line{InDoubt: true}) }

// Applied saves a point of the server's progress.
func (w *Writer) Applied(t time.Duration, stable occ.Timestamp) {
	w.write(line{Applied: &appliedLine{t, stable}})
}

// Flush writes out what is buffered and returns the first error of all writes.
func (w *Writer) Flush() error {
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return w.err
}

func (w *Writer) write(l line) {
	if w.err != nil {
		return
	}
	w.lines++
	text, err := json.Marshal(l)
	if err == nil && len(text) > MaxLine {
		err = ErrLineTooLong
	}
	if err == nil {
		_, err = w.out.Write(append(text, '\n'))
	}
	if err != nil {
		w.err = &LineError{w.lines, err}
	}
}

// WriteEvents saves events that are held in a slice.
func WriteEvents(w io.Writer, events []Event) error {
	out := NewWriter(w)
	for _, e := range events {
		out.Record(e)
	}
	return out.Flush()
}

// ReadEvents gives a saved history to a sink, line by line; the sink owns the
// slices that it gets. At the first line that is not as a Writer writes it,
// it stops with a *LineError; the lines before have been given. It holds one
// line at a time.
func ReadEvents(r io.Reader, to Sink) error {
	in := bufio.NewScanner(r)
	in.Buffer(nil, MaxLine+2) // room for the newline, and for the scanner to see that there is no more
	n := 0
	for in.Scan() {
		n++
		err := ErrLineTooLong
		if len(in.Bytes()) <= MaxLine {
			err = deliver(in.Bytes(), to)
		}
		if err != nil && in.Err() != nil {
			err = in.Err() // the line was cut off by a failed read
		}
		if err != nil {
			return &LineError{n, err}
		}
	}
	switch err := in.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return &LineError{n + 1, ErrLineTooLong}
	case err != nil:
		return &LineError{n + 1, err}
	}
	return nil
}
