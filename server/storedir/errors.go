package storedir

import (
	"errors"
	"fmt"
)

var (
	// ErrLocked: another server, or another Dir of this one, uses the store.
	ErrLocked = errors.New("store is in use by another server")
	// ErrForeign: the directory holds something, but no store.
	ErrForeign = errors.New("directory is not empty and holds no store")
	// ErrDamaged: the store file fails its checksum or is no store file.
	ErrDamaged = errors.New("store file is damaged")
	// ErrOlder: the store file is not the one under which the store was last
	// written: its epoch had passed already.
	ErrOlder = errors.New("store file is older than the store in the directory")
	// ErrClosed: the Dir was closed.
	ErrClosed = errors.New("store directory is closed")
)

// Error says which directory could not be used and why. Its cause is one of
// the errors above, a *VersionError, a *BlockSizeError, or an error of the
// operating system.
type Error struct {
	Dir   string
	Cause error
}

// Error returns one line.
func (e *Error) Error() string { return fmt.Sprintf("data directory %s: %v", e.Dir, e.Cause) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// VersionError: the store file has a format version that this program does
// not know.
type VersionError struct {
	Version uint32
}

// Error returns one line.
func (e *VersionError) Error() string {
	return fmt.Sprintf("store has format version %d, this program knows %d", e.Version, formatVersion)
}

// BlockSizeError: a block size was asked for that is out of range, or that
// is not the one that the store was created with.
type BlockSizeError struct {
	// Want was asked for, Have is that of the store, 0 if there is none yet.
	Want, Have int
}

// Error returns one line.
func (e *BlockSizeError) Error() string {
	if e.Have == 0 {
		return fmt.Sprintf("block size %d is not between 1 and %d", e.Want, MaxBlockSize)
	}
	return fmt.Sprintf("store has blocks of %d bytes, not %d", e.Have, e.Want)
}
