package server

import (
	"errors"
	"fmt"

	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/core"
)

// unreadable logs why a version cannot be read, and returns what a client is
// told of it: which version it is, but not where the server keeps its files,
// which stands in most causes. The reason of damage to a slot names no file.
func (s *Server) unreadable(r core.Ref, doing string, cause error) error {
	s.opts.Logger.Error(doing, "block", r.Block, "timestamp", r.From, "error", cause)
	reason := "the disk failed"
	var damage *blocks.CorruptError
	if errors.As(cause, &damage) {
		reason = damage.Reason
	}
	return fmt.Errorf("data cannot be read: block %d from %d: %s (the server's log says more)", r.Block, r.From, reason)
}
