package server

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/core"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/storedir"
	"github.com/tidemark/tidemark/server/wal"
)

// Defaults of Options.
const (
	DefaultConnections   = 4096
	DefaultHandshake     = 10 * time.Second
	DefaultReadTimeout   = 30 * time.Second
	DefaultWriteTimeout  = 30 * time.Second
	DefaultQueueBytes    = 32 << 20
	DefaultQueueMessages = 1 << 16

	DefaultCheckpointBytes = 64 << 20
)

// MaxCommitDelay bounds Options.CommitDelay: no commit is answered before, and
// neither are sessions and leases, for which clients wait to begin.
const MaxCommitDelay = time.Second

// Options of a server. The zero value is a store in memory that works.
type Options struct {
	// Dir is the data directory, created if it is missing. Empty means a
	// store in memory, which ends with the server.
	Dir string
	// BlockSize is that of a new store in bytes, and must be that of an
	// existing one; 0 means 4096 for a new store and any for an existing one.
	BlockSize int
	// Retention is how long superseded versions stay readable; 0 means
	// core.DefaultRetention.
	Retention time.Duration
	// MemoryBytes bounds the data of all versions of a store in memory; a
	// commit beyond it is refused. 0 means core.DefaultMemoryBytes.
	MemoryBytes int64
	// CacheBytes bounds the data that a store on disk keeps in memory of what
	// is on disk; 0 means blocks.DefaultCacheBytes. What waits to be written
	// comes on top, as much again, but at least 1 MiB and at most
	// blocks.DefaultDirtyBytes; commits wait while it is twice that. What is on
	// its way through the log then still comes on top: two groups, each of 1 MiB
	// or one commit.
	CacheBytes int64
	// PendingBytes bounds the commits that wait for the log: while so much
	// does, others are refused with CodeBusy. It lowers Limits.CommitWrites, so
	// that the blocks of one commit fit it. 0 means core.DefaultPendingBytes.
	PendingBytes int64
	// StoreBytes bounds the data of all versions of a store on disk; a commit
	// beyond it is refused. 0 means that only the disk bounds it.
	StoreBytes int64
	// CheckpointBytes is how much the log grows between two checkpoints,
	// about; up to twice as much if the index that each of them writes is
	// larger than an eighth of it. That bounds what a start has to replay. 0
	// means DefaultCheckpointBytes.
	CheckpointBytes int64
	// CommitDelay is how long a commit may wait for others to share its write
	// of the log, when nothing is being written anyway, MaxCommitDelay at most.
	// 0, the default, is best unless a write is far slower than the wait.
	CommitDelay time.Duration
	// IndexBytes bounds the memory of the index of versions; a commit beyond
	// it is refused. 0 means core.DefaultIndexBytes.
	IndexBytes int64
	// Limits are the published limits; a field that is zero means that of
	// wire.DefaultLimits. Those that do not fit each other are lowered.
	Limits wire.Limits
	// Heartbeat is after which silence a client hears from the server; 0
	// means core.DefaultHeartbeat.
	Heartbeat time.Duration
	// ExternalClock lets clients move the retention clock, for replays.
	ExternalClock bool
	// Faults break rules of the protocol, for tests.
	Faults occ.Faults

	// Connections is how many may be open; 0 means DefaultConnections.
	Connections int
	// Handshake is how long a connection may take to its first message; 0
	// means DefaultHandshake.
	Handshake time.Duration
	// ReadTimeout is how long a message, or each MiB of a longer one, may take to
	// arrive once its first byte has; 0 means DefaultReadTimeout. How long a
	// connection may be silent between messages is Limits.Silence.
	ReadTimeout time.Duration
	// WriteTimeout is how long one write to a connection may take before it
	// is dropped, or up to an eighth less; 0 means DefaultWriteTimeout.
	WriteTimeout time.Duration
	// QueueBytes and QueueMessages bound what waits to be sent on one
	// connection; beyond them it is dropped. 0 means the defaults. A queue
	// that is smaller than a frame lowers Limits.ReadBlocks.
	QueueBytes, QueueMessages int

	// Log, if set, is used instead of a log in Dir, which must then be empty;
	// the server closes it, also if Open fails in opening the store. Open fences it
	// under an epoch above Log.Epoch, so it can be tried again with the same log,
	// opened again. Store is the id of its store.
	Log   wal.Log
	Store occ.StoreID
	// Blocks, if set beside Log, is the disk of its block store, which is then
	// not in memory.
	Blocks disk.Disk
	// dirty, if set, is used instead of what follows from CacheBytes, so that
	// tests need little data to make a server write early.
	dirty int64
	// Logger gets what an operator wants to know; nil means none of it.
	Logger *slog.Logger
}

// OptionsError says which option cannot be.
type OptionsError struct {
	Option string
	Reason string
}

