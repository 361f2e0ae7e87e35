package client_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server"
)

// wantConflict checks all that an abort for a conflict over id says.
func (w *world) wantConflict(err error, reason occ.AbortReason, id occ.BlockID, at occ.Timestamp) {
	w.Helper()
	var aborted *client.AbortError
	if !errors.As(err, &aborted) || !errors.Is(err, client.ErrConflict) || !errors.Is(err, client.ErrAborted) {
		w.Fatalf("got %v, want a conflict", err)
	}
	if aborted.Reason != reason || len(aborted.Blocks) != 1 || aborted.Blocks[0] != (occ.Read{Block: id, From: at}) {
		w.Fatalf("got %+v, want %v and block %d at %d", aborted, reason, id, at)
	}
	if text := err.Error(); !strings.Contains(text, reason.String()) || strings.Contains(text, "\n") {
		w.Fatalf("it says %q", text)
	}
}

func TestUpdateRetries(t *testing.T) {
	for name, o := range map[string]client.Options{"active": {}, "passive": {NoActiveAborts: true}} {
		t.Run(name, func(t *testing.T) {
			overBoth(t, server.Options{}, func(w *world) {
				a, b := w.open(o), w.open(client.Options{})
				id := w.create(a, "x")[0]
				attempts := 0
				w.ok(a.Update(w.ctx, func(tx *client.Tx) error {
					attempts++
					got, err := text(tx, id)
					if err != nil {
						return err
					}
					if attempts == 1 {
						w.set(b, id, got+"b")
						if !o.NoActiveAborts {
							<-tx.Context().Done()
						}
					}
					return tx.Write(id, []byte(got+"a"))
				}))
				if got := w.get(b, id); got != "xba" || attempts != 2 {
					w.Fatalf("read %q after %d attempts", got, attempts)
				}
			})
		})
	}
}

func TestActiveAbort(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		a, b := w.open(client.Options{}), w.open(client.Options{})
		ids := w.create(a, "x", "y")
		var aborts atomic.Int32
		tx := w.begin(a, client.OnAbort(func() { aborts.Add(1) }))
		w.sees(tx, ids[0], "x")
		w.ok(tx.Err())
		ctx := tx.Context()
		w.ok(ctx.Err())
		w.set(b, ids[1], "unrelated")
		w.set(b, ids[0], "new")
		<-ctx.Done() // user code that waits for something
		_, read := tx.Read(ids[1])
		_, create := tx.Create()
		for _, err := range []error{context.Cause(ctx), context.Cause(tx.Context()), tx.Err(), read, create, tx.Write(ids[1], nil), tx.Commit()} {
			w.wantConflict(err, occ.AbortActive, ids[0], 3)
		}
		if n := aborts.Load(); n != 1 {
			w.Fatalf("OnAbort was called %d times", n)
		}
		tx.Abort()
		w.wantConflict(tx.Err(), occ.AbortActive, ids[0], 3)
		if n := a.Stats().Aborts[occ.AbortActive]; n != 1 {
			w.Fatalf("%d active aborts are counted", n)
		}
	})
}

func TestAbortByASibling(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		db := w.open(client.Options{})
		id := w.create(db, "x")[0]
		tx := w.begin(db)
		w.sees(tx, id, "x")
		w.set(db, id, "new")
		<-tx.Context().Done() // its context is asked for only now
		w.wantConflict(tx.Commit(), occ.AbortActive, id, 2)
	})
}

