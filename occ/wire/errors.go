package wire

import (
	"errors"
	"fmt"
)

// ErrFrameTooLarge is what errors.Is finds in a *FrameTooLargeError.
var ErrFrameTooLarge = errors.New("wire: frame too large")

// FrameTooLargeError says that a frame announced more bytes than the reader
// takes. Nothing has been allocated for it; the stream cannot be read on.
type FrameTooLargeError struct {
	Limit uint64 // bytes, without the length prefix
	Value uint64 // what the prefix announced
}

// Error implements error.
func (e *FrameTooLargeError) Error() string {
	return fmt.Sprintf("%v: %d bytes, limit %d", ErrFrameTooLarge, e.Value, e.Limit)
}

// Is makes errors.Is(err, ErrFrameTooLarge) true.
func (e *FrameTooLargeError) Is(target error) bool { return target == ErrFrameTooLarge }

// DecodeError says where and why bytes are not a message. After it the
// stream is still at a frame boundary, but a peer that sends such bytes
// cannot be trusted to mean anything by the next ones.
type DecodeError struct {
	Type   Type   // what the message claims to be; 0 before that is known
	Field  string // which field
	Reason string
}

// Error implements error.
func (e *DecodeError) Error() string {
	if e.Type == 0 {
		return fmt.Sprintf("wire: %s: %s", e.Field, e.Reason)
	}
	return fmt.Sprintf("wire: %v: %s: %s", e.Type, e.Field, e.Reason)
}
