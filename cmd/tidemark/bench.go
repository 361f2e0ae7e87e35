package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/alecthomas/kong"

	"github.com/tidemark/tidemark/bench"
	"github.com/tidemark/tidemark/bench/exp"
	"github.com/tidemark/tidemark/bench/live"
	"github.com/tidemark/tidemark/bench/report"
	"github.com/tidemark/tidemark/bench/sim"
	"github.com/tidemark/tidemark/bench/synth"
	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/sample"
)

// replayFlags are common to replay and bench.
type replayFlags struct {
	PerOperation bool `help:"Make every operation a transaction of its own, instead of inferring transactions from opens and closes."`
	SkipUnknown  bool `help:"Skip lines of the trace that make no sense, and count them, instead of failing."`

	CacheMiB    int64 `name:"cache" default:"64" placeholder:"MIB" help:"Cache of each host. (${default} MiB)"`
	MaxAttempts int   `default:"100" help:"How often a transaction may begin before it counts as given up. (${default})"`

	Latency   time.Duration `default:"500us" help:"Simulated network latency, one way. (${default})"`
	LogSync   time.Duration `default:"1ms" help:"Simulated time of a log write. (${default})"`
	Bandwidth float64       `default:"0" placeholder:"MB/S" help:"Simulated bandwidth of each connection, 0 for no limit. (${default})"`

	CPU    time.Duration `default:"${cpu}" help:"Repeat a live replay until it has used this much CPU. (${default})"`
	Rounds int           `default:"${rounds}" help:"But at most this often. (${default})"`
	Speed  float64       `default:"0" help:"Pace live replays at so many times the trace's speed; 0 is as fast as possible. (${default})"`

	JSON string `type:"path" placeholder:"FILE" help:"Also write the figures as JSON lines; - prints them instead of the table."`
}

func variables() kong.Vars {
	return kong.Vars{"cpu": bench.DefaultMinCPU.String(), "rounds": fmt.Sprint(bench.DefaultMaxRounds)}
}

type benchCmd struct {
	Traces   []string `arg:"" optional:"" name:"TRACE" help:"Traces in the Auspex text format, plain or compressed by gzip, bzip2 or zstd; - is standard input. Without any, the bundled NFS sample and a synthetic load."`
	Settings []string `default:"occ,2s,100ms,0s" help:"Columns of the table: occ is conventional OCC, a duration is read-optimized OCC with that freshness bound, inf one without; -passive behind it switches active aborts off. (${default})"`
	Only     string   `enum:"both,sim,live" default:"both" help:"sim: only the simulation (traffic, aborts, staleness). live: only live replays (CPU, latency). (${default})"`
	Seed     uint64   `default:"1" help:"Seed of the synthetic load. (${default})"`
	replayFlags
}

func (c *benchCmd) Run(env *environment) error {
	var settings []exp.Setting
	for _, text := range c.Settings {
		s, err := exp.ParseSetting(text)
		if err != nil {
			return err
		}
		settings = append(settings, s)
	}
	o, err := c.options(c.Only != "live", c.Only != "sim")
	if err != nil {
		return err
	}
	o.Settings = settings
	out, err := c.output(env)
	if err != nil {
		return err
	}
	defer out.discard()
	loads, err := c.loads(env, c.Traces, c.Seed)
	if err != nil {
		return err
	}
	for _, l := range loads {
		if err := c.compare(env, l, o, out); err != nil {
			return err
		}
	}
	if c.JSON != "-" {
		if err := report.Reference(env.stdout); err != nil {
			return err
		}
	}
	return out.close()
}

type replayCmd struct {
	Trace   string `arg:"" name:"TRACE" help:"Trace in the Auspex text format, plain or compressed by gzip, bzip2 or zstd; - is standard input."`
	Setting string `default:"2s" help:"occ is conventional OCC, a duration is read-optimized OCC with that freshness bound, inf one without; -passive behind it switches active aborts off. (${default})"`
	Live    bool   `help:"Replay with a server process over TCP, and measure CPU and latency, instead of simulating."`
	replayFlags
}

func (c *replayCmd) Run(env *environment) error {
	s, err := exp.ParseSetting(c.Setting)
	if err != nil {
		return err
	}
	o, err := c.options(!c.Live, c.Live)
	if err != nil {
		return err
	}
	o.Settings = []exp.Setting{s}
	out, err := c.output(env)
	if err != nil {
		return err
	}
	defer out.discard()
	loads, err := c.loads(env, []string{c.Trace}, 0)
	if err != nil {
		return err
	}
	if err := c.compare(env, loads[0], o, out); err != nil {
		return err
	}
	return out.close()
}

