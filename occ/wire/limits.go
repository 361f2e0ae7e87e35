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

// Limits are the server's published limits.
type Limits struct {
	FrameBytes   uint64        // largest frame, without its length prefix
	CommitBytes  uint64        // largest commit, encoded
	CommitReads  uint64        // entries of a read set
	CommitWrites uint64        // entries of a write set
	ReadBlocks   uint64        // items of one Read
	LeaseBlocks  uint64        // ids of one Lease
	Outcomes     uint64        // commits of a session under way or unacknowledged
	Holds        uint64        // blocks that a connection may hold open
	Reads        uint64        // Reads of a connection that wait for data
	Leases       uint64        // Leases, Pins and Unpins of a connection that wait for the log
	Freshness    time.Duration // largest finite freshness bound
	Silence      time.Duration // how long a connection may say nothing, 0 for ever
}

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
		Reads:        1024,
		Leases:       64,
		Freshness:    30 * time.Second,
		Silence:      time.Minute,
	}
}
