package main

import (
	"encoding/json"

	"github.com/tidemark/tidemark/traces"
)

type traceCmd struct {
	Info traceInfoCmd `cmd:"" help:"Say what a trace holds: operations, hosts, files, bytes, sharing, and everything odd."`
}

type traceInfoCmd struct {
	Trace       string `arg:"" name:"TRACE" help:"Trace in the Auspex text format, plain or compressed by gzip, bzip2 or zstd; - is standard input."`
	JSON        bool   `help:"Print JSON."`
	SkipUnknown bool   `help:"Skip lines that make no sense, and count them, instead of failing."`
}

func (c *traceInfoCmd) Run(env *environment) error {
	src, err := traces.NewSource(c.Trace, env.stdin, traces.Options{SkipUnknown: c.SkipUnknown})
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := traces.Collect(src)
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
