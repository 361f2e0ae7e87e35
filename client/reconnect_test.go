package client_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server"
)

func TestReadingWithoutAServer(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		var now atomic.Int64
		now.Store(int64(time.Hour))
		// The history judges freshness by another clock: it does not hear of
		// this client.
		db, err := w.connect(client.Options{NoWait: true, Clock: func() time.Duration { return time.Duration(now.Load()) }})
		w.ok(err)
		defer db.Close()
		id := w.create(w.open(client.Options{}), "x")[0]
		bound := client.Freshness(2 * time.Second)
		now.Add(1)
		if got := w.get(db, id, client.Freshness(0)); got != "x" {
			w.Fatalf("read %q", got)
		}
		running := w.begin(db)
		w.sees(running, id, "x")
		w.shutdown()
		<-running.Context().Done()
		now.Add(int64(time.Second))
		if got := w.get(db, id, bound); got != "x" { // a sync point is young enough
			w.Fatalf("read %q", got)
		}
		now.Add(int64(2 * time.Second))
		err = db.View(w.ctx, func(tx *client.Tx) error { _, err := tx.Read(id); return err }, bound)
		var stale *client.StaleError
		if w.wants(err, client.ErrStale); !errors.As(err, &stale) || stale.Age < 3*time.Second || stale.Bound != 2*time.Second {
			w.Fatalf("got %+v", err)
		}
		if got := w.get(db, id, client.Freshness(client.Unbounded)); got != "x" {
			w.Fatalf("read %q", got)
		}
		err = db.View(w.ctx, func(tx *client.Tx) error { _, err := tx.Read(1 << 30); return err }, client.Freshness(client.Unbounded))
		w.wants(err, client.ErrDisconnected) // not cached
	})
}

func TestWaitingForAServerEndsWithTheContext(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		db := w.open(client.Options{})
		id := w.create(db, "x")[0]
		running := w.begin(db)
		w.sees(running, id, "x")
		w.shutdown()
		<-running.Context().Done()
		ctx, cancel := context.WithCancelCause(w.ctx)
		why := errors.New("no patience")
		ended := make(chan error)
		go func() {
			ended <- db.View(ctx, func(tx *client.Tx) error { _, err := tx.Read(id); return err })
		}()
		cancel(why)
		w.wants(<-ended, why)
	})
}

func TestTokens(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		a, b := w.open(client.Options{}), w.open(client.Options{Freshness: client.Unbounded})
		id := w.create(a, "x")[0]
		w.get(b, id)
		w.gate.close() // b does not hear of the overwrite yet
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.set(a, id, "y")
		}()
		w.waitHeld()
		w.gate.open()
		<-done
		token := a.Token()
		if again, err := client.ParseToken(token.String()); err != nil || again != token {
			w.Fatalf("%v, %v", again, err)
		}
		if got := w.get(b, id, client.After(token)); got != "y" {
			w.Fatalf("read %q", got)
		}
		w.ok(b.Update(w.ctx, func(tx *client.Tx) error {
			w.sees(tx, id, "y")
			return nil
		}, client.After(token)))
		pings := b.Stats().Traffic.Sent.Of(wire.TypePing).Messages
		ahead := client.Token{Store: token.Store, At: token.At + 100}
		foreign := client.Token{At: token.At}
		restored := client.Token{Store: token.Store, Generation: 3, At: token.At + 100}
		for reason, bad := range map[string]client.Token{"is ahead": ahead, "another store": foreign, "another generation": restored} {
			_, err := b.BeginView(w.ctx, client.After(bad))
			want := client.TokenError{Token: bad, Store: token.Store, Stable: token.At}
			var e *client.TokenError
			if !errors.As(err, &e) || *e != want || !strings.Contains(err.Error(), reason) || strings.Contains(err.Error(), "\n") {
				w.Fatalf("%v: %v", bad, err)
			}
		}
		if n := b.Stats().Traffic.Sent.Of(wire.TypePing).Messages - pings; n != 1 {
			w.Fatalf("three tokens cost %d pings, not one", n)
		}
		store := token.Store.String()
		for _, text := range []string{"", "@", "12.0@3", store, store + "@3", store + ".0", store + ".0@x", store + ".x@3", store + ".4294967296@3"} {
			if _, err := client.ParseToken(text); err == nil {
				w.Errorf("%q is a token", text)
			}
		}
	})
}

