package main

import "github.com/tidemark/tidemark/bench/exp"

type replayCmd struct {
	Trace   string `arg:"" name:"TRACE" help:"Trace to replay."`
	Setting string `default:"2s" placeholder:"SETTING" help:"Setting to replay it under (default ${default})."`
	Live    bool   `help:"Replay with a server process and real connections, and measure CPU and latency, instead of simulating."`
	replayFlags
}

// Help is the second part of the command's help text.
func (*replayCmd) Help() string { return traceHelp + settingHelp + sourcesHelp }

func (c *replayCmd) Run(env *environment) error {
	s, err := exp.ParseSetting(c.Setting)
	if err != nil {
		return usage("--setting: %w", err)
	}
	return c.run(env, job{settings: []exp.Setting{s}, traces: []string{c.Trace}, simulate: !c.Live, alive: c.Live})
}
