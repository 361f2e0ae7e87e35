package traces

import (
	"errors"
	"fmt"
)

// What can be wrong with a trace as a whole. They arrive wrapped in a
// StreamError that names the file.
var (
	ErrEmpty     = errors.New("the trace holds no operation")
	ErrTruncated = errors.New("the compressed data end too early")
	ErrCorrupt   = errors.New("the compressed data are damaged")
	ErrWindow    = fmt.Errorf("unpacking needs a window of more than %d MiB", maxWindow>>20)
	ErrFormat    = errors.New("not in a format that can be read")
	ErrTooLarge  = fmt.Errorf("standard input is over the spool limit of %d GiB", spoolLimit>>30)
	ErrClosed    = errors.New("already closed")
	ErrOnce      = errors.New("can be read only once")
	ErrDirectory = errors.New("it is a directory")
)

// LineError is a line that is not an operation.
type LineError struct {
	File   string // as given to the Reader; "" if the line stands alone
	Line   int64  // from 1; 0 if the line stands alone
	Reason string // one line
}

func (e *LineError) Error() string {
	if e.File == "" {
		return e.Reason
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason)
}

// StreamError is a trace that cannot be read, or not further.
type StreamError struct {
	File string
	Line int64 // whole lines read before; 0 if none
	Err  error // one of the errors above, or the operating system's
	// Detail says more about Err, in one line; "" if there is no more.
	Detail string
}

func (e *StreamError) Error() string {
	s := e.File + ": "
	if e.Line > 0 {
		s += fmt.Sprintf("after line %d: ", e.Line)
	}
	s += e.Err.Error()
	if e.Detail != "" {
		s += " (" + e.Detail + ")"
	}
	return s
}

func (e *StreamError) Unwrap() error { return e.Err }

// OpError is an operation that cannot be, see Op.Check.
type OpError struct {
	Line   int64 // the operation's line, 0 if it has none
	Reason string
}

func (e *OpError) Error() string {
	if e.Line == 0 {
		return "impossible operation: " + e.Reason
	}
	return fmt.Sprintf("impossible operation on line %d: %s", e.Line, e.Reason)
}