func TestRefresh(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		db := w.open(client.Options{Refresh: 2 * time.Millisecond})
		for db.Stats().Refreshes < 3 {
			w.ok(w.ctx.Err())
		}
		quiet := w.open(client.Options{})
		w.ok(quiet.Ping(w.ctx))
		if n := quiet.Stats().Refreshes; n != 0 {
			w.Fatalf("%d refreshes that nobody asked for", n)
		}
	})
}

// A server that says nothing is taken for lost, and found again.
func TestSilentServer(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		// On a busy machine a server may seem silent before it is: what met that is
		// begun again.
		o := client.Options{Silence: 100 * time.Millisecond, MaxAttempts: 1 << 20, Recorder: w}
		db, err := w.connect(o)
		for err != nil && w.ctx.Err() == nil {
			db, err = w.connect(o)
		}
		w.ok(err)
		w.dbs = append(w.dbs, db)
		id := w.create(db, "x")[0]
		running := w.begin(db)
		for _, err := running.Read(id); err != nil; _, err = running.Read(id) {
			running.Abort()
			running = w.begin(db)
		}
		w.gate.close()
		<-running.Context().Done()
		w.gate.open()
		if got := w.get(db, id); got != "x" {
			w.Fatalf("read %q", got)
		}
		if n := db.Stats().Reconnects; n == 0 {
			w.Fatal("no reconnection")
		}
	})
}

// switching is a backend whose server can be replaced.
type switching struct{ srv atomic.Pointer[server.Server] }

func (s *switching) ServeConn(c net.Conn) error { return s.srv.Load().ServeConn(c) }

