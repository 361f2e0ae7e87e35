package client

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

func TestBackoffBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, attempt := range []int{1, 2, 3, 4, 5, 8, 9, 10, 11, 64, 1000, math.MaxInt} {
		window := time.Duration(0)
		if attempt > 1 {
			window = firstPause
			for range min(attempt-2, 20) {
				window = min(2*window, maxPause)
			}
		}
		low, high := time.Duration(math.MaxInt64), time.Duration(0)
		for range 1000 {
			d := backoff(attempt, rng)
			low, high = min(low, d), max(high, d)
		}
		if low < window/2 || high > window {
			t.Errorf("attempt %d: between %v and %v, the window is %v", attempt, low, high, window)
		}
		if attempt > 1 && high-low < window/4 {
			t.Errorf("attempt %d: between %v and %v is not random", attempt, low, high)
		}
	}
}

// TestRetriable: a transaction runs again when that can help, and not when it
// would end the same way.
func TestRetriable(t *testing.T) {
	for code := wire.CodeMalformed; code <= wire.CodePinName; code++ {
		err := &AbortError{Reason: occ.AbortRefused, Refused: &core.Refusal{Code: code}}
		if want := code == wire.CodeStopping || code == wire.CodeBusy; err.retriable() != want {
			t.Errorf("code %d: %v", code, !want)
		}
	}
	for reason, want := range map[occ.AbortReason]bool{
		occ.AbortConflict: true, occ.AbortActive: true, occ.AbortDisconnected: true, occ.AbortStoreChanged: true, occ.AbortByCaller: false,
	} {
		if err := (&AbortError{Reason: reason}); err.retriable() != want {
			t.Errorf("%v: %v", err, !want)
		}
	}
}
