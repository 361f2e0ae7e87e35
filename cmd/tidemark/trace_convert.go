package main

import "github.com/tidemark/tidemark/traces"

type traceConvertCmd struct {
	inputFlags
	To     string `required:"" enum:"text,auspex,binary" placeholder:"FORM" help:"text, auspex or binary."`
	Output string `short:"o" type:"path" default:"-" placeholder:"FILE" help:"File to write, which appears only when it is complete (default: standard output)."`
}

const formsHelp = `text: the Auspex format, with further types of operations and with names where the trace has them; nothing is lost but line numbers where not every line is an operation, as in nfsdump text (a replay writes them into the blocks). ` +
	`auspex: genuine Auspex lines; what that format lacks becomes what is nearest, and is counted on standard error. ` +
	`binary: a tenth of the size, and several times faster to read; nothing is lost, and replays are the same to the byte.`

// Help is the second part of the command's help text.
func (*traceConvertCmd) Help() string { return traceHelp + formsHelp }

func (c *traceConvertCmd) Run(env *environment) error {
	return env.copyTrace(c.inputFlags, outputForm{c.To, c.Output}, func(in traces.Stream) traces.Stream { return in }, env.stderr)
}