func TestAnotherStore(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var backend switching
	open := func() *server.Server {
		srv, err := server.Open(server.Options{})
		if err != nil {
			t.Fatal(err)
		}
		backend.srv.Store(srv)
		return srv
	}
	stop := func(srv *server.Server) {
		if err := srv.Shutdown(ctx); err != nil {
			t.Fatal(err)
		}
	}
	first := open()
	db, err := client.Local(&backend, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	write := func(text string) error {
		return db.Update(ctx, func(tx *client.Tx) error { return tx.Write(1, []byte(text)) })
	}
	if err := write("old"); err != nil {
		t.Fatal(err)
	}
	was := db.Store()
	running, err := db.Begin(ctx)
	if err == nil {
		_, err = running.Read(1)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { stop(backend.srv.Load()) }()
	open()
	stop(first)
	<-running.Context().Done() // the client has noticed
	var changed *client.StoreChangedError
	if err := write("new"); !errors.As(err, &changed) || !errors.Is(err, client.ErrStoreChanged) || changed.Was != was {
		t.Fatalf("got %v", err)
	}
	if err := write("again"); !errors.Is(err, client.ErrStoreChanged) {
		t.Fatalf("got %v", err) // until it is accepted
	}
	db.AcceptStore()
	if err := write("new"); err != nil {
		t.Fatal(err)
	}
	if db.Store() == was {
		t.Fatal("the store is the old one")
	}
}

// Clients count, each its own block and one together, while the server is
// restarted on its directory: the sums are exact.
func TestCountingThroughRestarts(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	dir := t.TempDir()
	var backend switching
	open := func() {
		srv, err := server.Open(server.Options{Dir: dir})
		if err != nil {
			t.Error(err)
			return
		}
		backend.srv.Store(srv)
	}
	open()
	const clients, counts, restarts = 6, 40, 5
	var done atomic.Int64
	restart := make(chan struct{}, clients*counts)
	var running sync.WaitGroup
	for i := range clients {
		db, err := client.Local(&backend, client.Options{MaxAttempts: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		running.Go(func() {
			for range counts {
				err := db.Update(ctx, func(tx *client.Tx) error {
					return errors.Join(increment(tx, 1), increment(tx, occ.BlockID(10+i)))
				})
				if err != nil {
					t.Errorf("client %d: %v", i, err)
					return
				}
				if n := done.Add(1); n%(clients*counts/(restarts+1)) == 0 {
					restart <- struct{}{}
				}
			}
		})
	}
	for range restarts {
		select {
		case <-restart:
		case <-ctx.Done():
			t.Fatal("stuck")
		}
		if err := backend.srv.Load().Shutdown(ctx); err != nil {
			t.Fatal(err)
		}
		open()
	}
	running.Wait()
	db, err := client.Local(&backend, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(ctx, func(tx *client.Tx) error {
		for id, want := range map[occ.BlockID]uint64{1: clients * counts, 10: counts, 10 + clients - 1: counts} {
			data, err := tx.Read(id)
			if err != nil {
				return err
			}
			if n := binary.BigEndian.Uint64(data); n != want {
				t.Errorf("counter %d is %d, not %d", id, n, want)
			}
		}
		return nil
	})
	if err := errors.Join(err, db.Close(), backend.srv.Load().Shutdown(ctx)); err != nil {
		t.Fatal(err)
	}
}

func increment(tx *client.Tx, id occ.BlockID) error {
	data, err := tx.Read(id)
	if err != nil {
		return err
	}
	return tx.Write(id, binary.BigEndian.AppendUint64(nil, binary.BigEndian.Uint64(data)+1))
}

// refusing is a backend that can be told to take nobody.
type refusing struct {
	gatedBackend
	refuse *atomic.Bool
}

func (r refusing) ServeConn(c net.Conn) error {
	if r.refuse.Load() {
		return errors.New("closed for today")
	}
	return r.gatedBackend.ServeConn(c)
}

// A transaction that was asked not to wait does not, whatever it needs the
// server for, while others of the same DB would.
func TestNoWait(t *testing.T) {
	w := newWorld(t, server.Options{})
	var refuse atomic.Bool
	w.connect = func(o client.Options) (*client.DB, error) {
		return client.Local(refusing{gatedBackend{w.srv, w.gate}, &refuse}, o)
	}
	db := w.open(client.Options{})
	id := w.create(db, "x")[0]
	running := w.begin(db)
	w.sees(running, id, "x")
	refuse.Store(true)
	w.gate.cut()
	<-running.Context().Done()
	read := func(tx *client.Tx) error { _, err := tx.Read(id); return err }
	ahead := db.Token()
	ahead.At += 100
	_, token := db.BeginView(w.ctx, client.NoWait(), client.After(ahead))
	for name, err := range map[string]error{
		"view":   db.View(w.ctx, read, client.NoWait()),
		"update": db.Update(w.ctx, read, client.NoWait()),
		"range": db.Update(w.ctx, func(tx *client.Tx) error {
			_, err := tx.CreateRange(4)
			return err
		}, client.NoWait()),
		"token": token,
	} {
		if !errors.Is(err, client.ErrDisconnected) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.wants(db.View(w.ctx, read, client.NoWait()), client.ErrStale)
	refuse.Store(false)
	w.ok(db.View(w.ctx, read)) // waits for the next connection
}

// A commit whose connection is lost does not keep waiting if waiting is not
// wanted.
func TestCommitWithoutWaiting(t *testing.T) {
	w := newWorld(t, server.Options{})
	var refuse atomic.Bool
	w.connect = func(o client.Options) (*client.DB, error) {
		return client.Local(refusing{gatedBackend{w.srv, w.gate}, &refuse}, o)
	}
	db := w.open(client.Options{NoWait: true})
	w.gate.close()
	ended := make(chan error)
	go func() {
		ended <- db.Update(w.ctx, func(tx *client.Tx) error { return tx.Write(1, []byte("y")) })
	}()
	w.waitHeld()
	refuse.Store(true)
	w.gate.cut()
	err := <-ended
	w.wants(err, client.ErrOutcomeUnknown)
	w.wants(err, client.ErrDisconnected)
	refuse.Store(false)
	w.ok(w.open(client.Options{}).Ping(w.ctx))
}
