package main

import (
	"errors"
	"fmt"

	"github.com/tidemark/tidemark/bench"
	"github.com/tidemark/tidemark/bench/exp"
	"github.com/tidemark/tidemark/bench/report"
	"github.com/tidemark/tidemark/occ/history"
)

// settingHelp explains what exp.ParseSetting takes.
const settingHelp = `A setting is one of:

    occ    conventional OCC: the server validates every transaction
    2s     read-optimized OCC with that freshness bound ε: read-only
           transactions run locally, at most ε in the past; 0s for newest
    inf    the same without a bound

and with -passive behind it (occ-passive, 2s-passive) a running transaction is not told that it is bound to fail.

`

const sourcesHelp = `The simulation gives traffic, messages, aborts and staleness, the same to the byte each time. Live replays, with a ` +
	`server process and real connections, give CPU and latency. Each replay's history and file system are checked; a violation ends the command with exit code 3, and all else that keeps it from its end with 1.`

type benchCmd struct {
	Traces   []string `arg:"" optional:"" name:"TRACE" help:"Traces to replay. Without any: the bundled NFS sample, and a generated hour like the report's."`
	Settings []string `default:"${settings}" placeholder:"SETTING" help:"Columns of the table, separated by commas (default ${default})."`
	Only     string   `enum:"both,sim,live" default:"both" placeholder:"KIND" help:"sim: just the simulation. live: just the live replays."`
	Seed     uint64   `default:"1" placeholder:"N" help:"Seed of the generated hour (default ${default})."`
	replayFlags
}

// Help is the second part of the command's help text.
func (*benchCmd) Help() string { return traceHelp + settingHelp + sourcesHelp }

func (c *benchCmd) Run(env *environment) error {
	var settings []exp.Setting
	for _, text := range c.Settings {
		s, err := exp.ParseSetting(text)
		if err != nil {
			return usage("--settings: %w", err)
		}
		settings = append(settings, s)
	}
	if len(settings) == 0 {
		return usage("--settings names no setting")
	}
	return c.run(env, job{settings: settings, traces: c.Traces, seed: c.Seed, simulate: c.Only != "live", alive: c.Only != "sim", reference: true})
}

// job is what replay and bench have in common.
type job struct {
	settings        []exp.Setting
	traces          []string // none for the built-in loads
	seed            uint64   // of the generated one
	simulate, alive bool
	reference       bool // print the report's figures, too
}

// run replays every trace under every setting and prints a table for each.
func (f *replayFlags) run(env *environment, j job) error {
	o, err := f.options(j.simulate, j.alive)
	if err != nil {
		return err
	}
	o.Settings = j.settings
	out := &output{}
	if f.JSON != "" {
		if out, err = newOutput(env.ctx, f.JSON, env.stdout, outputOptions{}); err != nil {
			return err
		}
	}
	defer out.discard()
	loads, err := f.loads(env, j.traces, j.seed)
	defer loads.close()
	if err != nil {
		return err
	}
	for i, l := range loads.list {
		if i > 0 && f.JSON != "-" {
			fmt.Fprintln(env.stdout)
		}
		if err := f.compare(env, l, o, out); err != nil {
			return err
		}
	}
	if j.reference && f.JSON != "-" {
		fmt.Fprintln(env.stdout)
		show := report.Reference
		if f.Format == "markdown" {
			show = report.ReferenceMarkdown
		}
		if err := show(env.stdout); err != nil {
			return err
		}
	}
	return out.close()
}

func (f *replayFlags) compare(env *environment, l *exp.Load, o bench.Options, out *output) error {
	p := newProgress(env.stderr)
	o.Progress = p.show
	comparison, err := bench.Compare(env.ctx, l, o)
	p.clear()
	if err != nil {
		return judged(err)
	}
	if f.JSON != "-" {
		show := report.Table
		if f.Format == "markdown" {
			show = report.Markdown
		}
		if err := show(env.stdout, comparison); err != nil {
			return err
		}
	}
	if out.w != nil {
		return report.JSON(out.w, comparison, version())
	}
	return nil
}

// judged tells what the check of a replay has found from what kept a replay from
// its end, or its history from being judged.
func judged(err error) error {
	var violations *history.Error
	if errors.As(err, &violations) && violations.Total > 0 || errors.As(err, new(*exp.ProblemsError)) {
		return foundError{err}
	}
	return err
}
