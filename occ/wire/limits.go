package wire

import "time"

const (
	// MaxFrame is the largest frame, in bytes without its length prefix: a
	// commit of 16 MiB and room for what surrounds it.
	MaxFrame = 17 << 20

	// MaxReadItems bounds the items of a Read and the results of its reply.
	MaxReadItems = 1 << 16

	// MaxEntries bounds every other list: read sets, write sets, all ranges
	// of a write set together, the blocks of a Conflict or ChangesReply, the
	// entries of Items, the counters of a StatusReply and the pins of a
	// PinsReply.
	MaxEntries = 1 << 20

	// MaxBlock bounds where a range ends, in bytes: no block is larger.
	MaxBlock = 1 << 20
)

// DefaultLimits returns the limits that a server publishes unless it is told
// otherwise. Each stays within what the encoding itself allows.
func DefaultLimits() Limits {
	return Limits{
		FrameBytes:   MaxFrame,
		CommitBytes:  16 << 20,
		CommitReads:  65536,
		CommitWrites: 16384,
		ReadBlocks:   256,
		LeaseBlocks:  1 << 32,
		Outcomes:     4096,
		Holds:        1 << 20,
		Freshness:    30 * time.Second,
	}
}
