package client_test

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/history"
	"github.com/tidemark/tidemark/server"
)

// patience bounds how long a test waits for what must happen; it is never
// waited for when all is right.
const patience = 2 * time.Minute

// world is a server and the clients of one test. When the test ends it checks
// the history of all of them, and that the server stops in good order.
type world struct {
	*testing.T
	ctx     context.Context
	srv     *server.Server
	gate    *gate
	connect func(client.Options) (*client.DB, error)
	dbs     []*client.DB

	mu    sync.Mutex
	check *history.Checker
}

// overBoth runs a test inside the process and over TCP.
func overBoth(t *testing.T, o server.Options, run func(*world)) {
	t.Run("local", func(t *testing.T) {
		w := newWorld(t, o)
		w.connect = func(o client.Options) (*client.DB, error) { return client.Local(gatedBackend{w.srv, w.gate}, o) }
		run(w)
	})
	t.Run("tcp", func(t *testing.T) {
		w := newWorld(t, o)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan error, 1)
		go func() { served <- w.srv.Serve(gatedListener{l, w.gate}) }()
		t.Cleanup(func() {
			w.shutdown()
			if err := <-served; err != nil {
				t.Errorf("Serve: %v", err)
			}
		})
		w.connect = func(o client.Options) (*client.DB, error) { return client.Dial(w.ctx, l.Addr().String(), o) }
		run(w)
	})
}

func newWorld(t *testing.T, o server.Options) *world {
	srv, err := server.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	w := &world{T: t, ctx: ctx, srv: srv, gate: newGate(), check: history.New(history.Options{})}
	t.Cleanup(func() {
		w.gate.open()
		for _, db := range w.dbs {
			if err := db.Close(); err != nil {
				t.Errorf("closing a client: %v", err)
			}
			for range db.Stats().InDoubt {
				w.check.InDoubt()
			}
		}
		w.shutdown()
		cancel()
		if err := w.check.Finish().Err(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) shutdown() {
	w.gate.open()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := w.srv.Shutdown(ctx); err != nil {
		w.Errorf("shutdown: %v", err)
	}
}

// Record implements history.Recorder for all clients. A commit that a client
// knows of has been applied: that is what freshness is judged by.
func (w *world) Record(e history.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Kind == history.Committed {
		w.check.Applied(client.BootClock(), e.Commit)
	}
	w.check.Record(e)
}

// open opens a DB that the history hears of.
func (w *world) open(o client.Options) *client.DB {
	w.Helper()
	o.Recorder, o.Client = w, len(w.dbs)
	db, err := w.connect(o)
	if err != nil {
		w.Fatal(err)
	}
	w.dbs = append(w.dbs, db)
	return db
}

// create makes a block for each content.
func (w *world) create(db *client.DB, contents ...string) []occ.BlockID {
	w.Helper()
	ids := make([]occ.BlockID, len(contents))
	w.ok(db.Update(w.ctx, func(tx *client.Tx) error {
		for i, content := range contents {
			var err error
			if ids[i], err = tx.Create(); err != nil {
				return err
			}
			if err := tx.Write(ids[i], []byte(content)); err != nil {
				return err
			}
		}
		return nil
	}))
	return ids
}

func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// set overwrites a block.
func (w *world) set(db *client.DB, id occ.BlockID, content string) {
	w.Helper()
	w.ok(db.Update(w.ctx, func(tx *client.Tx) error { return tx.Write(id, []byte(content)) }))
}

// get reads a block in a transaction of its own.
func (w *world) get(db *client.DB, id occ.BlockID, opts ...client.TxOption) (content string) {
	w.Helper()
	w.ok(db.View(w.ctx, func(tx *client.Tx) (err error) {
		content, err = text(tx, id)
		return err
	}, opts...))
	return content
}

// text reads a block without the zeros at its end.
func text(tx *client.Tx, id occ.BlockID) (string, error) {
	data, err := tx.Read(id)
	return string(bytes.TrimRight(data, "\x00")), err
}

// sees checks what a transaction reads.
func (w *world) sees(tx *client.Tx, id occ.BlockID, want string) {
	w.Helper()
	got, err := text(tx, id)
	if err != nil || got != want {
		w.Fatalf("block %d reads %q, %v; want %q", id, got, err, want)
	}
}

func (w *world) begin(db *client.DB, opts ...client.TxOption) *client.Tx {
	w.Helper()
	tx, err := db.Begin(w.ctx, opts...)
	w.ok(err)
	return tx
}

func (w *world) beginView(db *client.DB, opts ...client.TxOption) *client.Tx {
	w.Helper()
	tx, err := db.BeginView(w.ctx, opts...)
	w.ok(err)
	return tx
}
