package main

type traceCmd struct {
	Info    traceInfoCmd    `cmd:"" help:"Say what a trace holds: operations, transactions, hosts, files, bytes, sharing, and everything odd."`
	Head    traceHeadCmd    `cmd:"" help:"Print the first operations of a trace as text."`
	Convert traceConvertCmd `cmd:"" help:"Write a trace as text, as genuine Auspex text, or in a binary form that is read fast."`
	Filter  traceFilterCmd  `cmd:"" help:"Write a part of a trace: of a time, of some hosts, the first operations, or a sample."`
	Gen     traceGenCmd     `cmd:"" help:"Make a trace from a seed."`
}

// Help is the second part of the command's help text.
func (*traceCmd) Help() string {
	return traceHelp + `Look at a trace before you replay it, and cut out what you need of a long one:

    tidemark trace info FILE
    tidemark trace filter FILE --to=+1h -o hour.txt
    tidemark trace convert FILE --to binary -o FILE.tmops
    tidemark bench hour.txt

`
}

// inputFlags are common to the commands that read a trace.
type inputFlags struct {
	Trace       string `arg:"" name:"TRACE" help:"Trace to read, - for standard input."`
	SkipUnknown bool   `help:"Skip lines that make no sense, and count them, instead of failing."`
}
