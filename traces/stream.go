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
