package live

import (
	"context"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/bench/exp"
)

// Options of a live replay.
type Options struct {
	// Command starts a server, such as {"tidemark", "serve"}.
	Command []string
	// ServerFlags are further flags for it.
	ServerFlags []string
	CacheBytes  int64 // of each host, 0 for the client's default
	MaxAttempts int   // of each transaction
	// Speed paces the replay at that many times trace speed; 0 is as fast as
	// the hosts keep up.
	Speed float64
	// MinCPU is how much CPU time, of both processes together, is gathered
	// by repeating the replay; at most MaxRounds times. 0 means one round.
	MinCPU    time.Duration
	MaxRounds int
	// Progress, if set, is told now and then how many operations of a round
	// have begun.
	Progress func(round int, operations int64)
	// Tree asks for the digest of the file tree, which reads every file.
	Tree bool
	// Kills is how often in each round the server is killed, at trace times
	// that Seed chooses, and started again. The hosts then ride over lost
	// connections, which otherwise end the replay; and the figures have no CPU
	// time of the server and no size of its log, which it takes with it.
	Kills int
	Seed  uint64
}

const (
	// batchEvents is how many events are read ahead at a time, while the CPU
	// meter is paused.
	batchEvents = 1 << 16
	// builder is the number of the client that builds the image.
	builder = -1
	// clockStep is how often the server's retention clock is moved, in
	// trace time.
	clockStep = time.Second
)

// Run replays a load under a setting, and checks each replay. The figures are
// those of all rounds together: means of CPU times, sums of everything else.
func Run(ctx context.Context, load *exp.Load, setting exp.Setting, o Options) (*exp.Figures, error) {
	f := &exp.Figures{Setting: setting}
	f.CPU.Hosts = len(load.Plan.Hosts)
	var clients, servers []float64
	var ro, rw exp.Recorder
	for gathered := time.Duration(0); f.Rounds == 0 || gathered < o.MinCPU && f.Rounds < max(o.MaxRounds, 1); {
		r := newRound(ctx, load, setting, o, f)
		r.number = f.Rounds
		err := r.run()
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = cause // whatever else went wrong follows from it
		}
		if err != nil {
			return f, fmt.Errorf("live replay of %s under %s, round %d: %w", load.Name, setting, f.Rounds+1, err)
		}
		f.Rounds++
		clients = append(clients, r.client.Seconds())
		servers = append(servers, r.server.Seconds())
		gathered += r.client + r.server
		f.CPU.Wall += r.wall
		ro.Merge(&r.ro)
		rw.Merge(&r.rw)
	}
	f.CPU.Wall /= time.Duration(f.Rounds)
	f.CPU.Client, f.CPU.Server = exp.Summarize(clients), exp.Summarize(servers)
	f.ReadOnlyLatency, f.ReadWriteLatency = ro.Quantiles(), rw.Quantiles()
	return f, f.Err()
}
