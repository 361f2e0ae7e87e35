package main

import (
	"context"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/format"
)

// traceHelp explains what a trace is.
var traceHelp = `A trace is a file in one of these formats, which is told by its content: ` + format.Supported() +
	`; plain, or compressed by gzip, bzip2 or zstd. - is standard input. A line of Auspex text is, for instance:` + "\n\n" +
	`    1070903040.000205 Block READ FID: 1a2b OFF: 8192 SIZE: 4096 HOST: 7` + "\n\n"

// open opens a trace, which ends when the program is interrupted, and shows
// how far its first reading is. It does not go on waiting for standard input
// when interrupted; what is left behind ends with the program.
func (env *environment) open(path string, o traces.Options) (traces.Source, error) {
	return env.openShowing(path, o, newProgress(env.stderr))
}

func (env *environment) openShowing(path string, o traces.Options, p *progress) (traces.Source, error) {
	pass := &firstPass{env: env, name: traceName(path), progress: p}
	o.Watch = pass.watch
	src, err := patiently(env.ctx, func() (traces.Source, error) {
		stdin := env.stdin
		if o.Once {
			stdin = newPatient(env.ctx, stdin)
		}
		return format.NewSource(path, stdin, o)
	})
	pass.progress.clear()
	if err != nil {
		return nil, err
	}
	return followed{interruptible{src, env.ctx}, pass}, nil
}

// traceName is how warnings call a trace.
func traceName(path string) string {
	if path == traces.Stdin {
		return "standard input"
	}
	return path
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
	return interruptibleInput{outer{in}, s.ctx}, nil
}

type interruptibleInput struct {
	outer
	ctx context.Context
}

func (in interruptibleInput) Next() (traces.Op, error) {
	if in.ctx.Err() != nil {
		return traces.Op{}, context.Cause(in.ctx)
	}
	return in.outer.Next()
}

// outer is an Input around another one, and tells all that that one can tell.
type outer struct{ traces.Input }

func (in outer) Findings() []traces.Finding { return traces.Findings(in.Input) }
func (in outer) Format() string             { return traces.Format(in.Input) }
