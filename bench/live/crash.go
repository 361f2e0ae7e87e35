package live

import (
	"math/rand/v2"
	"slices"
)

// chooseKills returns before which operations, counted from 1, the server is
// killed.
func chooseKills(o Options, round int, operations int64) []int64 {
	if operations == 0 {
		return nil
	}
	rng := rand.New(rand.NewPCG(o.Seed, uint64(round)))
	kills := make([]int64, o.Kills)
	for i := range kills {
		kills[i] = 1 + rng.Int64N(operations)
	}
	slices.Sort(kills)
	return kills
}

// crash kills the server while the hosts are at work and starts it again. It
// returns when the server has been told the time, of which it knows nothing
// then.
func (r *round) crash() error {
	if err := r.process.Crash(r.ctx); err != nil {
		return err
	}
	return r.builder.SetServerClock(r.ctx, r.clock)
}
