package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"
)

// progress shows on a terminal what is being done; elsewhere it says nothing.
type progress struct {
	w      io.Writer
	active bool

	mu   sync.Mutex // standard input is copied in a goroutine of its own
	next time.Time
	what string
}

// refresh is the least time between two updates of the same work.
const refresh = 100 * time.Millisecond

func newProgress(w io.Writer) *progress { return &progress{w: w, active: isTerminal(w)} }

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// show shows that n of so many operations are done.
func (p *progress) show(what string, n, of int64) { p.showIn(what, "operations", n, of) }

func (p *progress) showIn(what, unit string, n, of int64) {
	p.draw(what, func() string { return fmt.Sprintf("%d of %d %s", n, of, unit) })
}

// showBytes shows that so many bytes of a file of size bytes have been read,
// whose size is negative if it is not known.
func (p *progress) showBytes(what string, read, size int64) {
	p.draw(what, func() string {
		if size <= 0 {
			return humanize.Bytes(uint64(read))
		}
		return fmt.Sprintf("%d%% of %s", 100*read/size, humanize.Bytes(uint64(size)))
	})
}

func (p *progress) draw(what string, text func() string) {
	if !p.active {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if what == p.what && now.Before(p.next) {
		return
	}
	p.what, p.next = what, now.Add(refresh)
	fmt.Fprintf(p.w, "\r\x1b[K%s: %s", what, text())
}

func (p *progress) clear() {
	if p.active {
		p.mu.Lock()
		defer p.mu.Unlock()
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
