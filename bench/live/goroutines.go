package live

import (
	"context"
	"errors"
	"sync"

	"github.com/tidemark/tidemark/client"
)

// errGivenUp is what transactions get that wait for events of a replay which
// has been given up.
var errGivenUp = errors.New("the replay was given up")

// goroutines runs transactions on goroutines.
type goroutines struct {
	wg      sync.WaitGroup
	once    sync.Once
	stopped chan struct{}
}

func newGoroutines() *goroutines { return &goroutines{stopped: make(chan struct{})} }

func (g *goroutines) Go(f func()) { g.wg.Go(f) }

func (g *goroutines) NewCall() client.Call { return make(signal, 1) }

func (g *goroutines) Await(c client.Call) error {
	select {
	case <-c.(signal):
		return nil
	case <-g.stopped:
		return errGivenUp
	}
}

// stop makes every Await fail, now and later.
func (g *goroutines) stop() { g.once.Do(func() { close(g.stopped) }) }

// wait returns when every transaction has ended or ctx has. In the latter case
// they still run: the caller makes them end.
func (g *goroutines) wait(ctx context.Context) error {
	ended := make(chan struct{})
	go func() {
		g.wg.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// signal is the Call of a goroutine.
type signal chan struct{}

func (s signal) Wake() {
	select {
	case s <- struct{}{}:
	default:
	}
}
