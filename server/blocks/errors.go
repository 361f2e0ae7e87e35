package blocks

import (
	"errors"
	"fmt"
	"io"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/disk"
)

var (
	// ErrPoisoned says that writing failed earlier: nothing is written any
	// more. The error that wraps it names the first failure.
	ErrPoisoned = errors.New("the block store stopped writing after an error")
	// ErrBusy says that a checkpoint is under way.
	ErrBusy = errors.New("a checkpoint is under way")
	// ErrDropped says that there is no such version (any more).
	ErrDropped = errors.New("the version was dropped")
	// ErrFull says that the block file has layout.MaxSlots slots, all in use.
	ErrFull = errors.New("the block file has as many slots as it can have")
	// ErrClosed says that the Store was closed.
	ErrClosed = errors.New("the block store is closed")
)

// CorruptError says that a file is not as it was written.
type CorruptError struct {
	File   string // see disk.Path
	Offset int64  // of the damage, or of the structure that is damaged
	// Block and From name the version whose data are damaged; From is 0 if
	// the damage is to no version's data.
	Block  occ.BlockID
	From   occ.Timestamp
	Reason string
}

// Error returns one line.
func (e *CorruptError) Error() string {
	version := ""
	if e.From > 0 {
		version = fmt.Sprintf(", block %d from %d", e.Block, e.From)
	}
	return fmt.Sprintf("block store is damaged: %s, offset %d%s: %s", e.File, e.Offset, version, e.Reason)
}

// VersionError says that a file has a format version that this program does
// not know.
type VersionError struct {
	File    string // see disk.Path
	Offset  int64
	Version uint32
}

// Error returns one line.
func (e *VersionError) Error() string {
	return fmt.Sprintf("block store has format version %d, this program knows %d: %s, offset %d",
		e.Version, layout.FormatVersion, e.File, e.Offset)
}

// OwnerError says that a file belongs to another store, or has blocks of
// another size.
type OwnerError struct {
	File       string // see disk.Path
	Have, Want layout.Owner
}

// Error returns one line.
func (e *OwnerError) Error() string {
	return fmt.Sprintf("%s belongs to store %v with blocks of %d bytes, not to %v with blocks of %d",
		e.File, e.Have.Store, e.Have.BlockSize, e.Want.Store, e.Want.BlockSize)
}

// OptionsError says that an option is out of its range.
type OptionsError struct {
	Option string
	Value  int64
}

// Error returns one line.
func (e *OptionsError) Error() string {
	return fmt.Sprintf("block store: option %s cannot be %d", e.Option, e.Value)
}

// IOError says that the disk failed.
type IOError struct {
	Op    string // what was tried
	File  string // its name
	Cause error
}

// Error returns one line.
func (e *IOError) Error() string { return fmt.Sprintf("%s %s: %v", e.Op, e.File, e.Cause) }

// Unwrap returns the cause.
func (e *IOError) Unwrap() error { return e.Cause }

// placed gives an error that says what is wrong with a file the file's path,
// if it has one. An error of the operating system has it already.
func (s *Store) placed(err error) error {
	var corrupt *CorruptError
	var version *VersionError
	var owner *OwnerError
	switch {
	case errors.As(err, &corrupt):
		corrupt.File = disk.Path(s.disk, corrupt.File)
	case errors.As(err, &version):
		version.File = disk.Path(s.disk, version.File)
	case errors.As(err, &owner):
		owner.File = disk.Path(s.disk, owner.File)
	}
	return err
}

// located gives an error of decoding or reading its place: what was decoded
// begins at offset at of the file.
func located(file string, at int64, err error) error {
	var damage *layout.Damage
	var version *layout.VersionError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &damage):
		return &CorruptError{File: file, Offset: at + damage.Offset, Reason: damage.Reason}
	case errors.As(err, &version):
		return &VersionError{File: file, Offset: at, Version: version.Version}
	case errors.Is(err, io.EOF):
		return &CorruptError{File: file, Offset: at, Reason: "the file ends"}
	}
	return &IOError{Op: "read", File: file, Cause: err}
}
