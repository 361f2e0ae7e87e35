package inspect

import (
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/occ"
)

// Kind says what a finding is about.
type Kind string

// The kinds of findings.
const (
	// StoreFile: the file that says what the store is.
	StoreFile Kind = "store_file"
	// Header: the file that says which checkpoint is the newest.
	Header Kind = "header"
	// Index: the index file of the newest checkpoint, or the state in it.
	Index Kind = "index"
	// BlockFile: the block file as a whole.
	BlockFile Kind = "block_file"
	// Slot: the data of a version.
	Slot Kind = "slot"
	// Fit: the log does not go on where the checkpoint ends.
	Fit Kind = "fit"
	// Log: bytes of the log that are no entry, or an entry that is missing or
	// does not belong there.
	Log Kind = "log"
	// Record: a whole log entry whose content is no group of records.
	Record Kind = "record"
	// Replay: a record that cannot follow those before it.
	Replay Kind = "replay"
)

// Finding is one damaged place.
type Finding struct {
	Kind Kind `json:"kind"`
	// Torn says that this is what a crash leaves of a write that nobody was
	// told of: the next start cuts it off. Everything else is corruption:
	// with that of a Slot a server refuses to read the version, with any other
	// it does not start.
	Torn bool   `json:"torn"`
	File string `json:"file"` // its path
	// Offset and Bytes say where in the file, 0 and 0 for all of it. Bytes is
	// 0, too, where something is missing.
	Offset int64 `json:"offset"`
	Bytes  int64 `json:"bytes"`
	// Index is the log index of the entry, or of the first that should stand
	// there, 0 outside the log; Lost is how many are gone, as far as what
	// follows tells.
	Index uint64 `json:"index"`
	Lost  uint64 `json:"lost"`
	// Block and From name the version whose data are damaged, From is 0 if the
	// damage is to no version's data.
	Block  occ.BlockID   `json:"block"`
	From   occ.Timestamp `json:"from"`
	Reason string        `json:"reason"`
}

// String returns one line: the verdict, the place, and what is wrong.
func (f Finding) String() string {
	var b strings.Builder
	if f.Torn {
		b.WriteString("torn tail: ")
	} else {
		b.WriteString("corruption: ")
	}
	b.WriteString(f.File)
	if f.Index > 0 || f.Offset > 0 {
		fmt.Fprintf(&b, ", offset %d", f.Offset)
	}
	if f.Index > 0 {
		fmt.Fprintf(&b, ", entry %d", f.Index)
	}
	if f.From > 0 {
		fmt.Fprintf(&b, ", block %d from timestamp %d", f.Block, f.From)
	}
	fmt.Fprintf(&b, ": %s", f.Reason)
	switch {
	case f.Torn:
		fmt.Fprintf(&b, " (%s, which the next start cuts off)", plural(uint64(f.Bytes), "byte", "bytes"))
	case f.Kind == Log && f.Lost > 0:
		fmt.Fprintf(&b, " (%s, %s lost)", plural(uint64(f.Bytes), "byte", "bytes"), plural(f.Lost, "entry", "entries"))
	case f.Kind == Log && f.Bytes > 0:
		fmt.Fprintf(&b, " (%s)", plural(uint64(f.Bytes), "byte", "bytes"))
	}
	return b.String()
}

func plural(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
