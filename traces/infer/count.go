package infer

import (
	"io"

	"github.com/tidemark/tidemark/traces"
)

// Count infers the transactions of the operations in src, like NewEvents, and
// only counts them. It keeps nothing but the opens under way: beyond
// Options.MaxBuffered of them it gives up with a LookaheadError.
func Count(src traces.Stream, opt Options) (Counts, error) {
	e := NewEvents(src, opt)
	m := &e.machine
	m.counting = true
	for {
		op, err := e.src.Next()
		if err == io.EOF {
			m.finish()
			return e.Counts(), nil
		}
		if err != nil {
			return Counts{}, err
		}
		if m.operation(op); m.openCount > e.limit {
			return Counts{}, &LookaheadError{Limit: e.limit, Line: op.Line}
		}
	}
}
