package core

import (
	"cmp"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/record"
)

// Defaults of Config.
const (
	DefaultBlockSize   = 4096
	DefaultRetention   = 60 * time.Second
	DefaultMemoryBytes = 1 << 30
	DefaultIndexBytes  = 1 << 30
	DefaultHeartbeat   = 10 * time.Second

	DefaultPendingBytes = 64 << 20
)

// Fixed limits, besides those that Welcome publishes.
const (
	// MaxSessions is how many sessions are remembered. A new one beyond it
	// ends the oldest that has no connection and no commit under way.
	MaxSessions = 1 << 16
	// MaxWaiters is how many resends may wait for one pending commit.
	MaxWaiters = 8
	// MaxPins is how many timestamps are pinned, by names of at most MaxPinName
	// bytes.
	MaxPins    = 1024
	MaxPinName = 255 // that of the log
	// VersionOverhead is what a version counts against Config.MemoryBytes
	// besides its data, in bytes.
	VersionOverhead = 96
	// replyOverhead is an upper bound for the encoding of a read reply or of
	// an Items message besides its results or items; resultOverhead and
	// itemBytes are bounds for one of these, data excluded.
	// Package server counts a message that waits to be sent by the same sizes.
	replyOverhead  = 64
	resultOverhead = 64
	itemBytes      = 40
)

// Config is what a Core needs to know. Store and NewSession must be set; zero
// in another field means its default.
type Config struct {
	// Store and Epoch are shown to clients in Welcome.
	Store occ.StoreID
	Epoch uint64
	// BlockSize is the size of a block in bytes: longer data is refused.
	BlockSize uint64
	// Retention is how long a superseded version stays readable.
	Retention time.Duration
	// MemoryBytes bounds the data of all versions, live, retained and not
	// yet durable, plus VersionOverhead for each. A commit beyond it is
	// refused.
	MemoryBytes int64
	// IndexBytes bounds the memory of the index of versions: occ.PageBytes for
	// each 64 neighbouring blocks of which one was ever written, and
	// occ.OldVersionBytes for each superseded version. A commit beyond it is
	// refused.
	IndexBytes int64
	// PendingBytes bounds the commits that wait for the log or are on their
	// way to it, encoded, and a block more for each of which ranges are written.
	// While so much waits, commits are refused with CodeBusy, except for one
	// urgent one at a time. The one that reaches it may go beyond it: by
	// Limits.CommitBytes and as many blocks as a commit may write, which fit
	// PendingBytes, since it lowers CommitWrites.
	PendingBytes int64
	// Limits are published in Welcome and enforced; a field that is zero
	// means that of wire.DefaultLimits. New lowers those that would not fit
	// the frame size, the log, PendingBytes or the retention.
	Limits wire.Limits
	// ReplyBytes is the most that one reply may take, encoded, because no more
	// can wait to be sent; 0 means Limits.FrameBytes. It lowers ReadBlocks.
	ReplyBytes uint64
	// Heartbeat is after which silence a connection gets a heartbeat.
	Heartbeat time.Duration
	// ExternalClock lets Clock messages drive retention instead of Tick.
	ExternalClock bool
	// Faults break rules on purpose, for tests.
	Faults occ.Faults
	// NewSession returns a fresh random session id.
	NewSession func() occ.SessionID
}

// withDefaults fills in defaults and makes the limits fit each other: a full
// read reply fits a frame, a full commit fits a log group of its own, and its
// blocks what may wait for the log, and the freshness bound leaves half of the
// retention window to the transaction.
func (c Config) withDefaults() Config {
	c.BlockSize = cmp.Or(c.BlockSize, DefaultBlockSize)
	c.Retention = cmp.Or(c.Retention, DefaultRetention)
	c.MemoryBytes = cmp.Or(c.MemoryBytes, DefaultMemoryBytes)
	c.IndexBytes = cmp.Or(c.IndexBytes, DefaultIndexBytes)
	c.PendingBytes = cmp.Or(c.PendingBytes, DefaultPendingBytes)
	c.Heartbeat = cmp.Or(c.Heartbeat, DefaultHeartbeat)
	l, d := &c.Limits, wire.DefaultLimits()
	l.FrameBytes = cmp.Or(l.FrameBytes, d.FrameBytes)
	l.CommitBytes = cmp.Or(l.CommitBytes, d.CommitBytes)
	l.CommitReads = cmp.Or(l.CommitReads, d.CommitReads)
	l.CommitWrites = cmp.Or(l.CommitWrites, d.CommitWrites)
	l.ReadBlocks = cmp.Or(l.ReadBlocks, d.ReadBlocks)
	l.LeaseBlocks = cmp.Or(l.LeaseBlocks, d.LeaseBlocks)
	l.Outcomes = cmp.Or(l.Outcomes, d.Outcomes)
	l.Holds = cmp.Or(l.Holds, d.Holds)
	l.Reads = cmp.Or(l.Reads, d.Reads)
	l.Leases = cmp.Or(l.Leases, d.Leases)
	l.Freshness = cmp.Or(l.Freshness, d.Freshness)
	l.Silence = cmp.Or(l.Silence, d.Silence)
	l.CommitBytes = min(l.CommitBytes, l.FrameBytes, record.MaxTransactionBytes-1024)
	c.ReplyBytes = min(cmp.Or(c.ReplyBytes, l.FrameBytes), l.FrameBytes)
	l.ReadBlocks = max(1, min(l.ReadBlocks, (c.ReplyBytes-min(c.ReplyBytes, replyOverhead))/(c.BlockSize+resultOverhead)))
	l.CommitWrites = max(1, min(l.CommitWrites, uint64(c.PendingBytes)/c.BlockSize))
	l.Freshness = min(l.Freshness, c.Retention/2)
	return c
}
