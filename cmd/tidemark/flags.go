package main

import (
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/samber/lo"

	"github.com/tidemark/tidemark/bench"
	"github.com/tidemark/tidemark/bench/exp"
	"github.com/tidemark/tidemark/bench/live"
	"github.com/tidemark/tidemark/bench/sim"
	"github.com/tidemark/tidemark/server"
)

const (
	// maxMiB is the largest amount of memory that can be asked for.
	maxMiB = math.MaxInt64 >> 20
	// replayMemory is the memory budget of a replay's server, in bytes.
	replayMemory = 8 << 30
	// minSpeed and maxSpeed bound the pace of a live replay.
	minSpeed, maxSpeed = 0.001, 1e6
)

// replayFlags are common to replay and bench.
type replayFlags struct {
	PerOperation bool  `help:"Make every operation a transaction of its own, instead of inferring transactions from opens and closes."`
	SkipUnknown  bool  `help:"Skip lines of a trace that make no sense, and count them, instead of failing."`
	CacheMiB     int64 `name:"cache" default:"64" placeholder:"MIB" help:"Cache of each host (default ${default})."`
	MaxAttempts  int   `default:"100" placeholder:"N" help:"How often a transaction may begin before it is given up (default ${default})."`

	Format string `enum:"table,markdown" default:"table" placeholder:"FORMAT" help:"table: for the terminal. markdown: the same rows in Markdown."`
	JSON   string `type:"path" placeholder:"FILE" help:"Write the figures as JSON lines, too, one for each setting and kind of replay. - prints them instead of the table."`

	Latency   time.Duration `group:"Simulation:" default:"500us" placeholder:"TIME" help:"Network latency, one way (default ${default})."`
	LogSync   time.Duration `group:"Simulation:" default:"1ms" placeholder:"TIME" help:"Time that a write of the commit log takes (default ${default})."`
	Bandwidth float64       `group:"Simulation:" default:"0" placeholder:"MB/S" help:"Bandwidth of each connection, 0 for no limit (default ${default})."`

	CPU    time.Duration `name:"cpu" group:"Live replays:" default:"${cpu}" placeholder:"TIME" help:"Repeat each replay until it has used this much CPU (default ${default}) ..."`
	Rounds int           `group:"Live replays:" default:"${rounds}" placeholder:"N" help:"... but at most this often (default ${default})."`
	Speed  float64       `group:"Live replays:" default:"0" placeholder:"FACTOR" help:"Pace replays at so many times the trace's speed, 0 for as fast as the hosts keep up (default ${default})."`
}

// variables stand for constants in the tags above.
func variables() kong.Vars {
	settings := lo.Map(exp.Standard(), func(s exp.Setting, _ int) string { return s.String() })
	return kong.Vars{
		"dir": defaultDir, "maxdelay": server.MaxCommitDelay.String(), "cpu": bench.DefaultMinCPU.String(), "rounds": fmt.Sprint(bench.DefaultMaxRounds),
		"settings": strings.Join(settings, ","),
	}
}

// check refuses values that make no sense. Comparisons are the way round that
// also refuses what is not a number.
func (f *replayFlags) check() error {
	switch {
	case f.CacheMiB <= 0 || f.CacheMiB > maxMiB:
		return usage("--cache must be from 1 to %d, not %d", maxMiB, f.CacheMiB)
	case f.MaxAttempts <= 0:
		return usage("--max-attempts must be positive, not %d", f.MaxAttempts)
	case f.Latency <= 0: // without it and without syncs nothing would ever be under way
		return usage("--latency must be positive, not %v", f.Latency)
	case f.LogSync <= 0:
		return usage("--log-sync must be positive, not %v", f.LogSync)
	case !(f.Bandwidth >= 0):
		return usage("--bandwidth must not be negative, but is %v", f.Bandwidth)
	case f.CPU < 0:
		return usage("--cpu must not be negative, but is %v", f.CPU)
	case f.Rounds <= 0:
		return usage("--rounds must be positive, not %d", f.Rounds)
	case f.Speed != 0 && !(f.Speed >= minSpeed && f.Speed <= maxSpeed):
		return usage("--speed must be 0, or from %v to %v, not %v", minSpeed, int(maxSpeed), f.Speed)
	}
	return nil
}

func (f *replayFlags) options(simulate, alive bool) (o bench.Options, err error) {
	if err := f.check(); err != nil {
		return o, err
	}
	if simulate {
		o.Sim = &sim.Replay{
			Options:    sim.Options{Latency: f.Latency, LogSync: f.LogSync, Bandwidth: f.Bandwidth * 1e6, MemoryBytes: replayMemory},
			CacheBytes: f.CacheMiB << 20, MaxAttempts: f.MaxAttempts, Tree: true,
		}
	}
	if alive {
		program, err := os.Executable()
		if err != nil {
			return o, err
		}
		o.Live = &live.Options{
			Command: []string{program, "serve"}, ServerFlags: []string{fmt.Sprintf("--memory=%d", replayMemory>>20)},
			CacheBytes: f.CacheMiB << 20, MaxAttempts: f.MaxAttempts, Speed: f.Speed,
			MinCPU: f.CPU, MaxRounds: f.Rounds,
		}
	}
	return o, nil
}
