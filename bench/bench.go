// Package bench compares concurrency controls: it replays loads under several
// settings, in the simulator for traffic, aborts and staleness, and live for
// CPU and latency, and checks every replay.
package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/bench/exp"
	"github.com/tidemark/tidemark/bench/live"
	"github.com/tidemark/tidemark/bench/report"
	"github.com/tidemark/tidemark/bench/sim"
	"github.com/tidemark/tidemark/client"
)

// Options of a comparison.
type Options struct {
	Settings []exp.Setting
	// Sim and Live say which kinds of replay to do; nil leaves one out.
	Sim  *sim.Replay
	Live *live.Options
	// Progress, if set, is told what is being done, and how many of the
	// load's operations have begun.
	Progress func(what string, operations, of int64)
}

// Compare replays a load under each setting. It stops at the first replay that
// fails or whose check finds something wrong.
func Compare(ctx context.Context, load *exp.Load, o Options) (*report.Comparison, error) {
	c := &report.Comparison{Load: load, Conditions: o.conditions(load)}
	progress := func(what string, n int64) {
		if o.Progress != nil {
			o.Progress(what, n, load.Plan.Operations)
		}
	}
	for _, s := range o.Settings {
		col := report.Column{Setting: s}
		var err error
		if o.Sim != nil {
			what := fmt.Sprintf("%s, %s, simulated", load.Name, s.Title())
			progress(what, 0)
			so := *o.Sim
			so.Progress = func(n int64) { progress(what, n) }
			if col.Sim, err = sim.Run(load, s, so); err != nil {
				return nil, err
			}
		}
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if o.Live != nil {
			lo := *o.Live
			lo.Progress = func(round int, n int64) {
				progress(fmt.Sprintf("%s, %s, live, replay %d", load.Name, s.Title(), round+1), n)
			}
			lo.Progress(0, 0)
			if col.Live, err = live.Run(ctx, load, s, lo); err != nil {
				return nil, err
			}
		}
		c.Columns = append(c.Columns, col)
	}
	return c, nil
}

// conditions prints the options that the figures depend on.
func (o Options) conditions(load *exp.Load) []string {
	list := []string{fmt.Sprintf("blocks of %d bytes", load.Plan.Image.BlockSize)}
	cache := int64(0)
	if o.Sim != nil {
		so := o.Sim.Options.WithDefaults()
		cache = o.Sim.CacheBytes
		bandwidth := "unlimited"
		if so.Bandwidth > 0 {
			bandwidth = fmt.Sprintf("%g MB/s", so.Bandwidth/1e6)
		}
		list = append(list,
			fmt.Sprintf("simulated latency %v one way", so.Latency),
			fmt.Sprintf("log sync %v", so.LogSync),
			"bandwidth "+bandwidth)
	}
	if o.Live != nil {
		cache = o.Live.CacheBytes
		pace := "as fast as the hosts keep up"
		if o.Live.Speed > 0 {
			pace = fmt.Sprintf("%g times trace speed", o.Live.Speed)
		}
		list = append(list, "live "+pace)
		if o.Live.MinCPU > 0 {
			list = append(list, fmt.Sprintf("repeated until %v of CPU are gathered, at most %d times", o.Live.MinCPU, o.Live.MaxRounds))
		}
	}
	if cache == 0 {
		cache = client.DefaultCacheBytes
	}
	list = append(list, fmt.Sprintf("cache %d MiB a host", cache>>20))
	if load.PerOperation {
		list = append(list, "every operation a transaction")
	}
	return list
}

// DefaultMinCPU and DefaultMaxRounds bound the live replays of one setting.
const (
	DefaultMinCPU    = 2 * time.Second
	DefaultMaxRounds = 12
)
