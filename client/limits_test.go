package client_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server"
)

func TestLimits(t *testing.T) {
	limits := wire.Limits{CommitReads: 4, CommitWrites: 3, CommitBytes: 3*4096 - 100, LeaseBlocks: 100}
	overBoth(t, server.Options{Limits: limits, Heartbeat: time.Hour}, func(w *world) {
		db := w.open(client.Options{})
		w.create(db, "a", "b")
		w.ok(db.View(w.ctx, func(tx *client.Tx) error {
			_, err := tx.ReadMany([]occ.BlockID{1, 2, 3, 4, 5, 6})
			return err
		}))
		update := func(reads, writes int, size int) error {
			return db.Update(w.ctx, func(tx *client.Tx) error {
				for i := range reads {
					if _, err := tx.Read(occ.BlockID(1 + i)); err != nil {
						return err
					}
				}
				for i := range writes {
					if err := tx.Write(occ.BlockID(10+i), make([]byte, size)); err != nil {
						return err
					}
				}
				return nil
			})
		}
		for name, run := range map[string]func() error{
			"read set":             func() error { return update(5, 0, 0) },
			"write set":            func() error { return update(0, 4, 0) },
			"commit in bytes":      func() error { return update(0, 3, 4096) },
			"block data":           func() error { return update(0, 1, 4097) },
			"freshness bound (ns)": func() error { return db.View(w.ctx, nil, client.Freshness(time.Hour)) },
			"block range": func() error {
				_, err := db.CreateRange(w.ctx, 101)
				return err
			},
		} {
			sent, _ := cost(db, func() {
				err := run()
				var limit *client.LimitError
				if !errors.As(err, &limit) || limit.Name != name || limit.Value <= limit.Limit || !strings.Contains(err.Error(), name) {
					w.Errorf("%s: got %v", name, err)
				}
			})
			if n := sent.Total().Messages; n > 0 {
				w.Errorf("%s: %d messages were sent", name, n)
			}
		}
		w.ok(update(4, 2, 4096)) // nothing of it left anything behind
		if _, err := db.CreateRange(w.ctx, 0); err == nil {
			w.Error("a range of no blocks")
		}
		if err := db.View(w.ctx, nil, client.Freshness(-1)); err == nil {
			w.Error("a negative freshness bound")
		}
		w.ok(db.Ping(w.ctx))
	})
}

// A pool of ids is refilled within the limit of the server.
func TestSmallLeases(t *testing.T) {
	overBoth(t, server.Options{Limits: wire.Limits{LeaseBlocks: 2}}, func(w *world) {
		ids := w.create(w.open(client.Options{}), "a", "b", "c", "d", "e")
		seen := map[occ.BlockID]bool{}
		for _, id := range ids {
			seen[id] = true
		}
		if len(seen) != len(ids) {
			w.Errorf("ids %v", ids)
		}
	})
}

func TestMaxTransactions(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		db := w.open(client.Options{})
		all := make([]*client.Tx, client.MaxTransactions)
		for i := range all {
			all[i] = w.beginView(db, client.Freshness(client.Unbounded))
		}
		_, err := db.Begin(w.ctx)
		var limit *client.LimitError
		if !errors.As(err, &limit) || limit.Limit != client.MaxTransactions {
			w.Fatalf("got %v", err)
		}
		all[77].Abort()
		w.begin(db).Abort()
		for _, tx := range all {
			tx.Abort()
		}
	})
}

// The store's own budget is the server's to enforce: the commit is refused,
// with the reason.
func TestStoreFull(t *testing.T) {
	overBoth(t, server.Options{MemoryBytes: 64 << 10}, func(w *world) {
		db := w.open(client.Options{})
		var err error
		for i := range 100 {
			err = db.Update(w.ctx, func(tx *client.Tx) error {
				return tx.Write(occ.BlockID(i), []byte(strings.Repeat("x", 4096)))
			})
			if err != nil {
				break
			}
		}
		var aborted *client.AbortError
		if !errors.As(err, &aborted) || aborted.Reason != occ.AbortRefused || errors.Is(err, client.ErrConflict) {
			w.Fatalf("got %v", err)
		}
		if aborted.Refused == nil || aborted.Refused.Code != wire.CodeStoreFull || !strings.Contains(err.Error(), aborted.Refused.Text) {
			w.Fatalf("got %v", err)
		}
		if got := w.get(db, 0); got == "" {
			w.Fatal("what was committed before is lost")
		}
	})
}

func TestOptions(t *testing.T) {
	overBoth(t, server.Options{Retention: 10 * time.Second}, func(w *world) {
		for name, o := range map[string]client.Options{
			"cache":     {CacheBytes: -1},
			"attempts":  {MaxAttempts: -1},
			"freshness": {Freshness: -1},
			"too stale": {Freshness: time.Minute}, // only the server knows
		} {
			db, err := w.connect(o)
			if err == nil {
				db.Close()
				w.Errorf("%s: no error", name)
			}
		}
		db := w.open(client.Options{Freshness: client.Unbounded})
		id := w.create(db, "x")[0]
		if sent, _ := cost(db, func() { w.get(db, id) }); sent.Total().Messages != 0 {
			w.Error("the default freshness bound is not used")
		}
	})
}
