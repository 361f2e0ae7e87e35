package client

import (
	"errors"
	"fmt"

	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// GoneError says that a timestamp can no longer be read, and which can. It
// matches ErrGone.
type GoneError struct {
	// At is the timestamp that was asked for.
	At occ.Timestamp
	// Oldest is the oldest timestamp from which on all could be read when the
	// server said so; older ones only if they are pinned.
	Oldest occ.Timestamp
}

// Error names both timestamps.
func (e *GoneError) Error() string {
	return fmt.Sprintf("timestamp %d has left the retention window, the oldest that can be read is %d", e.At, e.Oldest)
}

// Is makes errors.Is(err, ErrGone) work.
func (e *GoneError) Is(target error) bool { return target == ErrGone }

// FutureError says that the store has not got to a timestamp yet.
type FutureError struct {
	// At is the timestamp that was asked for, and Newest the newest one.
	At, Newest occ.Timestamp
}

// Error names both timestamps.
func (e *FutureError) Error() string {
	return fmt.Sprintf("timestamp %d is to come: the newest is %d", e.At, e.Newest)
}

// gone is the error of a transaction that needs a version which is gone. The
// caller holds mu.
func (tx *Tx) gone() error {
	at, oldest := tx.t.GoneAt()
	return &GoneError{At: at, Oldest: oldest}
}

// PinError says what is wrong with the name of a pin. It matches ErrPinned,
// ErrNoPin or ErrPinName.
type PinError struct {
	Name string
	// At is where the name is pinned, if it is.
	At    occ.Timestamp
	Cause error
}

// Error names the pin.
func (e *PinError) Error() string {
	if e.Cause == ErrPinned {
		return fmt.Sprintf("pin %q: %v, %d", e.Name, e.Cause, e.At)
	}
	return fmt.Sprintf("pin %q: %v", e.Name, e.Cause)
}

// Unwrap is ErrPinned, ErrNoPin or ErrPinName.
func (e *PinError) Unwrap() error { return e.Cause }

// snapshotError makes the refusals of requests about pins and timestamps what
// they mean.
func snapshotError(name string, err error) error {
	var r *core.Refusal
	if !errors.As(err, &r) {
		return err
	}
	switch r.Code {
	case wire.CodeGone:
		return &GoneError{At: occ.Timestamp(r.Value), Oldest: occ.Timestamp(r.Limit)}
	case wire.CodePinned:
		return &PinError{Name: name, At: occ.Timestamp(r.Value), Cause: ErrPinned}
	case wire.CodeNoPin:
		return &PinError{Name: name, Cause: ErrNoPin}
	case wire.CodePinName:
		return &PinError{Name: name, Cause: ErrPinName}
	}
	return err
}
