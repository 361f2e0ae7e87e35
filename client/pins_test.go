package client_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server"
)

// TestPinsOverALostConnection: requests whose answers are lost with the
// connection are sent again, and their effects are those of one.
func TestPinsOverALostConnection(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		db := w.open(client.Options{})
		id := w.create(db, "x")[0]
		lose := func(ask func() error) {
			w.Helper()
			w.gate.close()
			ended := make(chan error)
			go func() { ended <- ask() }()
			w.waitHeld()
			w.gate.cut()
			w.ok(<-ended)
		}
		lose(func() error {
			_, err := db.Pin(w.ctx, "p", client.PinOptions{At: 1})
			return err
		})
		w.set(db, id, "y")
		list, err := db.Pins(w.ctx)
		w.ok(err)
		if len(list.Pins) != 1 || list.Pins[0] != (client.Pin{Name: "p", At: 1}) {
			w.Fatalf("%+v", list)
		}
		lose(func() error {
			return db.View(w.ctx, func(tx *client.Tx) error {
				w.sees(tx, id, "x")
				return nil
			}, client.AtSnapshot("p"))
		})
		lose(func() error { return db.Unpin(w.ctx, "p") })
		w.wants(db.Unpin(w.ctx, "p"), client.ErrNoPin)
	})
}

// TestStressSnapshots moves money while the server forgets as fast as it can.
// What is pinned shows the whole sum for as long as it is pinned, to a client
// with hardly any cache, and two looks at it see the same.
func TestStressSnapshots(t *testing.T) {
	overBoth(t, snapshots, func(w *world) {
		seed := rand.Uint64()
		w.Logf("seed %d", seed)
		db, cold := w.open(client.Options{MaxAttempts: 10_000}), w.open(client.Options{CacheBytes: 2 * 4096})
		base := openAccounts(w, db)
		var writers sync.WaitGroup
		stop := make(chan struct{})
		for g := range uint64(2) {
			writers.Go(func() {
				rng := rand.New(rand.NewPCG(seed, g))
				for {
					select {
					case <-stop:
						return
					default:
					}
					if err := transfer(w, db, base, rng); err != nil {
						w.Error(err)
						return
					}
				}
			})
		}
		look := func(name string) (state [accounts]uint64, err error) {
			err = cold.View(w.ctx, func(tx *client.Tx) (err error) {
				sum := uint64(0)
				for i := range state {
					if state[i], err = balance(tx, base+occ.BlockID(i)); err != nil {
						return err
					}
					sum += state[i]
				}
				if sum != accounts*deposit {
					return fmt.Errorf("snapshot %s adds up to %d", name, sum)
				}
				return nil
			}, client.AtSnapshot(name))
			return state, err
		}
		states := make(map[string][accounts]uint64)
		err := func() error {
			for i := range 40 {
				name := fmt.Sprint(i % 5)
				if i >= 5 {
					if err := cold.Unpin(w.ctx, name); err != nil {
						return err
					}
				}
				if _, err := cold.Pin(w.ctx, name, client.PinOptions{}); err != nil {
					return err
				}
				delete(states, name)
				if err := db.SetServerClock(w.ctx, time.Duration(i)*time.Minute); err != nil {
					return err
				}
				for k := range min(i+1, 5) {
					name := fmt.Sprint(k)
					state, err := look(name)
					if err != nil {
						return err
					}
					if before, ok := states[name]; ok && state != before {
						return fmt.Errorf("snapshot %s changed from %v to %v", name, before, state)
					}
					states[name] = state
				}
			}
			return nil
		}()
		close(stop)
		writers.Wait()
		w.ok(err)
	})
}
