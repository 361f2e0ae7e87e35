package main

import (
	"context"

	"github.com/tidemark/tidemark/traces"
)

// traceHelp explains what a trace is.
const traceHelp = `A trace is a file in the Auspex text format, plain or compressed by gzip, bzip2 or zstd; - is standard input. ` +
	"A line is, for instance:\n\n" +
	`    1070903040.000205 Block READ FID: 1a2b OFF: 8192 SIZE: 4096 HOST: 7` + "\n\n"

// open opens a trace. It does not go on waiting for standard input when the
// program is interrupted; what is left behind ends with the program.
func (env *environment) open(path string, o traces.Options) (traces.Source, error) {
	type result struct {
		src traces.Source
		err error
	}
	opened := make(chan result, 1)
	go func() {
		src, err := traces.NewSource(path, env.stdin, o)
		opened <- result{src, err}
	}()
	select {
	case r := <-opened:
		return r.src, r.err
	case <-env.ctx.Done():
		return nil, context.Cause(env.ctx)
	}
}

// interruptible is a trace that cannot be read any more once ctx has ended.
// All work on a trace, simulated replays too, reads it, and so ends.
type interruptible struct {
	traces.Source
	ctx context.Context
}

func (s interruptible) Open() (traces.Input, error) {
	in, err := s.Source.Open()
	if err != nil {
		return nil, err
	}
	return interruptibleInput{in, s.ctx}, nil
}

type interruptibleInput struct {
	traces.Input
	ctx context.Context
}

func (in interruptibleInput) Next() (traces.Op, error) {
	if in.ctx.Err() != nil {
		return traces.Op{}, context.Cause(in.ctx)
	}
	return in.Input.Next()
}