func TestPassiveConflict(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		a, b := w.open(client.Options{NoActiveAborts: true, MaxAttempts: 3}), w.open(client.Options{})
		id := w.create(a, "x")[0]
		tx := w.begin(a)
		w.sees(tx, id, "x")
		w.set(b, id, "new")
		w.ok(a.Ping(w.ctx)) // it knows by now
		w.sees(tx, id, "x")
		w.ok(tx.Write(id, []byte("lost")))
		w.wantConflict(tx.Commit(), occ.AbortConflict, id, 2)

		attempts := 0
		err := a.Update(w.ctx, func(tx *client.Tx) error {
			attempts++
			if _, err := tx.Read(id); err != nil {
				return err
			}
			w.set(b, id, "again")
			return tx.Write(id, []byte("lost"))
		})
		w.wantConflict(err, occ.AbortConflict, id, 5)
		var aborted *client.AbortError
		if errors.As(err, &aborted); attempts != 3 || aborted.Attempts != 3 || !strings.Contains(err.Error(), "3 attempts") {
			w.Fatalf("%v after %d attempts", err, attempts)
		}
		if got := w.get(b, id); got != "again" {
			w.Fatalf("read %q", got)
		}
	})
}

func TestOwnErrorWritesNothing(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		db := w.open(client.Options{})
		id := w.create(db, "x")[0]
		mine := errors.New("no")
		before := db.Stats().Traffic.Sent.Total()
		for _, run := range []func() error{
			func() error {
				return db.Update(w.ctx, func(tx *client.Tx) error { return errors.Join(tx.Write(id, nil), mine) })
			},
			func() error { return db.View(w.ctx, func(tx *client.Tx) error { return mine }) },
		} {
			if err := run(); !errors.Is(err, mine) {
				w.Fatalf("got %v", err)
			}
		}
		if after := db.Stats().Traffic.Sent.Total(); after != before {
			w.Fatalf("%d messages were sent", after.Messages-before.Messages)
		}
		if got := w.get(db, id); got != "x" {
			w.Fatalf("read %q", got)
		}
	})
}

func TestPanics(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		db := w.open(client.Options{})
		id := w.create(db, "x")[0]
		var last *client.Tx
		for name, fn := range map[string]func(*client.Tx){
			"own":    func(tx *client.Tx) { panic("own") },
			"commit": func(tx *client.Tx) { tx.Commit() },
			"abort":  func(tx *client.Tx) { tx.Abort() },
		} {
			for _, run := range []func(context.Context, func(*client.Tx) error, ...client.TxOption) error{db.Update, db.View} {
				func() {
					defer func() {
						if recover() == nil {
							w.Errorf("%s: no panic", name)
						}
					}()
					run(w.ctx, func(tx *client.Tx) error {
						last = tx
						w.sees(tx, id, "x")
						fn(tx)
						return nil
					})
				}()
				if err := last.Err(); !errors.Is(err, client.ErrTxDone) {
					w.Errorf("%s: the transaction goes on: %v", name, err)
				}
			}
		}
		if n := db.Stats().Aborts[occ.AbortByCaller]; n != 6 {
			w.Errorf("%d transactions were released", n)
		}
		w.set(db, id, "y") // the DB is not locked
	})
}

func TestConventionalMode(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		a, b := w.open(client.Options{Mode: client.Conventional}), w.open(client.Options{})
		ids := w.create(b, "x", "y")
		attempts := 0
		w.ok(a.View(w.ctx, func(tx *client.Tx) error {
			attempts++
			x, err := text(tx, ids[0])
			if err != nil {
				return err
			}
			if attempts == 1 {
				w.set(b, ids[0], "X")
				<-tx.Context().Done()
			}
			y, err := text(tx, ids[1])
			if err == nil && x+y != "Xy" {
				w.Errorf("read %q and %q", x, y)
			}
			if err := tx.Write(ids[0], nil); !errors.Is(err, client.ErrReadOnly) {
				w.Errorf("writing in a View: %v", err)
			}
			return err
		}))
		st := a.Stats()
		if attempts != 2 || st.Validated != 1 || st.Traffic.Sent.Of(wire.TypeValidate).Messages != 1 || st.ReadOnly != 0 {
			w.Fatalf("%d attempts, %+v", attempts, st.Stats)
		}
		w.get(a, ids[0])
		if n := a.Stats().Traffic.Sent.Of(wire.TypeValidate).Messages; n != 2 {
			w.Fatalf("%d validations: a cached read-only transaction is validated too", n)
		}
	})
}
