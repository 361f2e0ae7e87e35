package main

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
)

const (
	crashClients = 4
	// copies is how many blocks of its own a client sets to the same number in
	// each transaction, far more than fits one page of the disk.
	copies = 8
)

// counters are the blocks that the clients count in.
type counters struct {
	base occ.BlockID
	// acked are the numbers that the server has acknowledged, by client.
	acked [crashClients]uint64
}

func (c *counters) own(client, copy int) occ.BlockID {
	return c.base + occ.BlockID(client*copies+copy)
}

// shared counts the transactions of all clients.
func (c *counters) shared() occ.BlockID { return c.base + crashClients*copies }

func read(tx *client.Tx, id occ.BlockID) (uint64, error) {
	data, err := tx.Read(id)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(data), nil
}

// step adds one to all of a client's own blocks and to the shared one.
func (c *counters) step(tx *client.Tx, size, number int) error {
	set := func(id occ.BlockID, n uint64) error {
		data := make([]byte, size)
		for i := 0; i < size; i += 8 {
			binary.LittleEndian.PutUint64(data[i:], n)
		}
		return tx.Write(id, data)
	}
	for copy := range copies {
		n, err := read(tx, c.own(number, copy))
		if err != nil {
			return err
		}
		if err := set(c.own(number, copy), n+1); err != nil {
			return err
		}
	}
	n, err := read(tx, c.shared())
	if err != nil {
		return err
	}
	return set(c.shared(), n+1)
}

func dial(t *testing.T, addr string) *client.DB {
	t.Helper()
	db, err := client.Dial(t.Context(), addr, client.Options{NoBackground: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// count runs all clients until the server is gone. When target commits have
// been acknowledged it calls end, once, while the others go on.
func (c *counters) count(t *testing.T, addr string, target int64, end func()) {
	var dbs [crashClients]*client.DB
	for number := range dbs {
		dbs[number] = dial(t, addr)
	}
	var total atomic.Int64
	var wg sync.WaitGroup
	for number, db := range dbs {
		wg.Go(func() {
			for {
				err := db.Update(t.Context(), func(tx *client.Tx) error { return c.step(tx, db.BlockSize(), number) })
				if errors.Is(err, client.ErrConflict) {
					continue
				}
				if err != nil {
					if total.Load() < target {
						t.Errorf("client %d, before the server was stopped: %v", number, err)
						end()
					}
					return
				}
				c.acked[number]++
				if total.Add(1) == target {
					end()
				}
			}
		})
	}
	wg.Wait()
}

// check reads everything back: each client's blocks agree, no acknowledged
// commit is missing and at most the one whose answer never came is there
// besides, and the shared block has counted exactly those.
func (c *counters) check(t *testing.T, db *client.DB) {
	t.Helper()
	err := db.View(t.Context(), func(tx *client.Tx) error {
		sum := uint64(0)
		for number := range crashClients {
			found, err := read(tx, c.own(number, 0))
			if err != nil {
				return err
			}
			for copy := 1; copy < copies; copy++ {
				if n, err := read(tx, c.own(number, copy)); err != nil {
					return err
				} else if n != found {
					t.Errorf("client %d: a transaction is there in part: copies say %d and %d", number, found, n)
				}
			}
			if found < c.acked[number] || found > c.acked[number]+1 {
				t.Errorf("client %d: %d commits were acknowledged, %d are there", number, c.acked[number], found)
			}
			c.acked[number] = found
			sum += found
		}
		shared, err := read(tx, c.shared())
		if err == nil && shared != sum {
			t.Errorf("%d commits are there, but the shared block says %d", sum, shared)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCrashesAndStops runs one store through several lives that end at a
// random commit, by kill -9 or by an orderly stop.
func TestCrashesAndStops(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	dir := t.TempDir()
	var c counters
	next := occ.BlockID(0)
	for round, orderly := range []bool{false, false, true, false, false, true, false} {
		p, err := launch(t.Context(), dir, "--dir=data", "--listen=127.0.0.1:0")
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		defer p.Kill()
		db := dial(t, p.Addr)
		// Leased block ids are remembered, too.
		base, err := db.CreateRange(context.Background(), crashClients*copies+1)
		if err != nil {
			t.Fatal(err)
		}
		if base < next {
			t.Errorf("round %d: block %d was leased before, up to %d", round, base, next)
		}
		next = base + crashClients*copies + 1
		if round == 0 {
			c.base = base
		}
		c.check(t, db)
		var stopped error
		c.count(t, p.Addr, 1+rng.Int64N(120), sync.OnceFunc(func() {
			if orderly {
				stopped = p.Stop()
			} else {
				p.Kill()
			}
		}))
		if stopped != nil {
			t.Errorf("round %d: %v", round, stopped)
		}
		if t.Failed() {
			return
		}
	}
	p, err := launch(t.Context(), dir, "--dir=data", "--listen=127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	c.check(t, dial(t, p.Addr))
}