func (c *replayFlags) options(simulate, alive bool) (o bench.Options, err error) {
	if c.CacheMiB <= 0 || c.MaxAttempts <= 0 || c.Rounds <= 0 || c.Latency < 0 || c.LogSync < 0 || c.Bandwidth < 0 || c.Speed < 0 || c.CPU < 0 {
		return o, errors.New("--cache, --max-attempts and --rounds must be positive, the other figures not negative")
	}
	if simulate {
		o.Sim = &sim.Replay{
			Options:    sim.Options{Latency: c.Latency, LogSync: c.LogSync, Bandwidth: c.Bandwidth * 1e6, MemoryBytes: replayMemory},
			CacheBytes: c.CacheMiB << 20, MaxAttempts: c.MaxAttempts, Tree: true,
		}
	}
	if alive {
		program, err := os.Executable()
		if err != nil {
			return o, err
		}
		o.Live = &live.Options{
			Command: []string{program, "serve"}, ServerFlags: []string{fmt.Sprintf("--memory=%d", replayMemory>>20)},
			CacheBytes: c.CacheMiB << 20, MaxAttempts: c.MaxAttempts, Speed: c.Speed,
			MinCPU: c.CPU, MaxRounds: c.Rounds,
		}
	}
	return o, nil
}

// replayMemory is the memory budget of a replay's server, in bytes.
const replayMemory = 8 << 30

// loads makes the first pass over the traces, or over the built-in loads if
// there are none.
func (c *replayFlags) loads(env *environment, paths []string, seed uint64) ([]*exp.Load, error) {
	const blockSize = 4096
	var loads []*exp.Load
	add := func(name string, src traces.Source, notes ...string) error {
		l, err := exp.NewLoad(name, src, blockSize, c.PerOperation, notes...)
		if err == nil {
			loads = append(loads, l)
		}
		return err
	}
	for _, path := range paths {
		src, err := traces.NewSource(path, env.stdin, traces.Options{SkipUnknown: c.SkipUnknown})
		if err != nil {
			return nil, err
		}
		if err := add(src.Name(), src); err != nil {
			return nil, err
		}
	}
	if len(paths) > 0 {
		return loads, nil
	}
	if err := add("bundled NFS sample", sample.Source(), sampleNotes...); err != nil {
		return nil, err
	}
	p := synth.Default()
	p.Seed = seed
	if err := add("synthetic load", p.Source(), synthNotes...); err != nil {
		return nil, err
	}
	return loads, nil
}

var sampleNotes = []string{
	"real requests of 56 workstations to animation-studio file servers in 2003 (DataSeries, BSD licence), converted to the Auspex form.",
	"it spans 4.5 s, no host reads a data block twice, and its six read/write transactions share no file with other hosts:",
	"it shows metadata caching and message counts, not data savings or conflicts; those show on the synthetic load.",
}

var synthNotes = []string{
	"made by a seeded generator (docs/loads.md): 94% of transactions read-only, in bursts, hosts re-reading a hot set, some of it",
	"shared and written by others. Its parameters are assumptions; it says how the settings compare, not what a real site would see.",
}

func (c *replayFlags) compare(env *environment, l *exp.Load, o bench.Options, out *output) error {
	p := newProgress(env.stderr)
	o.Progress = p.show
	comparison, err := bench.Compare(env.ctx, l, o)
	p.clear()
	if err != nil {
		return err
	}
	if c.JSON != "-" {
		if err := report.Table(env.stdout, comparison); err != nil {
			return err
		}
		fmt.Fprintln(env.stdout)
	}
	if out.w != nil {
		return report.JSON(out.w, comparison, version())
	}
	return nil
}

// output is where JSON lines go. A file appears only when it is complete.
type output struct {
	w    io.Writer
	file *os.File
	path string
}

func (c *replayFlags) output(env *environment) (*output, error) {
	switch c.JSON {
	case "":
		return &output{}, nil
	case "-":
		return &output{w: env.stdout}, nil
	}
	f, err := os.Create(c.JSON + ".tmp")
	if err != nil {
		return nil, err
	}
	return &output{w: f, file: f, path: c.JSON}, nil
}

func (o *output) close() error {
	if o.file == nil {
		return nil
	}
	err := errors.Join(o.file.Sync(), o.file.Close(), os.Rename(o.file.Name(), o.path))
	o.file = nil
	return err
}

func (o *output) discard() {
	if o.file != nil {
		o.file.Close()
		os.Remove(o.file.Name())
	}
}
