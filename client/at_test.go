package client_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server"
)

// snapshots is a server whose clock the test moves.
var snapshots = server.Options{ExternalClock: true, Retention: time.Second}

// gone checks an error about a timestamp that is gone.
func (w *world) gone(err error, at, oldest occ.Timestamp) {
	w.Helper()
	var gone *client.GoneError
	if !errors.As(err, &gone) || *gone != (client.GoneError{At: at, Oldest: oldest}) || !errors.Is(err, client.ErrGone) {
		w.Fatalf("got %v, want that %d is gone and %d the oldest", err, at, oldest)
	}
}

// TestAt: a transaction at a timestamp reads what was current then, whether or
// not the client knew of it, and though the client has finished newer ones.
func TestAt(t *testing.T) {
	overBoth(t, snapshots, func(w *world) {
		a := w.open(client.Options{})
		ids := w.create(a, "x1", "y1") // commit 1
		for i := 2; i <= 6; i++ {
			w.set(a, ids[i%2], fmt.Sprint(i))
		}
		want := map[occ.Timestamp][2]string{0: {"", ""}, 1: {"x1", "y1"}, 2: {"2", "y1"}, 3: {"2", "3"}, 4: {"4", "3"}, 5: {"4", "5"}, 6: {"6", "5"}}
		check := func(db *client.DB) {
			for _, at := range []occ.Timestamp{6, 0, 3, 5, 1, 4, 2, 6} {
				w.ok(db.View(w.ctx, func(tx *client.Tx) error {
					w.sees(tx, ids[0], want[at][0])
					w.sees(tx, ids[1], want[at][1])
					if lo, hi := tx.Range(); lo != at || hi != at {
						w.Fatalf("runs at [%d,%d], not at %d", lo, hi, at)
					}
					return nil
				}, client.At(at)))
			}
		}
		check(a)
		check(w.open(client.Options{}))
		check(w.open(client.Options{CacheBytes: 1, Mode: client.Conventional}))
		if got := w.get(a, ids[0], client.Freshness(client.Unbounded)); got != "6" {
			w.Errorf("reads %q after a transaction that saw more", got)
		}
	})
}

// TestAtUsesTheCache: versions that were valid then are read without the
// server, also when it has forgotten them.
func TestAtUsesTheCache(t *testing.T) {
	overBoth(t, snapshots, func(w *world) {
		a, b := w.open(client.Options{}), w.open(client.Options{})
		ids := w.create(b, "old", "unread")
		w.get(a, ids[0])
		w.outlive(b, ids)
		w.ok(a.Ping(w.ctx))
		before := a.Stats().Traffic.Sent.Total()
		tx := w.beginView(a, client.At(1))
		w.sees(tx, ids[0], "old")
		if now := a.Stats().Traffic.Sent.Total(); now != before {
			w.Errorf("%+v sent, %+v before", now, before)
		}
		_, err := tx.Read(ids[1])
		w.gone(err, 1, 3)
		w.gone(tx.Err(), 1, 3)
		w.gone(tx.Restart(), 1, 3)
		tx.Abort()
	})
}

// TestAtGone: View does not run again at another timestamp.
func TestAtGone(t *testing.T) {
	overBoth(t, snapshots, func(w *world) {
		a, b := w.open(client.Options{}), w.open(client.Options{})
		ids := w.create(b, "x")
		w.outlive(b, ids)
		runs := 0
		err := a.View(w.ctx, func(tx *client.Tx) error {
			runs++
			_, err := tx.Read(ids[0])
			return err
		}, client.At(1))
		w.gone(err, 1, 2)
		if runs != 1 {
			w.Errorf("ran %d times", runs)
		}
		_, err = b.Pin(w.ctx, "late", client.PinOptions{At: 1})
		w.gone(err, 1, 2)
		_, err = b.Changes(w.ctx, client.ChangesOptions{At: 1})
		w.gone(err, 1, 2)
		if got := w.get(a, ids[0], client.At(2)); got != "new" {
			w.Errorf("reads %q", got)
		}
	})
}

// TestAtRefused: what cannot be read at a timestamp.
func TestAtRefused(t *testing.T) {
	overBoth(t, snapshots, func(w *world) {
		a, b := w.open(client.Options{}), w.open(client.Options{})
		w.create(b, "x")
		nothing := func(*client.Tx) error { return nil }
		w.ok(a.View(w.ctx, nothing, client.At(1))) // a has to ask first
		var future *client.FutureError
		if err := a.View(w.ctx, nothing, client.At(2)); !errors.As(err, &future) || future.Newest != 1 || future.At != 2 {
			w.Errorf("a timestamp in the future: %v", err)
		}
		if _, err := a.Pin(w.ctx, "future", client.PinOptions{At: 2}); !errors.As(err, &future) {
			w.Errorf("a pin in the future: %v", err)
		}
		if err := a.Update(w.ctx, nothing, client.At(1)); err == nil {
			w.Error("a read/write transaction runs in the past")
		}
		w.wants(a.View(w.ctx, nothing, client.AtSnapshot("none")), client.ErrNoPin)
		w.wants(a.View(w.ctx, nothing, client.AtSnapshot("")), client.ErrNoPin)
		_, err := a.Pin(w.ctx, "two\nlines", client.PinOptions{})
		w.wants(err, client.ErrPinName)
		w.wants(a.Unpin(w.ctx, "none"), client.ErrNoPin)
		w.wants(a.Unpin(w.ctx, ""), client.ErrNoPin)
		for _, o := range []client.PinOptions{{Lease: -1}, {At: 1}} {
			name := "x"
			if o.At == 1 {
				name = ""
			}
			if _, err := a.Pin(w.ctx, name, o); err == nil {
				w.Errorf("pin %q with %+v", name, o)
			}
		}
		if _, err := a.Pin(w.ctx, string(make([]byte, 256)), client.PinOptions{}); !errors.As(err, new(*client.LimitError)) {
			w.Errorf("a name of 256 bytes: %v", err)
		}
	})
}

