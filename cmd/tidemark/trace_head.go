package main

import (
	"io"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/filter"
)

type traceHeadCmd struct {
	inputFlags
	N int64 `short:"n" default:"10" placeholder:"N" help:"How many operations (default ${default})."`
}

// Help is the second part of the command's help text.
func (*traceHeadCmd) Help() string {
	return traceHelp + "They come as the lines of the file, not put in order of time."
}

func (c *traceHeadCmd) Run(env *environment) error {
	if c.N <= 0 {
		return usage("-n must be positive, not %d", c.N)
	}
	pick := filter.All()
	pick.First = c.N
	return env.copyTrace(c.inputFlags, outputForm{form: formText, path: "-"}, func(in traces.Stream) traces.Stream {
		return filter.New(in, pick)
	}, io.Discard)
}
