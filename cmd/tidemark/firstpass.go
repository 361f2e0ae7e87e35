package main

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/tidemark/tidemark/traces"
)

// firstPass follows a trace until it has been read once: it shows on a
// terminal how far that is, and at the end warns of what is odd.
type firstPass struct {
	env      *environment
	name     string
	progress *progress
	over     atomic.Bool
}

// watch is called before each read of the file. It also ends the reading of
// one that gives no operations for long.
func (p *firstPass) watch(read, size int64) error {
	if p.env.ctx.Err() != nil {
		return context.Cause(p.env.ctx)
	}
	if !p.over.Load() {
		p.progress.showBytes("reading "+p.name, read, size)
	}
	return nil
}

// end is called when the trace has been read for the first time, or will not
// be read to its end.
func (p *firstPass) end(in traces.Input, whole bool) {
	if p.over.Swap(true) {
		return
	}
	p.progress.clear()
	if !whole {
		return
	}
	p.env.warnOdd(p.name, traces.Findings(in))
}

// warnOdd warns of what is odd in a trace.
func (env *environment) warnOdd(name string, found []traces.Finding) {
	kinds, text := 0, ""
	for _, f := range found {
		if !f.Odd {
			continue
		}
		if kinds++; kinds == 1 {
			text = fmt.Sprintf("%s, %s: %d", f.Group, f.Name, f.Count)
		}
	}
	if kinds > 1 {
		text += fmt.Sprintf("; and %d more kinds", kinds-1)
	}
	if kinds > 0 {
		fmt.Fprintf(env.stderr, "warning: %s holds what a sound trace would not: %s (tidemark trace info lists it)\n", name, text)
	}
}

// followed is a trace whose first reading is followed.
type followed struct {
	traces.Source
	pass *firstPass
}

func (s followed) Open() (traces.Input, error) {
	in, err := s.Source.Open()
	if err != nil {
		s.pass.end(nil, false)
		return nil, err
	}
	return followedInput{outer{in}, s.pass}, nil
}

type followedInput struct {
	outer
	pass *firstPass
}

func (in followedInput) Next() (traces.Op, error) {
	op, err := in.outer.Next()
	if err != nil {
		in.pass.end(in.Input, err == io.EOF)
	}
	return op, err
}

func (in followedInput) Close() error {
	in.pass.end(in.Input, false)
	return in.outer.Close()
}
