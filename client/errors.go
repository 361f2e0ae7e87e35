package client

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// Errors that are matched with errors.Is.
var (
	// ErrAborted: a read/write transaction did not commit. The error is an
	// *AbortError.
	ErrAborted = errors.New("transaction aborted")
	// ErrConflict: it aborted because something it had read was overwritten.
	// Every ErrConflict is also an ErrAborted.
	ErrConflict = errors.New("conflict")
	// ErrDamaged: the server cannot read data of a block that the transaction
	// reads, or changes a part of. The error is an *AbortError, of a read-only
	// transaction too, and its text names block and version. Writing the whole
	// block makes it good again.
	ErrDamaged = errors.New("data of the store are damaged")
	// ErrGone: a read-only transaction asked for a version that has left the
	// server's retention window. It has to be begun anew; View does so, unless
	// it was to run at a chosen timestamp. The error is a *GoneError.
	ErrGone = errors.New("version has left the retention window")
	// ErrPinned: the name is pinned at another timestamp. The error is a
	// *PinError.
	ErrPinned = errors.New("the name is pinned at another timestamp")
	// ErrNoPin: nothing is pinned under the name. The error is a *PinError.
	ErrNoPin = errors.New("nothing is pinned under this name")
	// ErrPinName: a name must be UTF-8 without control characters. The error is
	// a *PinError.
	ErrPinName = errors.New("a name must be UTF-8 without control characters")
	// ErrStale: a read-only transaction that does not wait for a connection
	// would be older than its bound. The error is a *StaleError.
	ErrStale = errors.New("nothing fresh enough is known")
	// ErrStoreChanged: the server has another store than before, or an older
	// state of it. The error is a *StoreChangedError; AcceptStore goes on.
	ErrStoreChanged = errors.New("the store has changed")
	// ErrOutcomeUnknown: the commit was queued, and then its answer was lost
	// or no longer waited for. It may have happened or not.
	ErrOutcomeUnknown = errors.New("outcome of the commit is unknown")
	// ErrDisconnected: the connection to the server is lost.
	ErrDisconnected = errors.New("disconnected from the server")
	// ErrClosed: the DB has been closed.
	ErrClosed = errors.New("client is closed")
	// ErrReadOnly: a write in a read-only transaction.
	ErrReadOnly = errors.New("transaction is read-only")
	// ErrTxDone: the transaction has already been committed or given up.
	ErrTxDone = errors.New("transaction has ended")
)

// AbortError says why a transaction did not commit. It matches ErrAborted, and
// ErrConflict or ErrDamaged when that is the reason.
type AbortError struct {
	Reason occ.AbortReason
	// Blocks are the blocks that changed, with what is known of the start of
	// their newest versions; empty unless there was a conflict.
	Blocks []occ.Read
	// Refused is the server's reason, if it refused the commit or a read.
	Refused *core.Refusal
	// Attempts is how many times Update tried.
	Attempts int
}

// Error tells the reason and the first blocks.
func (e *AbortError) Error() string {
	var b strings.Builder
	if e.Refused != nil {
		fmt.Fprintf(&b, "transaction aborted: %v", e.Refused) // which says that it was refused
	} else {
		fmt.Fprintf(&b, "transaction aborted: %v", e.Reason)
	}
	for i, r := range e.Blocks {
		if i == 4 {
			fmt.Fprintf(&b, " and %d more", len(e.Blocks)-i)
			break
		}
		fmt.Fprintf(&b, ", block %d changed at %d", r.Block, r.From)
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " (after %d attempts)", e.Attempts)
	}
	return b.String()
}

// Is makes errors.Is work with ErrAborted, ErrConflict and ErrDamaged.
func (e *AbortError) Is(target error) bool {
	return target == ErrAborted || target == ErrConflict && e.conflict() ||
		target == ErrDamaged && e.Refused != nil && e.Refused.Code == wire.CodeDamaged
}

// Unwrap is the server's refusal, if there was one.
func (e *AbortError) Unwrap() error {
	if e.Refused == nil {
		return nil
	}
	return e.Refused
}

func (e *AbortError) conflict() bool {
	return e.Reason == occ.AbortConflict || e.Reason == occ.AbortActive
}

// retriable reports whether running the transaction again can help: after a
// conflict, on the next connection, in a changed store that was accepted, or
// when a server that is stopping, or short of room, has let go of what it had
// under way.
func (e *AbortError) retriable() bool {
	if e.Refused != nil {
		return e.Refused.Code == wire.CodeStopping || e.Refused.Code == wire.CodeBusy
	}
	return e.conflict() || e.Reason == occ.AbortDisconnected || e.Reason == occ.AbortStoreChanged
}

// StaleError says how old the newest sync point is, and what the bound was. It
// matches ErrStale, and ErrDisconnected through its cause.
type StaleError struct {
	Age   time.Duration
	Known bool // whether there is a sync point at all
	Bound time.Duration
	Cause error
}

// Error names age and bound.
func (e *StaleError) Error() string {
	if !e.Known {
		return fmt.Sprintf("nothing fresh enough is known: no sync point, the bound is %v: %v", e.Bound, e.Cause)
	}
	return fmt.Sprintf("nothing fresh enough is known: the newest sync point is %v old, the bound is %v: %v", e.Age, e.Bound, e.Cause)
}

// Is makes errors.Is(err, ErrStale) work.
func (e *StaleError) Is(target error) bool { return target == ErrStale }

// Unwrap is why there is no connection.
func (e *StaleError) Unwrap() error { return e.Cause }

// StoreChangedError says how the store changed. It matches ErrStoreChanged.
type StoreChangedError struct{ core.StoreChange }

// Is makes errors.Is(err, ErrStoreChanged) work.
func (e *StoreChangedError) Is(target error) bool { return target == ErrStoreChanged }

// LimitError says which published limit a call would exceed.
type LimitError struct {
	Name  string
	Limit uint64
	Value uint64
}

// Error names the limit, its size and what was asked for.
func (e *LimitError) Error() string {
	return fmt.Sprintf("too large: %s is %d, the limit is %d", e.Name, e.Value, e.Limit)
}

func checkLimit(name string, value, limit uint64) error {
	if limit > 0 && value > limit {
		return &LimitError{Name: name, Limit: limit, Value: value}
	}
	return nil
}
