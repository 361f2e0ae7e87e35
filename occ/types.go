package occ

import (
	"encoding/hex"
	"fmt"
	"math"
)

// BlockID names a block: a fixed-size unit of storage. Ids are handed out
// once and never reused.
type BlockID uint64

// Timestamp is a position in the server's commit order. 0 is the empty
// store. It is not wall-clock time.
type Timestamp uint64

// Open is the upper bound of a validity interval whose end is not known: the
// version is its block's current content as far as the holder can tell.
const Open Timestamp = math.MaxUint64

// Latest asks for the newest stable version of a block instead of the
// version at some timestamp.
const Latest Timestamp = math.MaxUint64

// StoreID names a store for its whole life, restarts included.
type StoreID [16]byte

// SessionID names a client's session. Ids are issued by the server; the zero
// id asks for a new one.
type SessionID [16]byte

// String returns the id in hexadecimal.
func (id StoreID) String() string { return hex.EncodeToString(id[:]) }

// String returns the id in hexadecimal.
func (id SessionID) String() string { return hex.EncodeToString(id[:]) }

// Interval is the validity interval [From, To) of a version: the timestamps
// at which the version is its block's content. To is Open while no end is
// known.
type Interval struct {
	From, To Timestamp
}

// Contains reports whether the version is its block's content at t.
func (iv Interval) Contains(t Timestamp) bool { return iv.From <= t && t < iv.To }

// String prints the interval as [from,to), with an open end as "open".
func (iv Interval) String() string {
	if iv.To == Open {
		return fmt.Sprintf("[%d,open)", iv.From)
	}
	return fmt.Sprintf("[%d,%d)", iv.From, iv.To)
}

// Read is one entry of a read set: the transaction saw the version of Block
// that begins at From.
type Read struct {
	Block BlockID
	From  Timestamp
}

// Write is one entry of a write set: the new content of Block, in one of two
// forms. Without Ranges, Data is all of it; Data that is empty stands for a
// block of zeros, which is also how a block is freed. With Ranges, Data is
// nil, and the new content is that of the version which the transaction read,
// overwritten by Ranges; Block must then be in the read set, so that
// validation makes that version the immediate predecessor. Ranges are
// InOrder.
//
// The bytes are immutable from the moment the Write is handed over.
type Write struct {
	Block  BlockID
	Data   []byte
	Ranges []Range
}
