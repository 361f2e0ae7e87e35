package main

import (
	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/filter"
)

type traceFilterCmd struct {
	inputFlags
	From        string   `placeholder:"TIME" help:"Leave out what is before this time."`
	To          string   `placeholder:"TIME" help:"Leave out what is at this time or after it."`
	Hosts       []uint32 `placeholder:"HOST" help:"Only operations of these hosts, separated by commas."`
	First       int64    `default:"0" placeholder:"N" help:"Only the first so many of the operations that the other flags leave, 0 for all (default ${default})."`
	SampleHosts float64  `default:"1" placeholder:"SHARE" help:"Only this share of the hosts, from 0 to 1, with all their operations (default ${default})."`
	SampleFiles float64  `default:"1" placeholder:"SHARE" help:"Only this share of the files, from 0 to 1, with all operations on them (default ${default})."`
	Seed        uint64   `default:"1" placeholder:"N" help:"Another seed samples other hosts and files (default ${default})."`

	ToFormat string `enum:"text,auspex,binary" default:"text" placeholder:"FORM" help:"text, auspex or binary (default ${default})."`
	Output   string `short:"o" type:"path" default:"-" placeholder:"FILE" help:"File to write, which appears only when it is complete (default: standard output)."`
}

// Help is the second part of the command's help text.
func (*traceFilterCmd) Help() string {
	return traceHelp + `A TIME is counted from the first operation of the file (+90s, +10m, +1h30m) or absolute: seconds since 1970 as in the trace, ` +
		`or a date in UTC such as 1993-09-20T10:25:23. The first hour is --to=+1h. Samples are the same each time.

` + formsHelp
}

func (c *traceFilterCmd) Run(env *environment) error {
	pick := filter.Options{Hosts: c.Hosts, First: c.First, HostShare: c.SampleHosts, FileShare: c.SampleFiles, Seed: c.Seed}
	if err := pick.Check(); err != nil {
		return usageError{err}
	}
	for _, m := range []struct {
		flag, text string
		to         **filter.Moment
	}{{"--from", c.From, &pick.From}, {"--to", c.To, &pick.To}} {
		if m.text == "" {
			continue
		}
		moment, err := filter.ParseMoment(m.text)
		if err != nil {
			return usage("%s: %w", m.flag, err)
		}
		*m.to = moment
	}
	return env.copyTrace(c.inputFlags, outputForm{c.ToFormat, c.Output}, func(in traces.Stream) traces.Stream {
		return filter.New(in, pick)
	}, env.stderr)
}
