package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/alecthomas/kong"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/gen"
)

type traceGenCmd struct {
	AuspexHour genHourCmd  `cmd:"" help:"An hour shaped like the first one of the Berkeley Auspex trace."`
	Dense      genDenseCmd `cmd:"" help:"15 seconds with as many transactions as the hour, for measurements of CPU."`
}

// Help is the second part of the command's help text.
func (*traceGenCmd) Help() string {
	return "The same flags give the same trace, to the byte, so that a figure can name its load by a command."
}

// genOutput is where a generated trace goes.
type genOutput struct {
	Output string `short:"o" type:"path" default:"-" placeholder:"FILE" help:"Where to write the trace; - is standard output (default ${default})."`
}

type genHourCmd struct {
	Seed       uint64        `default:"${hour_seed}" placeholder:"N" help:"Another seed gives another trace of the same shape (default ${default})."`
	Hosts      int           `default:"${hour_hosts}" placeholder:"N" help:"Hosts (default ${default})."`
	Operations int64         `default:"${hour_operations}" placeholder:"N" help:"Operations, exactly (default ${default})."`
	Duration   time.Duration `default:"${hour_duration}" placeholder:"TIME" help:"Trace time that they fill (default ${default})."`
	Writes     float64       `default:"${hour_writes}" placeholder:"SHARE" help:"Share of the transactions that are read/write, 0 to 1 (default ${default})."`
	Sharing    float64       `default:"${hour_sharing}" placeholder:"SHARE" help:"Share of the accesses to files that several hosts use, 0 to 1 (default ${default})."`
	genOutput
}

// Help is the second part of the command's help text.
func (*genHourCmd) Help() string {
	return `The genuine trace can be downloaded but not shipped. This one has its format and what is known of its shape: by default 100,000 operations of 134 hosts in an hour, in which 65,883 read-only and 3,882 read/write transactions are found, most of them lone Attr records, in bursts, with little sharing. docs/loads.md says where each number comes from, which were fitted and which are assumptions.

    tidemark trace gen auspex-hour -o hour.txt
    tidemark trace info hour.txt
    tidemark bench --only sim hour.txt

More of the same, a day of it, and a load of many conflicts:

    tidemark trace gen auspex-hour --operations 2400000 --duration 24h -o day.txt
    tidemark trace gen auspex-hour --writes 0.3 --sharing 0.6 | tidemark bench -

Longer traces need no more memory.`
}

func (c *genHourCmd) Run(env *environment) error {
	h := gen.Hour{Seed: c.Seed, Hosts: c.Hosts, Operations: c.Operations, Duration: c.Duration, WriteShare: c.Writes, SharingShare: c.Sharing}
	src, err := h.Source()
	if p := (*gen.ParamError)(nil); errors.As(err, &p) {
		return usage("--%w", err)
	}
	if err != nil {
		return err
	}
	return c.write(env, src, c.Operations)
}

type genDenseCmd struct {
	Seed uint64 `default:"1" placeholder:"N" help:"Another seed gives another trace of the same shape (default ${default})."`
	genOutput
}

// Help is the second part of the command's help text.
func (*genDenseCmd) Help() string {
	return "Hosts read a hot set again and again, some of it shared and written by others, 65,000 transactions in all. All of it is assumption; see docs/loads.md.\n\n" +
		"    tidemark trace gen dense | tidemark bench -"
}

func (c *genDenseCmd) Run(env *environment) error {
	p := gen.DefaultDense()
	p.Seed = c.Seed
	return c.write(env, p.Source(), 0)
}

// write writes a trace as text. Of is the number of its operations, 0 if that
// is not known.
func (g *genOutput) write(env *environment, src traces.Source, of int64) error {
	out, err := newOutput(env.ctx, g.Output, env.stdout, outputOptions{})
	if err != nil {
		return err
	}
	defer out.discard()
	if err := g.fill(env, out.w, src, of); err != nil {
		return err
	}
	return out.close()
}

// fill writes the whole trace to an output.
func (g *genOutput) fill(env *environment, to io.Writer, src traces.Source, of int64) error {
	in, err := src.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	shown := newProgress(env.stderr)
	shown.active = shown.active && g.Output != "-" && of > 0
	defer shown.clear()
	w := bufio.NewWriterSize(to, 1<<16)
	var line []byte
	for {
		op, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		line = append(traces.AppendAuspex(line[:0], op), '\n')
		if _, err := w.Write(line); err != nil {
			return err
		}
		if op.Line%1024 == 0 {
			if env.ctx.Err() != nil {
				return context.Cause(env.ctx)
			}
			shown.show(src.Name(), op.Line, of)
		}
	}
	return w.Flush()
}

// genVariables stand for the defaults in the tags above.
func genVariables() kong.Vars {
	h := gen.DefaultHour()
	return kong.Vars{
		"hour_seed": fmt.Sprint(h.Seed), "hour_hosts": fmt.Sprint(h.Hosts), "hour_operations": fmt.Sprint(h.Operations),
		"hour_duration": h.Duration.String(), "hour_writes": fmt.Sprint(h.WriteShare), "hour_sharing": fmt.Sprint(h.SharingShare),
	}
}
