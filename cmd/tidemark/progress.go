package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// progress shows on a terminal what is being done; elsewhere it says nothing.
type progress struct {
	w      io.Writer
	next   time.Time
	what   string
	active bool
}

// refresh is the least time between two updates of the same work.
const refresh = 100 * time.Millisecond

func newProgress(w io.Writer) *progress {
	p := &progress{w: w}
	if f, ok := w.(*os.File); ok {
		p.active = term.IsTerminal(int(f.Fd()))
	}
	return p
}

func (p *progress) show(what string, n, of int64) { p.showIn(what, "operations", n, of) }

func (p *progress) showIn(what, unit string, n, of int64) {
	now := time.Now()
	if !p.active || what == p.what && now.Before(p.next) {
		return
	}
	p.what, p.next = what, now.Add(refresh)
	fmt.Fprintf(p.w, "\r\x1b[K%s: %d of %d %s", what, n, of, unit)
}

func (p *progress) clear() {
	if p.active {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
