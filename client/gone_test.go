package client_test

import (
	"testing"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server"
)

// outlive overwrites blocks and lets the server forget what they were.
func (w *world) outlive(db *client.DB, ids []occ.BlockID) {
	w.Helper()
	for _, id := range ids {
		w.set(db, id, "new")
	}
	hours := time.Duration(0)
	w.forget(db, &hours)
}

// forget moves the server's clock, from hours on, until it has forgotten
// everything old. The horizon moves when the log has it, which is after the
// answer.
func (w *world) forget(db *client.DB, hours *time.Duration) {
	w.Helper()
	for {
		*hours++
		w.ok(db.SetServerClock(w.ctx, *hours*time.Hour))
		status, err := db.ServerStatus(w.ctx)
		w.ok(err)
		if status["horizon"] == status["stable"] {
			return
		}
	}
}

func TestGone(t *testing.T) {
	overBoth(t, server.Options{ExternalClock: true, Retention: time.Second}, func(w *world) {
		a, b := w.open(client.Options{}), w.open(client.Options{})
		ids := w.create(b, "x", "y", "z")
		tx := w.beginView(a)
		w.sees(tx, ids[0], "x")
		w.outlive(b, ids)
		w.sees(tx, ids[0], "x")
		_, first := tx.Read(ids[1])
		_, again := tx.Read(ids[0])
		_, many := tx.ReadMany(ids)
		for _, err := range []error{first, again, many, tx.Err()} {
			w.wants(err, client.ErrGone)
		}
		w.ok(tx.Restart())
		w.ok(tx.Err())
		for _, id := range ids {
			w.sees(tx, id, "new")
		}
		if lo, hi := tx.Range(); lo != 4 || hi != 4 {
			w.Fatalf("runs at [%d,%d]", lo, hi)
		}
		w.ok(tx.Restart()) // nothing to do
		w.ok(tx.Commit())
		w.wants(tx.Restart(), client.ErrTxDone)
		if st := a.Stats(); st.Restarts != 1 {
			w.Fatalf("%d restarts", st.Restarts)
		}
	})
}

func TestViewRunsAgainWhenItIsGone(t *testing.T) {
	overBoth(t, server.Options{ExternalClock: true, Retention: time.Second}, func(w *world) {
		a, b := w.open(client.Options{}), w.open(client.Options{})
		ids := w.create(b, "x", "y")
		runs := 0
		w.ok(a.View(w.ctx, func(tx *client.Tx) error {
			runs++
			x, err := text(tx, ids[0])
			if err != nil {
				return err
			}
			if runs == 1 {
				w.outlive(b, ids)
			}
			y, err := text(tx, ids[1])
			if err == nil && x+y != "newnew" {
				w.Errorf("read %q and %q", x, y)
			}
			return err
		}))
		if runs != 2 {
			w.Fatalf("%d runs", runs)
		}
	})
}

// A View that meets "gone" every time gives up, whatever its function makes
// of the error.
func TestViewGivesUpWhenItIsAlwaysGone(t *testing.T) {
	overBoth(t, server.Options{ExternalClock: true, Retention: time.Second}, func(w *world) {
		a, b := w.open(client.Options{CacheBytes: 1}), w.open(client.Options{})
		ids := w.create(b, "x", "y")
		hours, runs := time.Duration(0), 0
		err := a.View(w.ctx, func(tx *client.Tx) error {
			runs++
			if _, err := tx.Read(ids[0]); err != nil {
				return err
			}
			for _, id := range ids {
				w.set(b, id, "new")
			}
			w.forget(b, &hours)
			w.ok(a.Ping(w.ctx))
			tx.Read(ids[1])
			return nil
		})
		w.wants(err, client.ErrGone)
		if runs != 1+client.DefaultMaxRestarts {
			w.Fatalf("%d runs", runs)
		}
	})
}

func TestClockIsDenied(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		db := w.open(client.Options{})
		if err := db.SetServerClock(w.ctx, time.Hour); err == nil {
			w.Fatal("anybody can move the clock of a server")
		}
		w.ok(db.Ping(w.ctx))
	})
}