// Error returns one line.
func (e *OptionsError) Error() string { return fmt.Sprintf("server option %s: %s", e.Option, e.Reason) }

// withDefaults fills in defaults.
func (o Options) withDefaults() Options {
	o.Connections = cmp.Or(o.Connections, DefaultConnections)
	o.QueueBytes = cmp.Or(o.QueueBytes, DefaultQueueBytes)
	o.QueueMessages = cmp.Or(o.QueueMessages, DefaultQueueMessages)
	o.CheckpointBytes = cmp.Or(o.CheckpointBytes, DefaultCheckpointBytes)
	o.Handshake = cmp.Or(o.Handshake, DefaultHandshake)
	o.ReadTimeout = cmp.Or(o.ReadTimeout, DefaultReadTimeout)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, DefaultWriteTimeout)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// minFrame is the least frame size: room for a welcome, an error and a few
// items.
const minFrame = 512

// validate checks options that are filled in.
func (o Options) validate() error {
	for _, c := range []struct {
		option string
		bad    bool
		reason string
	}{
		{"BlockSize", o.BlockSize < 0 || o.BlockSize > storedir.MaxBlockSize, fmt.Sprintf("is not between 0 and %d", storedir.MaxBlockSize)},
		{"Retention", o.Retention < 0, "is negative"},
		{"MemoryBytes", o.MemoryBytes < 0, "is negative"},
		{"CacheBytes", o.CacheBytes < 0, "is negative"},
		{"StoreBytes", o.StoreBytes < 0, "is negative"},
		{"CheckpointBytes", o.CheckpointBytes < 0, "is negative"},
		{"PendingBytes", o.PendingBytes < 0, "is negative"},
		{"CommitDelay", o.CommitDelay < 0 || o.CommitDelay > MaxCommitDelay, fmt.Sprintf("is not between 0 and %v", MaxCommitDelay)},
		{"IndexBytes", o.IndexBytes < 0, "is negative"},
		{"Heartbeat", o.Heartbeat < 0, "is negative"},
		{"Connections", o.Connections < 0, "is negative"},
		{"Handshake", o.Handshake < 0, "is negative"},
		{"ReadTimeout", o.ReadTimeout < 0, "is negative"},
		{"WriteTimeout", o.WriteTimeout < 0, "is negative"},
		{"QueueBytes", o.QueueBytes < 0, "is negative"},
		{"QueueMessages", o.QueueMessages < 0, "is negative"},
		{"Log", o.Log != nil && o.Dir != "", "excludes Dir"},
		{"Limits.FrameBytes", o.frameBytes() < minFrame || o.frameBytes() > wire.MaxFrame, fmt.Sprintf("is not between %d and %d", minFrame, wire.MaxFrame)},
	} {
		if c.bad {
			return &OptionsError{Option: c.option, Reason: c.reason}
		}
	}
	return nil
}

func (o Options) frameBytes() uint64 { return cmp.Or(o.Limits.FrameBytes, wire.MaxFrame) }

// dirtyBytes is how much may wait in memory to be written to the block file
// before it is written early.
func (o Options) dirtyBytes() int64 {
	if o.dirty > 0 {
		return o.dirty
	}
	cache := cmp.Or(o.CacheBytes, blocks.DefaultCacheBytes)
	return min(max(cache, minDirty), blocks.DefaultDirtyBytes)
}

// minDirty is the least of that.
const minDirty = 1 << 20

// checkBlock checks the block size of the opened store against what is sent.
func (o Options) checkBlock(blockSize int) error {
	if uint64(blockSize)+minFrame > o.frameBytes() {
		return &OptionsError{Option: "Limits.FrameBytes", Reason: fmt.Sprintf("too small for blocks of %d bytes", blockSize)}
	}
	if uint64(blockSize)+minFrame > uint64(o.QueueBytes) {
		return &OptionsError{Option: "QueueBytes", Reason: fmt.Sprintf("too small for blocks of %d bytes", blockSize)}
	}
	return nil
}

func (o Options) core(st *storage) core.Config {
	room := o.MemoryBytes
	if st.blocks != nil {
		room = cmp.Or(o.StoreBytes, math.MaxInt64)
	}
	return core.Config{
		Store:         st.store,
		Epoch:         st.epoch,
		BlockSize:     uint64(st.blockSize),
		Retention:     o.Retention,
		MemoryBytes:   room,
		PendingBytes:  o.PendingBytes,
		IndexBytes:    o.IndexBytes,
		Limits:        o.Limits,
		ReplyBytes:    uint64(o.QueueBytes),
		Heartbeat:     o.Heartbeat,
		ExternalClock: o.ExternalClock,
		Faults:        o.Faults,
		NewSession:    newSession,
	}
}