// TestPin: what is pinned stays readable, by its name and from a cold client,
// until it is unpinned or its lease ends.
func TestPin(t *testing.T) {
	overBoth(t, snapshots, func(w *world) {
		a := w.open(client.Options{})
		ids := w.create(a, "x", "y")
		pin := func(name string, o client.PinOptions) occ.Timestamp {
			w.Helper()
			at, err := a.Pin(w.ctx, name, o)
			w.ok(err)
			return at
		}
		if at := pin("first", client.PinOptions{}); at != 1 {
			w.Fatalf("pinned %d", at)
		}
		w.set(a, ids[0], "x2")
		pin("leased", client.PinOptions{At: 2, Lease: 1000 * time.Hour})
		pin("second", client.PinOptions{At: 2})
		_, err := a.Pin(w.ctx, "first", client.PinOptions{})
		var taken *client.PinError
		if w.wants(err, client.ErrPinned); !errors.As(err, &taken) || taken.At != 1 {
			w.Errorf("%v", err)
		}
		pin("first", client.PinOptions{At: 1}) // no harm
		hours := time.Duration(0)
		w.set(a, ids[0], "x3")
		w.set(a, ids[1], "y4")
		w.forget(a, &hours)
		cold := w.open(client.Options{})
		w.sees(w.beginView(cold, client.AtSnapshot("first")), ids[0], "x")
		w.sees(w.beginView(cold, client.AtSnapshot("second")), ids[0], "x2")
		w.sees(w.beginView(cold, client.At(2)), ids[1], "y")
		_, err = w.beginView(cold, client.At(3)).Read(ids[0])
		w.gone(err, 3, 4)
		w.sees(w.beginView(cold, client.AtSnapshot("first")), ids[1], "y")

		w.ok(a.Unpin(w.ctx, "second"))
		list, err := cold.Pins(w.ctx)
		w.ok(err)
		if len(list.Pins) != 2 || list.Oldest != 4 || list.Pins[0] != (client.Pin{Name: "first", At: 1}) ||
			list.Pins[1].Name != "leased" || list.Pins[1].At != 2 || list.Pins[1].Left <= 0 {
			w.Errorf("%+v", list)
		}
		w.ok(a.SetServerClock(w.ctx, (hours+1001)*time.Hour))
		w.ok(a.Unpin(w.ctx, "first")) // behind the end of the lease in the log
		if list, err = cold.Pins(w.ctx); err != nil || len(list.Pins) != 0 {
			w.Errorf("%+v, %v", list, err)
		}
		_, err = w.beginView(w.open(client.Options{}), client.At(2)).Read(ids[0])
		w.gone(err, 2, 4)
	})
}

// TestChanges: all blocks that were written between two timestamps, in as many
// steps as it takes.
func TestChanges(t *testing.T) {
	overBoth(t, snapshots, func(w *world) {
		a := w.open(client.Options{})
		ids := w.create(a, "0", "1", "2", "3", "4", "5", "6", "7") // commit 1
		for _, i := range []int{3, 5, 3, 0} {                      // commits 2 to 5
			w.set(a, ids[i], "new")
		}
		between := func(since, at occ.Timestamp, limit uint64) (all []occ.Read) {
			o := client.ChangesOptions{Since: since, At: at, Limit: limit}
			for {
				c, err := a.Changes(w.ctx, o)
				w.ok(err)
				all = append(all, c.Blocks...)
				if c.Last {
					return all
				}
				o.First = c.Next
			}
		}
		for _, limit := range []uint64{0, 1, 3} {
			if got, want := between(1, 4, limit), []occ.Read{{Block: ids[3], From: 4}, {Block: ids[5], From: 3}}; !slices.Equal(got, want) {
				w.Errorf("limit %d: %v, want %v", limit, got, want)
			}
			if got := between(0, 5, limit); len(got) != 8 || got[0] != (occ.Read{Block: ids[0], From: 5}) {
				w.Errorf("limit %d: %v", limit, got)
			}
			if got := between(5, 5, limit); len(got) != 0 {
				w.Errorf("limit %d: %v", limit, got)
			}
		}
	})
}
