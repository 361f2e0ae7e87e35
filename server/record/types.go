package record

import (
	"time"

	"github.com/tidemark/tidemark/occ"
)

// Limits on what one log entry may hold. A group is at most MaxGroupBytes,
// or it is a single record of at most MaxTransactionBytes.
const (
	// MaxGroupBytes bounds the encoding of a group of several records.
	MaxGroupBytes = 1 << 20
	// MaxTransactionBytes bounds the encoding of one record.
	MaxTransactionBytes = 16 << 20
	// MaxName bounds the name of a pin, in bytes.
	MaxName = 255
	// GroupOverhead is the most that a group takes besides its records.
	GroupOverhead = 1 + maxVarintLen
	// MaxEncodedBytes bounds every group: Decode refuses longer input before
	// it looks at it.
	MaxEncodedBytes = MaxTransactionBytes + GroupOverhead
)

// Group is what one entry of the commit log says: the records that become
// durable together, in the order in which they are applied. The store, the
// epoch, the log index and the checksum of the predecessor stand in the
// header of the log entry, not here.
type Group struct {
	Records []Record
}

// Record is one thing that a reader of the log must know to reach the same
// state: a pointer to one of the struct types below. The set is closed.
type Record interface {
	kind() byte
	size() int
	appendTo(dst []byte) []byte
}

// Commit is a read/write transaction that passed validation.
type Commit struct {
	// At is the commit timestamp.
	At occ.Timestamp
	// Session and Seq name the request; Digest is the checksum of its
	// content, so that a reused number is noticed.
	Session occ.SessionID
	Seq     uint64
	// Acked says that the client has seen the outcomes up to this number.
	Acked  uint64
	Digest uint32
	// Writes is the write set in the order of the request: whole blocks, or
	// ranges of a block whose base is the block's version just before At.
	Writes []occ.Write
}

// Session says that a session was created.
type Session struct {
	ID occ.SessionID
}

// SessionEnd says that a session and its outcomes were forgotten.
type SessionEnd struct {
	ID occ.SessionID
}

// Lease says that Count block ids from First on were handed to a session.
type Lease struct {
	Session occ.SessionID
	First   occ.BlockID
	Count   uint64
}

// Trim says that the outcomes of a session up to and including number UpTo
// were dropped from the outcome table.
type Trim struct {
	Session occ.SessionID
	UpTo    uint64
}

// Horizon says that versions which ended at or before At may be gone.
type Horizon struct {
	At occ.Timestamp
}

// Pin says that the versions at timestamp At are kept under a name until an
// Unpin, whatever the horizon. A Pin of a name that is pinned renews its lease.
type Pin struct {
	Name string
	At   occ.Timestamp
	// Lease is how long the server keeps the pin by its retention clock, which
	// begins anew with each server; 0 means until an Unpin is asked for. The
	// end of a lease is an Unpin in the log as well.
	Lease time.Duration
}

// Unpin says that a pin has ended.
type Unpin struct {
	Name string
}

// Epoch says that a server became the sole writer, and under which number.
// It is the first record that the server writes.
type Epoch struct {
	Epoch uint64
}
