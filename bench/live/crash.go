package live

import (
	"math/rand/v2"
	"slices"
	"time"
)

// chooseKills returns the trace times at which the server is killed, in order,
// in a trace that lasts span.
func chooseKills(o Options, round int, span time.Duration) []time.Duration {
	rng := rand.New(rand.NewPCG(o.Seed, uint64(round)))
	kills := make([]time.Duration, o.Kills)
	for i := range kills {
		kills[i] = time.Duration(rng.Int64N(int64(span) + 1))
	}
	slices.Sort(kills)
	return kills
}

// crash kills the server while the hosts are at work and starts it again. It
// returns when the server has been told the time, of which it knows nothing
// then.
func (r *round) crash() error {
	r.process.Kill()
	if err := r.process.Start(r.ctx); err != nil {
		return err
	}
	return r.builder.SetServerClock(r.ctx, r.clock)
}
