package replay

import (
	"sync"

	"github.com/tidemark/tidemark/client"
)

// host is one host of the trace with its client library instance.
type host struct {
	db       *client.DB
	affinity uint32
	mu       sync.Mutex
	spare    []byte
}

// buffer lends a buffer for one read.
func (h *host) buffer(n int64) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.spare
	h.spare = nil
	if int64(cap(p)) < n {
		p = make([]byte, n)
	}
	return p[:n]
}

func (h *host) release(p []byte) {
	h.mu.Lock()
	h.spare = p
	h.mu.Unlock()
}
