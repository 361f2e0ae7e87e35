// Package survey describes traces: what operations they hold, whose and on
// what files, how hosts share files, and everything odd that was met on the
// way. It reads a trace once, in bounded memory.
package survey

import (
	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/infer"
)

// Info describes a trace. Its names in JSON are stable. Byte counts are of
// Block operations; of two operations with the same meaning both count, as NFS
// may ask twice.
type Info struct {
	Name   string `json:"name"`
	Format string `json:"format"`

	Operations int64     `json:"operations"`
	ByKind     []OpCount `json:"by_kind"` // kinds that occur, by Type then Action

	First int64 `json:"first_us"` // time of the first operation, microseconds since 1970
	Last  int64 `json:"last_us"`  // and of the last
	Gaps  []Gap `json:"gaps"`     // the longest, longest first

	BlocksRead    int64 `json:"blocks_read"` // Block operations
	BlocksWritten int64 `json:"blocks_written"`
	BytesRead     int64 `json:"bytes_read"`
	BytesWritten  int64 `json:"bytes_written"`

	// HostsAtLeast and FilesAtLeast say that there were more hosts or files
	// than are kept apart. Hosts, Files and what is told of them is then of
	// those that came first.
	Hosts        int       `json:"hosts"`
	HostsAtLeast bool      `json:"hosts_at_least"`
	Busiest      []HostUse `json:"busiest_hosts"` // by operations, most first
	Files        int64     `json:"files"`
	FilesAtLeast bool      `json:"files_at_least"`
	Sharing      Sharing   `json:"sharing"`
	Sizes        []Sizes   `json:"file_sizes"`

	// Transactions is nil, and Uninferred says why, if the trace is too dense
	// to tell.
	Transactions *Transactions `json:"transactions"`
	Uninferred   string        `json:"uninferred,omitempty"`

	traces.ReorderCounts
	Skipped      int64            `json:"skipped_lines"`
	FirstSkipped string           `json:"first_skipped,omitempty"` // why, with file and line
	Findings     []traces.Finding `json:"findings"`
}

// OpCount is the number of operations of one kind.
type OpCount struct {
	Type   string `json:"type"`
	Action string `json:"action"`
	Count  int64  `json:"count"`
}

// HostUse is what one host did.
type HostUse struct {
	Host         uint32 `json:"host"`
	Operations   int64  `json:"operations"`
	BytesRead    int64  `json:"bytes_read"`
	BytesWritten int64  `json:"bytes_written"`
}

// Sharing counts files by how hosts share them. Reading and writing is of
// data, attributes or directory entries; to open or close is neither.
type Sharing struct {
	OneHost     int64 `json:"one_host"`
	TwoHosts    int64 `json:"two_hosts"`
	ThreeToTen  int64 `json:"three_to_ten_hosts"`
	MoreThanTen int64 `json:"more_than_ten_hosts"`

	ReadBySeveral    int64 `json:"read_by_several"`
	WrittenBySeveral int64 `json:"written_by_several"`
	// PassedOn are the files that one host writes and others read.
	PassedOn int64 `json:"written_by_one_read_by_others"`
}

// Shared is the number of files that more than one host used.
func (s *Sharing) Shared() int64 { return s.TwoHosts + s.ThreeToTen + s.MoreThanTen }

// Sizes is the number of files of which Block operations reach up to a byte,
// and not up to the byte of the class before. A file that none reaches is in
// the first, of 0 bytes.
type Sizes struct {
	UpTo  int64 `json:"up_to_bytes"` // 0 in the last class, which has no end, too
	Files int64 `json:"files"`
}

// Gap is a time without an operation.
type Gap struct {
	Length int64 `json:"length_us"`
	End    int64 `json:"end_us"` // time of the operation that ended it, microseconds since 1970
	Line   int64 `json:"line"`   // and its line, or number in a trace without lines
}

// Transactions are those that a replay of the trace would make, see package
// infer.
type Transactions struct {
	ReadOnly      int64 `json:"read_only"`
	ReadWrite     int64 `json:"read_write"`
	Singles       int64 `json:"singles"` // of one operation that is no Block
	ExplicitOpens int64 `json:"explicit_opens"`
	ImplicitOpens int64 `json:"implicit_opens"`
	EmptyOpens    int64 `json:"empty_opens"`
}

func transactions(c infer.Counts) *Transactions {
	return &Transactions{c.ReadOnly, c.ReadWrite, c.Singles, c.ExplicitOpens, c.ImplicitOpens, c.EmptyOpens}
}

// Span is the time from the first to the last operation in microseconds.
func (i *Info) Span() int64 { return i.Last - i.First }

// WriteShare is the part of the bytes moved that was written, from 0 to 1.
func (i *Info) WriteShare() float64 { return share(i.BytesWritten, i.BytesRead+i.BytesWritten) }

// ReadShare is the part of the bytes moved that was read, from 0 to 1.
func (i *Info) ReadShare() float64 { return share(i.BytesRead, i.BytesRead+i.BytesWritten) }

func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
