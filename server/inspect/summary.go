package inspect

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/record"
)

// Verdict says what a server would do with the directory.
type Verdict string

// The verdicts.
const (
	// Clean: a server starts and changes nothing.
	Clean Verdict = "clean"
	// Torn: a server starts and cuts off the torn end of the log.
	Torn Verdict = "torn tail"
	// Damaged: no server starts, or, if all that is damaged are the data of
	// versions, one starts and refuses to read them.
	Damaged Verdict = "damaged"
)

// Summary is what a directory holds. Counts are of all whole entries, those
// behind damage included.
type Summary struct {
	Verdict   Verdict `json:"verdict"`
	Places    int     `json:"damaged_places"` // without a torn end
	TornBytes int64   `json:"torn_bytes"`

	// What the store file says; if it says nothing, the store is that of the
	// block store or of the log, and empty if they do not say either.
	Store     string `json:"store"`
	BlockSize int    `json:"block_size"`
	Epoch     uint64 `json:"epoch"`

	// Checkpoint is the one with which a server begins, nil if there is none
	// that is whole, index and state.
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"`
	// BlockLeftover are files of a checkpoint that was not finished, or is not
	// the newest any more, which the next start removes; none if there is no
	// start, since they may be the last that are whole.
	BlockLeftover []string `json:"block_leftovers,omitempty"`

	Segments int      `json:"segments"`
	Bytes    int64    `json:"log_bytes"`
	Entries  uint64   `json:"entries"`
	First    uint64   `json:"first_entry"` // its log index, 0 without entries
	Last     uint64   `json:"last_entry"`
	LogEpoch uint64   `json:"log_epoch"` // the highest in an entry
	Leftover []string `json:"leftovers"` // files of an interrupted trim, likewise

	// Behind counts the whole entries behind the first damage that is not a
	// torn end, from BehindFirst to BehindLast.
	Behind      uint64 `json:"entries_behind_damage"`
	BehindFirst uint64 `json:"behind_first"`
	BehindLast  uint64 `json:"behind_last"`
	// Replayed is the last entry whose records were applied to those before,
	// or are in the checkpoint.
	Replayed uint64 `json:"replayed_to"`

	Transactions  uint64        `json:"transactions"`
	FirstAt       occ.Timestamp `json:"first_timestamp"`
	LastAt        occ.Timestamp `json:"last_timestamp"`
	Blocks        uint64        `json:"blocks_written"`
	BlockBytes    uint64        `json:"block_bytes"` // without zeros at their ends
	Sessions      uint64        `json:"sessions_begun"`
	SessionsEnded uint64        `json:"sessions_ended"`
	Leases        uint64        `json:"leases"`
	Leased        uint64        `json:"leased_blocks"`
	Trims         uint64        `json:"outcome_trims"`
	Horizon       occ.Timestamp `json:"horizon"`
	Epochs        uint64        `json:"epochs_begun"`
	Pins          uint64        `json:"pins_made_or_renewed"`
	Unpins        uint64        `json:"pins_ended"`
}

// Checkpoint is what the block store holds.
type Checkpoint struct {
	Number   uint64        `json:"number"`
	LogIndex uint64        `json:"log_index"` // up to which it holds the log
	Stable   occ.Timestamp `json:"stable"`
	Horizon  occ.Timestamp `json:"horizon"`
	Epoch    uint64        `json:"epoch"` // the highest up to LogIndex
	Sessions int           `json:"sessions"`
	Pins     int           `json:"pins"`

	Versions   uint64 `json:"versions"`
	Bytes      uint64 `json:"bytes"` // of data, without zeros at the ends of blocks
	Slots      uint32 `json:"slots"` // in the block file, used and free
	BlockBytes int64  `json:"block_file_bytes"`
	IndexBytes uint64 `json:"index_bytes"`
	Damaged    uint64 `json:"damaged_versions"`
}

// starts says that a server does.
func (s *Summary) starts() bool {
	return s.Places == 0 || s.Checkpoint != nil && s.Checkpoint.Damaged == uint64(s.Places)
}

