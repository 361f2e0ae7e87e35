package wal

import "errors"

// Head is the newest entry of a log.
type Head struct {
	// Index is its log index, 0 while the log has never held an entry.
	Index uint64
	// CRC is the checksum of its entry, which the next entry repeats.
	CRC uint32
	// Epoch is the epoch under which it was written.
	Epoch uint64
}

// Log is the commit log: an ordered sequence of payloads, numbered from 1
// without gaps. All methods may be called from any goroutine. A log has one
// writer: the last one that fenced it.
type Log interface {
	// Fence makes the caller the sole writer, under an epoch that must be
	// larger than that of every earlier writer. From then on no append of an
	// earlier writer succeeds. It returns the head on which the caller
	// builds, or ErrFenced if the epoch is not larger.
	Fence(epoch uint64) (Head, error)

	// Append adds one entry and returns its index once it is durable. The
	// payload is not kept. After ErrFenced, ErrTooLarge, ErrClosed or
	// ErrPoisoned nothing was written. After ErrUnknown the entry may or may
	// not be there when the log is opened again, and this log takes no
	// further entry.
	Append(payload []byte) (index uint64, err error)

	// Read calls fn for every entry from index from on (0: from the oldest
	// kept) up to the head at the time of the call, in order. The payload is
	// read-only and may be kept. An error of fn ends the walk and is
	// returned as it is; ErrTrimmed says that the entry at from is gone. fn
	// may append, but must not trim.
	Read(from uint64, fn func(index uint64, payload []byte) error) error

	// Trim allows the log to drop the entries up to and including index
	// upTo. It may keep some of them, and always keeps the newest entry.
	Trim(upTo uint64) error

	// Head returns the newest durable entry.
	Head() Head

	// Epoch returns the highest epoch under which the log was fenced or an entry
	// was written, 0 before the first: the next writer needs a higher one. A log
	// that was closed may forget a writer that wrote nothing.
	Epoch() uint64

	// Close releases the log. Everything appended stays durable.
	Close() error
}

// MaxPayload bounds the payload of an entry: the largest transaction with
// something to spare for what surrounds it.
const MaxPayload = 16<<20 + 4096

var (
	// ErrFenced: the caller is not, or no longer, the sole writer.
	ErrFenced = errors.New("wal: not the writer of this log")
	// ErrUnknown: writing or syncing failed, so the entry may or may not
	// survive.
	ErrUnknown = errors.New("wal: outcome of the append is unknown")
	// ErrPoisoned: an earlier write or sync failed. It comes wrapped with
	// the first cause.
	ErrPoisoned = errors.New("wal: log stopped after a failure")
	// ErrTooLarge: the payload exceeds MaxPayload.
	ErrTooLarge = errors.New("wal: payload too large")
	// ErrTrimmed: the entry asked for is older than the oldest kept.
	ErrTrimmed = errors.New("wal: entry was trimmed")
	// ErrClosed: the log was closed.
	ErrClosed = errors.New("wal: log is closed")
)
