package client_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server"
)

// TestStress moves money between accounts and audits them, on several clients
// and goroutines at once. Every audit must find the same sum, while it runs
// too, and the history is judged at the end.
func TestStress(t *testing.T) {
	steps := 150
	if testing.Short() {
		steps = 30
	}
	for name, cache := range map[string]int64{"large cache": 0, "tiny cache": 5 * 4096} {
		t.Run(name, func(t *testing.T) {
			overBoth(t, server.Options{}, func(w *world) { stress(w, cache, steps) })
		})
	}
}

const (
	accounts = 12
	deposit  = 100
)

// openAccounts creates the accounts and makes a deposit on each.
func openAccounts(w *world, db *client.DB) (base occ.BlockID) {
	base, err := db.CreateRange(w.ctx, accounts)
	w.ok(err)
	w.ok(db.Update(w.ctx, func(tx *client.Tx) error {
		for i := range occ.BlockID(accounts) {
			if err := put(tx, base+i, deposit); err != nil {
				return err
			}
		}
		return nil
	}))
	return base
}

func stress(w *world, cache int64, steps int) {
	seed := rand.Uint64()
	w.Logf("seed %d", seed)
	first := w.open(client.Options{})
	base := openAccounts(w, first)
	var all sync.WaitGroup
	for c := range 3 {
		db := w.open(client.Options{CacheBytes: cache, MaxAttempts: 10_000, NoActiveAborts: c == 2})
		for g := range 3 {
			all.Go(func() {
				rng := rand.New(rand.NewPCG(seed, uint64(10*c+g)))
				for range steps {
					var err error
					if rng.IntN(2) == 0 {
						err = transfer(w, db, base, rng)
					} else {
						err = audit(w, db, base, rng)
					}
					if err != nil {
						w.Error(err)
						return
					}
				}
			})
		}
	}
	all.Wait()
	w.ok(audit(w, first, base, rand.New(rand.NewPCG(seed, 99))))
}

func put(tx *client.Tx, id occ.BlockID, amount uint64) error {
	return tx.Write(id, binary.LittleEndian.AppendUint64(nil, amount))
}

func balance(tx *client.Tx, id occ.BlockID) (uint64, error) {
	data, err := tx.Read(id)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(data), nil
}

func transfer(w *world, db *client.DB, base occ.BlockID, rng *rand.Rand) error {
	from := base + occ.BlockID(rng.IntN(accounts))
	to := base + occ.BlockID(rng.IntN(accounts))
	return db.Update(w.ctx, func(tx *client.Tx) error {
		a, err := balance(tx, from)
		if err != nil || a == 0 || from == to {
			return err
		}
		b, err := balance(tx, to)
		if err != nil {
			return err
		}
		if err := put(tx, from, a-1); err != nil {
			return err
		}
		return put(tx, to, b+1)
	})
}

func audit(w *world, db *client.DB, base occ.BlockID, rng *rand.Rand) error {
	var when client.TxOption
	bound := []time.Duration{0, 50 * time.Millisecond, client.Unbounded}[rng.IntN(3)]
	order := rng.Perm(accounts)
	many := rng.IntN(2) == 0
	if when = client.Freshness(bound); rng.IntN(4) == 0 {
		when = client.At(1 + occ.Timestamp(rng.Uint64N(uint64(db.Stats().GLUB))))
	}
	return db.View(w.ctx, func(tx *client.Tx) error {
		ids := make([]occ.BlockID, accounts)
		for i, at := range order {
			ids[i] = base + occ.BlockID(at)
		}
		if many {
			if _, err := tx.ReadMany(ids[:accounts/2]); err != nil {
				return err
			}
		}
		sum := uint64(0)
		for _, id := range ids {
			amount, err := balance(tx, id)
			if err != nil {
				return err
			}
			sum += amount
		}
		if sum != accounts*deposit {
			return fmt.Errorf("an audit with bound %v found %d", bound, sum)
		}
		return nil
	}, when)
}
