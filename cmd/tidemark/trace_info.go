package main

import (
	"encoding/json"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/survey"
)

type traceInfoCmd struct {
	inputFlags
	JSON bool `help:"Print JSON."`
}

// Help is the second part of the command's help text.
func (*traceInfoCmd) Help() string {
	return traceHelp + "What a sound trace would not have (damage, loss, repetition) is listed last, and in one line on standard error, too. " +
		"The exit code is 0 all the same; it is 1 if the trace cannot be read to its end."
}

func (c *traceInfoCmd) Run(env *environment) error {
	src, err := env.open(c.Trace, traces.Options{SkipUnknown: c.SkipUnknown, Once: true})
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := survey.Collect(src)
	if err != nil {
		return err
	}
	if info.Operations == 0 { // else this was done at the trace's end
		env.warnOdd(traceName(c.Trace), info.Findings)
	}
	if c.JSON {
		enc := json.NewEncoder(env.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(info)
	}
	_, err = info.WriteTo(env.stdout)
	return err
}
