package history

import (
	"time"

	"github.com/tidemark/tidemark/occ"
)

// Sink takes in everything that a history consists of. A Checker judges it, a
// Writer saves it.
type Sink interface {
	Recorder
	// Unknown is a commit whose client never learned that it happened.
	Unknown(ts occ.Timestamp, writes []occ.BlockID)
	// InDoubt is one commit of which nothing more is known.
	InDoubt()
	// Applied is a point of the server's progress.
	Applied(t time.Duration, stable occ.Timestamp)
}

var (
	_ Sink = (*Checker)(nil)
	_ Sink = (*Writer)(nil)
)
