package gen

import "github.com/tidemark/tidemark/traces"

// Name is how the load is called.
const Name = "auspex-hour"

// Source returns the load as a trace that can be read any number of times, or
// the error of Check. Each reading makes the operations anew, in memory that
// does not grow with their number. An operation's Line is its place in the
// text that has one operation a line.
func (h Hour) Source() (traces.Source, error) {
	if err := h.Check(); err != nil {
		return nil, err
	}
	return source{Name, func() traces.Stream { return newGenerator(h) }}, nil
}

// source is a trace that is made when it is read.
type source struct {
	name string
	make func() traces.Stream
}

func (s source) Name() string { return s.name }
func (s source) Close() error { return nil }

func (s source) Open() (traces.Input, error) { return input{s.make()}, nil }

type input struct{ traces.Stream }

func (input) Close() error                        { return nil }
func (input) Skipped() (int64, *traces.LineError) { return 0, nil }
