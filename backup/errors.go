package backup

import (
	"errors"
	"fmt"
)

// ErrForeign says that a file does not begin as a backup does.
var ErrForeign = errors.New("this is no backup of a Tidemark store")

// ReadError says that a backup could not be read: its Cause is ErrForeign, a
// *VersionError, or an error of whoever supplies the bytes.
type ReadError struct {
	Name  string // of the backup
	Cause error
}

// Error returns one line.
func (e *ReadError) Error() string { return fmt.Sprintf("backup %s: %v", e.Name, e.Cause) }

// Unwrap returns the cause.
func (e *ReadError) Unwrap() error { return e.Cause }

// VersionError says that a backup has a format version that this program does
// not know.
type VersionError struct{ Version uint32 }

// Error returns one line.
func (e *VersionError) Error() string {
	return fmt.Sprintf("it has format version %d, this program knows %d", e.Version, FormatVersion)
}

// DamageError says that a backup is not as it was written.
type DamageError struct {
	Name   string // of the backup
	Offset int64  // of what is damaged
	Reason string
}

// Error returns one line.
func (e *DamageError) Error() string {
	return fmt.Sprintf("backup %s is damaged: offset %d: %s", e.Name, e.Offset, e.Reason)
}

// HeaderError says that a header describes no backup.
type HeaderError struct{ Reason string }

// Error returns one line.
func (e *HeaderError) Error() string { return "no backup can be: " + e.Reason }

// RecordError says that a record has no place where it was to be added.
type RecordError struct {
	Record Record // without its data
	Reason string
}

// Error returns one line.
func (e *RecordError) Error() string {
	return fmt.Sprintf("block %d from %d cannot go into a backup: %s", e.Record.Block, e.Record.From, e.Reason)
}

// ChainError says that a backup does not go on from the one before it.
type ChainError struct {
	Name   string // of the backup
	Reason string
}

// Error returns one line.
func (e *ChainError) Error() string {
	return fmt.Sprintf("backup %s does not fit: %s", e.Name, e.Reason)
}
