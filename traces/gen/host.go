package gen

import (
	"maps"

	"github.com/tidemark/tidemark/traces"
)

// maxClosed is how many entries of closed files a host keeps.
const maxClosed = 64

// host is what is known of a host.
type host struct {
	number int
	id     uint32
	used   int64 // how many files beyond its home it has touched
	// wrote are the files of its own that it wrote, oldest first.
	wrote []written
	// open says until when the host has a file open. Old entries are dropped
	// now and then.
	open map[traces.FID]int64
}

// written is a file whose first blocks a host wrote.
type written struct {
	file
	at int64
}

// isOpen reports whether the host has the file open at a time.
func (h *host) isOpen(id traces.FID, at int64) bool {
	until, ok := h.open[id]
	return ok && until >= at
}

// opens notes that the host has the file open until a time.
func (h *host) opens(id traces.FID, at, until int64) {
	if len(h.open) >= maxClosed {
		maps.DeleteFunc(h.open, func(_ traces.FID, end int64) bool { return end < at })
	}
	if h.open == nil {
		h.open = make(map[traces.FID]int64)
	}
	h.open[id] = until
}

// writes notes that the host wrote a file of its own.
func (h *host) writes(f file, at int64) {
	h.forget(f.fid)
	if len(h.wrote) == remembered {
		h.wrote = append(h.wrote[:0], h.wrote[1:]...)
	}
	h.wrote = append(h.wrote, written{f, at})
}

// forget drops a file from those that the host wrote.
func (h *host) forget(id traces.FID) {
	for i := range h.wrote {
		if h.wrote[i].fid == id {
			h.wrote = append(h.wrote[:i], h.wrote[i+1:]...)
			return
		}
	}
}

// since returns where in wrote the files of the last 30 s begin.
func (h *host) since(at int64) int {
	i := len(h.wrote)
	for i > 0 && at-h.wrote[i-1].at < recent {
		i--
	}
	return i
}
