package wal

import (
	"fmt"

	"github.com/tidemark/tidemark/occ"
)

// CorruptError says that entries which were durable are missing or damaged.
// The log is refused and left as it is.
type CorruptError struct {
	// Segment is the path of the file.
	Segment string
	// Offset is the byte at which the damage begins.
	Offset int64
	// Index is the log index of the entry that should stand there.
	Index uint64
	// Reason says what was found.
	Reason string
}

// Error returns one line.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("commit log is damaged: %s, offset %d, entry %d: %s", e.Segment, e.Offset, e.Index, e.Reason)
}

// VersionError says that a file of the log has a format version that this
// program does not know.
type VersionError struct {
	Segment string
	Offset  int64
	Version uint32
}

// Error returns one line.
func (e *VersionError) Error() string {
	return fmt.Sprintf("commit log has format version %d, this program knows %d: %s, offset %d",
		e.Version, formatVersion, e.Segment, e.Offset)
}

// StoreError says that an entry belongs to another store.
type StoreError struct {
	Segment    string
	Offset     int64
	Have, Want occ.StoreID
}

// Error returns one line.
func (e *StoreError) Error() string {
	return fmt.Sprintf("commit log belongs to store %v, not to %v: %s, offset %d", e.Have, e.Want, e.Segment, e.Offset)
}
