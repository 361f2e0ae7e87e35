package core

import "github.com/tidemark/tidemark/occ"

// Stats counts what a client did. All counters only grow, but for the last
// two, which say what the cache holds now.
type Stats struct {
	ReadOnly     uint64                   `json:"read_only"`     // read-only transactions finished locally
	Validated    uint64                   `json:"validated"`     // transactions without writes, validated by the server
	ReadWrite    uint64                   `json:"read_write"`    // transactions with writes, committed
	Empty        uint64                   `json:"empty"`         // transactions that neither read nor wrote
	Aborts       [occ.AbortReasons]uint64 `json:"aborts"`        // attempts that had no effect, by occ.AbortReason
	Restarts     uint64                   `json:"restarts"`      // read-only transactions that met "gone"
	Hits         uint64                   `json:"hits"`          // reads served from the cache
	Misses       uint64                   `json:"misses"`        // blocks asked for
	Joined       uint64                   `json:"joined"`        // reads that waited for a block another transaction had asked for
	SecondAsks   uint64                   `json:"second_asks"`   // blocks asked for at a timestamp, not the latest
	Pings        uint64                   `json:"pings"`         // pings sent to learn a lower bound
	Evictions    uint64                   `json:"evictions"`     // versions evicted to make room
	Deprecations uint64                   `json:"deprecations"`  // deprecations received
	InDoubt      uint64                   `json:"in_doubt"`      // commits whose answer never came
	Reconnects   uint64                   `json:"reconnects"`    // connections that took the place of a lost one
	Resent       uint64                   `json:"resent"`        // commits sent again
	Refreshes    uint64                   `json:"refreshes"`     // pings in the background
	StillCurrent uint64                   `json:"still_current"` // blocks that the client had, and the server said are still current
	BytesRead    uint64                   `json:"bytes_read"`    // block bytes that the server sent, without trailing zeros

	CacheBytes     int64  `json:"cache_bytes"`
	CachedVersions uint64 `json:"cached_versions"`
}

// Add adds the counters of o, to sum over clients.
func (s *Stats) Add(o Stats) {
	s.ReadOnly += o.ReadOnly
	s.Validated += o.Validated
	s.ReadWrite += o.ReadWrite
	s.Empty += o.Empty
	for i, n := range o.Aborts {
		s.Aborts[i] += n
	}
	s.Restarts += o.Restarts
	s.Hits += o.Hits
	s.Misses += o.Misses
	s.Joined += o.Joined
	s.SecondAsks += o.SecondAsks
	s.Pings += o.Pings
	s.Evictions += o.Evictions
	s.Deprecations += o.Deprecations
	s.InDoubt += o.InDoubt
	s.Reconnects += o.Reconnects
	s.Resent += o.Resent
	s.Refreshes += o.Refreshes
	s.StillCurrent += o.StillCurrent
	s.BytesRead += o.BytesRead
	s.CacheBytes += o.CacheBytes
	s.CachedVersions += o.CachedVersions
}
