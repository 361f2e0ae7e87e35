package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/tidemark/tidemark/bench/proc"
)

// maxOrder bounds how many commits a server lives for, as a power of two.
const maxOrder = 10

// Kill kills the server so many times, each time after a random number of
// further acknowledgements: often after few, while the clients are still
// reconnecting, and sometimes after many. Each time down is called before it
// starts again. Kill returns when every client has gone on after the last time.
func Kill(ctx context.Context, s *proc.Server, f *Fleet, rounds int, rng *rand.Rand, down func() error) error {
	for round := range rounds {
		err := f.Await(ctx, 1+rng.Int64N(1<<rng.IntN(maxOrder+1)))
		if err == nil {
			s.Kill()
			if err = down(); err == nil {
				err = s.Start(ctx)
			}
		}
		if err == nil && rng.IntN(4) == 0 {
			err = f.AwaitAll(ctx)
		}
		if err != nil {
			return fmt.Errorf("round %d: %w", round+1, err)
		}
	}
	return f.AwaitAll(ctx)
}
