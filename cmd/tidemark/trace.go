package main

import (
	"encoding/json"

	"github.com/tidemark/tidemark/traces"
)

type traceCmd struct {
	Info traceInfoCmd `cmd:"" help:"Say what a trace holds: operations, hosts, files, bytes, sharing, and everything odd."`
	Gen  traceGenCmd  `cmd:"" help:"Make a trace from a seed."`
}

type traceInfoCmd struct {
	Trace       string `arg:"" name:"TRACE" help:"Trace to look at."`
	JSON        bool   `help:"Print JSON."`
	SkipUnknown bool   `help:"Skip lines that make no sense, and count them, instead of failing."`
}

// Help is the second part of the command's help text.
func (*traceInfoCmd) Help() string { return traceHelp }

func (c *traceInfoCmd) Run(env *environment) error {
	src, err := env.open(c.Trace, traces.Options{SkipUnknown: c.SkipUnknown})
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := traces.Collect(interruptible{src, env.ctx})
	if err != nil {
		return err
	}
	if c.JSON {
		enc := json.NewEncoder(env.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(info)
	}
	_, err = info.WriteTo(env.stdout)
	return err
}
