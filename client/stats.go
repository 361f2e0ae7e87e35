package client

import (
	"encoding/binary"

	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// Count is a number of messages and the bytes of their whole frames.
type Count struct{ Messages, Bytes uint64 }

// Counts are counts by the type of the message.
type Counts [128]Count

// Total sums all types.
func (c Counts) Total() (t Count) {
	for _, n := range c {
		t.Messages += n.Messages
		t.Bytes += n.Bytes
	}
	return t
}

// Of returns the count of one type.
func (c Counts) Of(t wire.Type) Count { return c[t&127] }

// Traffic counts the frames of a DB, length prefixes included, without what
// the network below adds.
type Traffic struct{ Sent, Received Counts }

func (t *Traffic) count(c *Counts, typ wire.Type, body int) {
	n := &c[typ&127]
	n.Messages++
	n.Bytes += uint64(body + prefixLen(body))
}

// prefixLen is the length of the length prefix of a frame.
func prefixLen(body int) int {
	var b [binary.MaxVarintLen64]byte
	return binary.PutUvarint(b[:], uint64(body))
}

// frameBody is the length of a frame without its prefix.
func frameBody(frame int) int {
	for n := 1; ; n++ {
		if prefixLen(frame-n) == n {
			return frame - n
		}
	}
}

// Stats is a snapshot of what a DB did.
type Stats struct {
	core.Stats
	Traffic Traffic
	GLUB    occ.Timestamp // newest stable timestamp known
}

// Stats returns a snapshot of the counters.
func (db *DB) Stats() Stats {
	db.mu.Lock()
	defer db.mu.Unlock()
	return Stats{Stats: db.core.Stats(), Traffic: db.traffic, GLUB: db.core.GLUB()}
}
