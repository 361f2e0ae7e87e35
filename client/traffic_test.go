package client_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server"
)

// cost returns what a client sends and receives while run runs.
func cost(db *client.DB, run func()) (sent, received client.Counts) {
	before := db.Stats().Traffic
	run()
	after := db.Stats().Traffic
	for i := range after.Sent {
		sent[i] = client.Count{Messages: after.Sent[i].Messages - before.Sent[i].Messages, Bytes: after.Sent[i].Bytes - before.Sent[i].Bytes}
		received[i] = client.Count{Messages: after.Received[i].Messages - before.Received[i].Messages, Bytes: after.Received[i].Bytes - before.Received[i].Bytes}
	}
	return sent, received
}

func TestWhatAReadOnlyTransactionCosts(t *testing.T) {
	overBoth(t, server.Options{Heartbeat: time.Hour}, func(w *world) {
		db := w.open(client.Options{})
		ids := w.create(db, "x", "y", "z")
		view := func(opts ...client.TxOption) func() {
			return func() {
				w.ok(db.View(w.ctx, func(tx *client.Tx) error {
					for _, id := range ids {
						if _, err := tx.Read(id); err != nil {
							return err
						}
					}
					return nil
				}, opts...))
			}
		}
		if sent, received := cost(db, view(client.Freshness(client.Unbounded))); sent.Total().Messages+received.Total().Messages > 0 {
			w.Errorf("without a bound: %d messages out, %d in", sent.Total().Messages, received.Total().Messages)
		}
		sent, received := cost(db, view())
		ping, pong := sent.Of(wire.TypePing), received.Of(wire.TypePong)
		if ping.Messages != 1 || sent.Total() != ping || pong.Messages != 1 || received.Total() != pong {
			w.Errorf("with bound 0: %+v out, %+v in", sent.Total(), received.Total())
		}
		if ping.Bytes > 16 || pong.Bytes > 16 {
			w.Errorf("a ping of %d bytes and a pong of %d", ping.Bytes, pong.Bytes)
		}
		// The sync point of just now is younger than this for all the test's life.
		if sent, received := cost(db, view(client.Freshness(20*time.Second))); sent.Total().Messages+received.Total().Messages > 0 {
			w.Errorf("with a young sync point: %d messages out, %d in", sent.Total().Messages, received.Total().Messages)
		}
		if st := db.Stats(); st.ReadOnly != 3 || st.Hits != 9 || st.Misses != 0 {
			w.Errorf("%+v", st.Stats)
		}
	})
}

// With a clock of the test's own, the bound is exact: a sync point exactly ε
// old is too old.
func TestFreshnessToTheTick(t *testing.T) {
	overBoth(t, server.Options{Heartbeat: time.Hour}, func(w *world) {
		var now atomic.Int64 // the background asks, too
		now.Store(int64(time.Hour))
		const epsilon = 2 * time.Second
		db, err := w.connect(client.Options{Freshness: epsilon, Clock: func() time.Duration { return time.Duration(now.Load()) }})
		w.ok(err)
		defer db.Close()
		w.ok(db.Ping(w.ctx))
		for i, step := range []struct {
			passes time.Duration
			pings  uint64
		}{{0, 0}, {epsilon - 1, 0}, {1, 1}, {epsilon - 1, 0}, {1, 1}, {epsilon + 1, 1}} {
			now.Add(int64(step.passes))
			sent, _ := cost(db, func() { w.get(db, occ.BlockID(5)) })
			want := step.pings
			if i == 0 {
				want = 1 // the block itself
			}
			if n := sent.Total().Messages; n != want {
				w.Errorf("step %d: %d messages, want %d", i, n, want)
			}
		}
	})
}

func TestStaleReadWithinTheBound(t *testing.T) {
	overBoth(t, server.Options{Heartbeat: time.Hour}, func(w *world) {
		a, b := w.open(client.Options{}), w.open(client.Options{})
		id := w.create(b, "old")[0]
		w.get(a, id)
		w.set(b, id, "new")
		w.ok(a.Ping(w.ctx)) // the deprecation has come
		if got := w.get(a, id, client.Freshness(20*time.Second)); got != "old" {
			w.Errorf("read %q, which cost a message that was not needed", got)
		}
		if got := w.get(a, id); got != "new" {
			w.Errorf("read %q with bound 0", got)
		}
		if got := w.get(a, id, client.Freshness(20*time.Second)); got != "new" {
			w.Errorf("read %q after a transaction that read what is newer", got)
		}
	})
}

// What the bounds of the protocol say of single messages.
func TestSizes(t *testing.T) {
	overBoth(t, server.Options{Heartbeat: time.Hour}, func(w *world) {
		a, b := w.open(client.Options{}), w.open(client.Options{})
		full := make([]byte, a.BlockSize())
		for i := range full {
			full[i] = 1
		}
		id := w.create(a, string(full))[0]
		sent, received := cost(b, func() { w.get(b, id) })
		if n := sent.Total().Bytes; n > 40 {
			w.Errorf("asking for a block takes %d bytes", n)
		}
		if n := received.Total().Bytes - uint64(a.BlockSize()); n > 40 {
			w.Errorf("a block takes %d bytes besides itself", n)
		}
	})
}