// count adds the records of a group.
func (s *Summary) count(records []record.Record) {
	for _, r := range records {
		switch r := r.(type) {
		case *record.Commit:
			if s.Transactions++; s.Transactions == 1 {
				s.FirstAt = r.At
			}
			s.LastAt = r.At
			s.Blocks += uint64(len(r.Writes))
			for _, w := range r.Writes {
				s.BlockBytes += uint64(written(w))
			}
		case *record.Session:
			s.Sessions++
		case *record.SessionEnd:
			s.SessionsEnded++
		case *record.Lease:
			s.Leases++
			s.Leased += r.Count
		case *record.Trim:
			s.Trims++
		case *record.Horizon:
			s.Horizon = r.At
		case *record.Epoch:
			s.Epochs++
		case *record.Pin:
			s.Pins++
		case *record.Unpin:
			s.Unpins++
		}
	}
}

// WriteTo prints the summary for people.
func (s *Summary) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	row := func(title, format string, args ...any) {
		fmt.Fprintf(t, "%s\t%s\n", title, fmt.Sprintf(format, args...))
	}
	if s.BlockSize > 0 {
		row("store", "%s", s.Store)
		row("block size", "%d bytes", s.BlockSize)
		row("epoch", "%d", s.Epoch)
	} else if s.Store != "" {
		row("store", "%s, says what is in it", s.Store)
	} else {
		row("store", "unknown: nothing says whose it is")
	}
	if c := s.Checkpoint; c != nil {
		row("checkpoint", "%d, up to entry %d, timestamp %d", c.Number, c.LogIndex, c.Stable)
		row("versions", "%d, %s, in %s", c.Versions, plural(c.Bytes, "byte", "bytes"), plural(uint64(c.BlockBytes), "byte", "bytes"))
	}
	row("log", "%s in %s, %s", plural(s.Entries, "entry", "entries"), plural(uint64(s.Segments), "segment", "segments"), plural(uint64(s.Bytes), "byte", "bytes"))
	if s.Entries > 0 {
		row("entries", "%d to %d, written up to epoch %d", s.First, s.Last, s.LogEpoch)
	}
	if s.Transactions > 0 {
		row("transactions", "%d, timestamps %d to %d", s.Transactions, s.FirstAt, s.LastAt)
		row("blocks written", "%d, %s", s.Blocks, plural(s.BlockBytes, "byte", "bytes"))
	} else {
		row("transactions", "none")
	}
	row("sessions", "%d begun, %d ended", s.Sessions, s.SessionsEnded)
	row("leases", "%d, of %s", s.Leases, plural(s.Leased, "block", "blocks"))
	if s.Horizon > 0 {
		row("horizon", "%d", s.Horizon)
	}
	if len(s.Leftover) > 0 {
		row("leftovers", "%s of an interrupted trim, which the next start removes", plural(uint64(len(s.Leftover)), "file", "files"))
	}
	if len(s.BlockLeftover) > 0 {
		row("leftovers", "%s of a checkpoint that was not finished, which the next start removes", plural(uint64(len(s.BlockLeftover)), "file", "files"))
	}
	if s.Behind > 0 {
		row("behind damage", "%s, from %d to %d", plural(s.Behind, "whole entry", "whole entries"), s.BehindFirst, s.BehindLast)
	}
	switch s.Verdict {
	case Clean:
		row("verdict", "clean")
	case Torn:
		row("verdict", "torn tail: a server starts, and cuts off %s", plural(uint64(s.TornBytes), "byte", "bytes"))
	case Damaged:
		if c := s.Checkpoint; s.starts() {
			row("verdict", "damaged at %s: a server starts, and cannot read %s", plural(c.Damaged, "place", "places"), plural(c.Damaged, "version", "versions"))
			break
		}
		row("verdict", "damaged at %s: no server starts", plural(uint64(s.Places), "place", "places"))
	}
	t.Flush() // into memory
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}
