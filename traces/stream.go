package traces

import (
	"errors"
	"io"
	"iter"
)

// Stream is a sequence of operations. Next returns io.EOF after the last one;
// an error is final and returned again by every later call.
type Stream interface {
	Next() (Op, error)
}

// Input is a Stream that holds a file open. It must be closed.
type Input interface {
	Stream
	io.Closer
	// Skipped returns how many lines were passed over so far because they
	// are not operations, and the first of them, nil if there is none.
	Skipped() (int64, *LineError)
}

// Finding is something that was counted while a trace was read.
type Finding struct {
	// Group is what the finding is listed under, such as "NFS version 3
	// calls", and Name is what was counted, such as "WRITE".
	Group string `json:"group"`
	Name  string `json:"name"`
	Count int64  `json:"count"`
	// Odd marks what a sound trace would not have: damage, loss, repetition.
	Odd bool `json:"odd,omitempty"`
}

// Reporter is an Input whose format tells more than its operations.
type Reporter interface {
	Input
	// Findings returns what was counted so far and is not zero, in the order
	// in which it is to be shown. It is complete at the end of the trace.
	Findings() []Finding
}

// Findings returns what an Input found, nil if it is no Reporter.
func Findings(in Input) []Finding {
	if r, ok := in.(Reporter); ok {
		return r.Findings()
	}
	return nil
}

// Formatted is an Input that can say what format it reads.
type Formatted interface {
	Input
	// Format names the format, such as "Auspex text, gzip".
	Format() string
}

// Format names the format that an Input reads, "" if it does not say.
func Format(in Input) string {
	if f, ok := in.(Formatted); ok {
		return f.Format()
	}
	return ""
}

// Slice returns a Stream of the given operations, which it does not copy.
func Slice(ops []Op) Stream { return &slice{ops} }

type slice struct{ rest []Op }

func (s *slice) Next() (Op, error) {
	if len(s.rest) == 0 {
		return Op{}, io.EOF
	}
	op := s.rest[0]
	s.rest = s.rest[1:]
	return op, nil
}

// All ranges over the rest of a stream. It stops at the end or after the
// first error, which comes with a zero Op.
func All(s Stream) iter.Seq2[Op, error] {
	return func(yield func(Op, error) bool) {
		for {
			op, err := s.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(op, err) || err != nil {
				return
			}
		}
	}
}
