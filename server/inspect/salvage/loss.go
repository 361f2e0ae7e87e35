package salvage

import (
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/occ"
)

// Kind says what was lost.
type Kind string

// The kinds of losses.
const (
	// Entries: log entries First to Last, behind the base; Last is 0 if nobody
	// knows how many.
	Entries Kind = "entries"
	// Transactions: those with the timestamps First to Last.
	Transactions Kind = "transactions"
	// Left: the whole transactions with timestamps from First to Last, of
	// which there are Count, were left out, because some before them are
	// missing.
	Left Kind = "left_out"
	// Block: Version of Block; it has Kept instead, or zeros if that is 0.
	Block Kind = "block"
	// Slot: the data in a slot of the block file that could be those of any
	// block, or of none.
	Slot Kind = "slot"
	// Snapshot: the pinned timestamp First under Name.
	Snapshot Kind = "snapshot"
	// Checkpoint: one that a header or the name of an index file tells of.
	Checkpoint Kind = "checkpoint"
	// Header: what says which checkpoint is the newest. An index file can do
	// without it.
	Header Kind = "header"
	// StoreFile: what the store file said, but for what other files repeat.
	StoreFile Kind = "store_file"
)

// Loss is something that the new store does not have.
type Loss struct {
	Kind    Kind          `json:"kind"`
	First   uint64        `json:"first,omitempty"`
	Last    uint64        `json:"last,omitempty"`
	Count   uint64        `json:"count,omitempty"`
	Block   occ.BlockID   `json:"block"`
	Version occ.Timestamp `json:"version,omitempty"`
	Kept    occ.Timestamp `json:"kept,omitempty"`
	Name    string        `json:"name,omitempty"`
	File    string        `json:"file,omitempty"` // where the damage is
	Offset  int64         `json:"offset,omitempty"`
	Reason  string        `json:"reason,omitempty"`
}

// String returns one line.
func (l Loss) String() string {
	var b strings.Builder
	switch l.Kind {
	case Entries:
		fmt.Fprintf(&b, "lost log %s", span("entry", "entries", l.First, l.Last))
	case Transactions:
		fmt.Fprintf(&b, "lost %s", span("transaction", "transactions", l.First, l.Last))
	case Left:
		fmt.Fprintf(&b, "left out %d whole: %s, behind lost ones (--beyond takes them)", l.Count, span("transaction", "transactions", l.First, l.Last))
	case Block:
		fmt.Fprintf(&b, "lost block %d from timestamp %d", l.Block, l.Version)
		if l.Kept > 0 {
			fmt.Fprintf(&b, ", it has that from %d", l.Kept)
		} else {
			b.WriteString(", it is zeros")
		}
	case Slot:
		b.WriteString("lost a slot, of any block or none")
	case Snapshot:
		fmt.Fprintf(&b, "lost snapshot %q of timestamp %d", l.Name, l.First)
	case Checkpoint:
		b.WriteString("lost checkpoint")
	case Header:
		b.WriteString("lost header of a checkpoint")
	case StoreFile:
		b.WriteString("lost store file")
	}
	if l.File != "" {
		fmt.Fprintf(&b, ": %s, offset %d", l.File, l.Offset)
	}
	if l.Reason != "" {
		fmt.Fprintf(&b, ": %s", l.Reason)
	}
	return b.String()
}

func span(one, many string, first, last uint64) string {
	switch {
	case last == 0:
		return fmt.Sprintf("%s from %d on", many, first)
	case first == last:
		return fmt.Sprintf("%s %d", one, first)
	}
	return fmt.Sprintf("%s %d to %d", many, first, last)
}
