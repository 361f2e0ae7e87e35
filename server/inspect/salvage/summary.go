package salvage

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/tidemark/tidemark/occ"
)

// Summary says what the new store is. It is in the new directory as well, in
// the file ReportName, by which a salvaged store can be told from others.
type Summary struct {
	Store     string `json:"store"`
	BlockSize int    `json:"block_size"`
	Epoch     uint64 `json:"epoch"`
	WasEpoch  uint64 `json:"was_epoch"` // the highest that was found
	// Base is what the state began with, Checkpoint its number.
	Base       string `json:"base"`
	Checkpoint uint64 `json:"checkpoint"`
	// Consistent: the new store is the state at Stable, but for lost blocks.
	Consistent bool          `json:"consistent"`
	Stable     occ.Timestamp `json:"stable"`

	Blocks uint64 `json:"blocks"` // that were ever written
	Bytes  uint64 `json:"bytes"`  // of their data
	// Transactions were applied to the base.
	Transactions uint64 `json:"transactions"`

	LostStale        uint64 `json:"lost_blocks_with_an_older_version"`
	LostZeros        uint64 `json:"lost_blocks_with_zeros"`
	LostSlots        uint64 `json:"lost_slots"`
	LostEntries      uint64 `json:"lost_entries"` // as far as their number is known
	LostTransactions uint64 `json:"lost_transactions"`
	LeftOut          uint64 `json:"left_out_transactions"`
	Sessions         uint64 `json:"ended_sessions"`
	Snapshots        uint64 `json:"lost_snapshots"`
}

// The bases.
const (
	fromHeader = "checkpoint"
	fromIndex  = "index file that no header names"
	fromLog    = "log from its beginning"
	fromPieces = "slots and log entries one by one"
)

// WriteTo prints the summary for people.
func (s *Summary) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	row := func(title, format string, args ...any) {
		fmt.Fprintf(t, "%s\t%s\n", title, fmt.Sprintf(format, args...))
	}
	row("store", "%s", s.Store)
	row("block size", "%d bytes", s.BlockSize)
	row("epoch", "%d, was %d", s.Epoch, s.WasEpoch)
	if s.Checkpoint > 0 {
		row("base", "%s, number %d", s.Base, s.Checkpoint)
	} else {
		row("base", "%s", s.Base)
	}
	row("behind it", "%d transactions", s.Transactions)
	switch {
	case s.Consistent && s.LostStale+s.LostZeros == 0:
		row("state", "that at timestamp %d", s.Stable)
	case s.Consistent:
		row("state", "that at timestamp %d, but for lost blocks", s.Stable)
	default:
		row("state", "NOT CONSISTENT: blocks of different moments, up to timestamp %d", s.Stable)
	}
	row("blocks", "%d, %d bytes", s.Blocks, s.Bytes)
	row("lost blocks", "%d: %d have an older version, %d are zeros", s.LostStale+s.LostZeros, s.LostStale, s.LostZeros)
	if s.LostSlots > 0 {
		row("lost slots", "%d", s.LostSlots)
	}
	row("lost transactions", "%d known of, in %d log entries; %d left out", s.LostTransactions, s.LostEntries, s.LeftOut)
	row("ended", "%d sessions, %d snapshots", s.Sessions, s.Snapshots)
	t.Flush() // into memory
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}
