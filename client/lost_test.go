package client_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server"
)

// wants checks an error by errors.Is, and that it is one line.
func (w *world) wants(err, target error) {
	w.Helper()
	if !errors.Is(err, target) || strings.Contains(err.Error(), "\n") {
		w.Fatalf("got %v, want %v in one line", err, target)
	}
}

// waitHeld waits until the server has something to say and is held back.
func (w *world) waitHeld() {
	w.Helper()
	select {
	case <-w.gate.held:
	case <-w.ctx.Done():
		w.Fatal("the server has nothing to say")
	}
}

func TestCancelledWhileReading(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		db := w.open(client.Options{})
		id := w.create(db, "x")[0]
		for name, run := range map[string]func(context.Context) error{
			"ping": db.Ping,
			"view": func(ctx context.Context) error {
				return db.View(ctx, func(tx *client.Tx) error {
					_, err := tx.Read(id)
					return err
				})
			},
			"update": func(ctx context.Context) error {
				return db.Update(ctx, func(tx *client.Tx) error {
					_, err := tx.Read(1 << 30)
					return err
				})
			},
			"range": func(ctx context.Context) error {
				_, err := db.CreateRange(ctx, 5)
				return err
			},
		} {
			ctx, cancel := context.WithCancelCause(w.ctx)
			why := errors.New("cancelled: " + name)
			ended := make(chan error)
			w.gate.close()
			go func() { ended <- run(ctx) }()
			w.waitHeld()
			cancel(why)
			w.wants(<-ended, why)
			w.gate.open()
			w.ok(db.Ping(w.ctx)) // the late answer does no harm
			w.wants(run(ctx), why)
		}
		if got := w.get(db, id); got != "x" {
			w.Fatalf("read %q", got)
		}
	})
}

func TestCancelledWhileCommitting(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		db := w.open(client.Options{})
		id := w.create(db, "x")[0]
		ctx, cancel := context.WithCancel(w.ctx)
		ended := make(chan error)
		tx, err := db.Begin(ctx)
		w.ok(err)
		w.ok(tx.Write(id, []byte("y")))
		w.gate.close()
		go func() { ended <- tx.Commit() }()
		w.waitHeld()
		cancel()
		err = <-ended
		w.wants(err, client.ErrOutcomeUnknown)
		w.wants(err, context.Canceled)
		tx.Abort() // too late to change anything
		w.gate.open()
		w.ok(db.Ping(w.ctx))
		if got := w.get(db, id); got != "y" {
			w.Fatalf("read %q", got) // here it did happen
		}
		if st := db.Stats(); st.InDoubt != 0 || st.ReadWrite != 2 {
			w.Fatalf("%+v", st.Stats)
		}
	})
}

func TestServerStops(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		db := w.open(client.Options{NoWait: true})
		id := w.create(db, "x")[0]
		running, reader := w.begin(db), w.beginView(db)
		w.sees(running, id, "x")
		w.sees(reader, id, "x")
		w.shutdown()
		<-running.Context().Done()
		var aborted *client.AbortError
		if err := running.Commit(); !errors.As(err, &aborted) || aborted.Reason != occ.AbortDisconnected {
			w.Fatalf("got %v", err)
		}
		_, miss := reader.Read(1 << 30)
		for _, err := range []error{
			db.Ping(w.ctx), miss,
			db.View(w.ctx, func(tx *client.Tx) error { _, err := tx.Read(id); return err }),
			db.Update(w.ctx, func(tx *client.Tx) error { return tx.Write(id, nil) }),
		} {
			w.wants(err, client.ErrDisconnected)
		}
		w.sees(reader, id, "x") // it needs nothing
		w.ok(reader.Commit())
		if got := w.get(db, id, client.Freshness(client.Unbounded)); got != "x" {
			w.Fatalf("read %q", got)
		}
	})
}

// An Update that is interrupted between its reads and its commit runs again
// when there is another connection.
func TestUpdateOverALostConnection(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		db := w.open(client.Options{})
		id := w.create(db, "x")[0]
		attempts := 0
		err := db.Update(w.ctx, func(tx *client.Tx) error {
			attempts++
			if _, err := tx.Read(id); err != nil {
				return err
			}
			if attempts == 1 {
				w.gate.cut()
				<-tx.Context().Done()
			}
			return tx.Write(id, []byte("y"))
		})
		w.ok(err)
		if attempts != 2 || db.Stats().Reconnects != 1 {
			w.Fatalf("%d attempts, %+v", attempts, db.Stats())
		}
		if got := w.get(db, id); got != "y" {
			w.Fatalf("read %q", got)
		}
	})
}

// A commit whose answer is lost with the connection is sent again on the next
// one, and happens once.
func TestCommitsInFlightAreSentAgain(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		db := w.open(client.Options{})
		id := w.create(db, "x")[0]
		w.gate.close()
		ended := make(chan error)
		go func() {
			ended <- db.Update(w.ctx, func(tx *client.Tx) error { return tx.Write(id, []byte("y")) })
		}()
		w.waitHeld()
		w.gate.cut()
		w.ok(<-ended)
		if st := db.Stats(); st.Resent != 1 || st.InDoubt != 0 {
			w.Fatalf("%+v", st)
		}
		status, err := db.ServerStatus(w.ctx)
		w.ok(err)
		if status["commits"] != 2 { // the other one created the block
			w.Fatalf("%d commits", status["commits"])
		}
		if got := w.get(w.open(client.Options{}), id); got != "y" {
			w.Fatalf("read %q", got)
		}
	})
}

func TestClose(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		db := w.open(client.Options{})
		id := w.create(db, "x")[0]
		reader := w.beginView(db)
		w.gate.close()
		waiting, committing := make(chan error), make(chan error)
		go func() {
			waiting <- db.View(w.ctx, func(tx *client.Tx) error { _, err := tx.Read(1 << 30); return err })
		}()
		w.waitHeld()
		sent := make(chan struct{})
		go func() {
			committing <- db.Update(w.ctx, func(tx *client.Tx) error {
				defer close(sent)
				return tx.Write(id, []byte("y"))
			})
		}()
		<-sent
		for db.Stats().Traffic.Sent.Of(wire.TypeCommit).Messages < 2 {
			w.ok(w.ctx.Err()) // the commit is queued any moment
		}
		w.ok(db.Close())
		w.wants(<-waiting, client.ErrClosed)
		w.wants(<-committing, client.ErrOutcomeUnknown)
		w.ok(db.Close())
		_, begin := db.Begin(w.ctx)
		_, view := db.BeginView(w.ctx)
		_, read := reader.Read(1 << 30)
		_, status := db.ServerStatus(w.ctx)
		for _, err := range []error{begin, view, read, status, db.Ping(w.ctx), db.View(w.ctx, nil), db.Update(w.ctx, nil)} {
			w.wants(err, client.ErrClosed)
		}
		reader.Abort()
	})
}

func TestNobodyThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	_, err = client.Dial(context.Background(), addr, client.Options{})
	if err == nil || !strings.Contains(err.Error(), addr) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("got %q, want one line that names %s", err, addr)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := client.Dial(ctx, addr, client.Options{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}

// A server that takes nobody any more says so, and the client passes it on.
func TestRefusedConnections(t *testing.T) {
	overBoth(t, server.Options{Connections: 1}, func(w *world) {
		w.open(client.Options{})
		_, err := w.connect(client.Options{})
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "connections") {
			w.Fatalf("got %v", err)
		}
	})
	srv, err := server.Open(server.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Local(srv, client.Options{}); !errors.Is(err, server.ErrStopped) {
		t.Fatalf("got %v", err)
	}
}
