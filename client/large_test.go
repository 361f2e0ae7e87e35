package client_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server"
)

// A commit that changes more ranges than a message may hold goes through, the
// rest of its blocks being sent whole.
func TestMoreRangesThanAMessageHolds(t *testing.T) {
	w := newWorld(t, server.Options{})
	w.connect = func(o client.Options) (*client.DB, error) {
		return client.Local(gatedBackend{w.srv, w.gate}, o)
	}
	db := w.open(client.Options{})
	const blocks = wire.MaxEntries/1024 + 50 // 1,024 ranges each
	change := func(mask byte) error {
		return db.Update(w.ctx, func(tx *client.Tx) error {
			for b := range occ.BlockID(blocks) {
				old, err := tx.Read(b)
				if err != nil {
					return err
				}
				data := bytes.Clone(old)
				for i := 0; i < len(data); i += 4 {
					data[i] ^= mask
				}
				if err := tx.Write(b, data); err != nil {
					return err
				}
			}
			return nil
		})
	}
	w.ok(db.Update(w.ctx, func(tx *client.Tx) error {
		for b := range occ.BlockID(blocks) {
			if err := tx.Write(b, bytes.Repeat([]byte{0xaa}, 4096)); err != nil {
				return err
			}
		}
		return nil
	}))
	w.ok(change(0xff))
	if st := db.Stats(); st.Reconnects != 0 {
		t.Errorf("%d reconnections", st.Reconnects)
	}
	w.ok(db.View(w.ctx, func(tx *client.Tx) error {
		data, err := tx.Read(blocks - 1)
		if err == nil && (data[0] != 0x55 || data[1] != 0xaa) {
			t.Errorf("the last block begins with %x", data[:2])
		}
		return err
	}, client.Freshness(0)))
}

// A commit whose context ends while it is held back was never sent: it is
// given up, not in doubt.
func TestHeldCommitIsGivenUp(t *testing.T) {
	w := newWorld(t, server.Options{Limits: wire.Limits{Outcomes: 1}})
	w.connect = func(o client.Options) (*client.DB, error) {
		return client.Local(gatedBackend{w.srv, w.gate}, o)
	}
	db := w.open(client.Options{})
	id := w.create(db, "x", "y")
	w.gate.close()
	first := make(chan error, 1)
	go func() { first <- db.Update(w.ctx, func(tx *client.Tx) error { return tx.Write(id[0], []byte("1")) }) }()
	w.waitHeld()
	ctx, cancel := context.WithCancel(w.ctx)
	second := make(chan error, 1)
	go func() {
		second <- db.Update(ctx, func(tx *client.Tx) error {
			cancel()
			return tx.Write(id[1], []byte("late"))
		})
	}()
	if err := <-second; !errors.Is(err, context.Canceled) || errors.Is(err, client.ErrOutcomeUnknown) {
		t.Errorf("got %v", err)
	}
	w.gate.open()
	w.ok(<-first)
	w.ok(db.Ping(w.ctx))
	if got := w.get(db, id[1]); got != "y" {
		t.Errorf("a commit that was given up happened: %q", got)
	}
}

// More leases at once than a connection may have under way all come.
func TestManyLeasesAtOnce(t *testing.T) {
	w := newWorld(t, server.Options{Dir: t.TempDir(), Limits: wire.Limits{Leases: 2}})
	w.connect = func(o client.Options) (*client.DB, error) {
		return client.Local(gatedBackend{w.srv, w.gate}, o)
	}
	db := w.open(client.Options{MaxAttempts: 1 << 20})
	done := make(chan error)
	for range 60 {
		go func() {
			_, err := db.CreateRange(w.ctx, 10)
			done <- err
		}()
	}
	for range 60 {
		w.ok(<-done)
	}
}

// An idle client pings three times in the silence that either side allows the
// other, and at least every ten seconds.
func TestQuiet(t *testing.T) {
	for _, c := range []struct{ client, server, want time.Duration }{
		{0, 0, 10 * time.Second},
		{15 * time.Second, 0, 5 * time.Second},
		{0, 18 * time.Second, 6 * time.Second},
		{time.Hour, 2 * time.Hour, 10 * time.Second},
	} {
		w := newWorld(t, server.Options{Limits: wire.Limits{Silence: c.server}})
		w.connect = func(o client.Options) (*client.DB, error) {
			return client.Local(gatedBackend{w.srv, w.gate}, o)
		}
		db := w.open(client.Options{NoBackground: true, Silence: c.client})
		if got := db.Quiet(); got != c.want {
			t.Errorf("silence of %v at the client, %v at the server: it pings after %v, not %v", c.client, c.server, got, c.want)
		}
	}
}

// However short Refresh is, there are refreshes.
func TestTinyRefresh(t *testing.T) {
	w := newWorld(t, server.Options{})
	w.connect = func(o client.Options) (*client.DB, error) {
		return client.Local(gatedBackend{w.srv, w.gate}, o)
	}
	db := w.open(client.Options{Refresh: 1})
	for db.Stats().Refreshes < 3 {
		w.ok(db.Ping(w.ctx))
	}
}

// A refusal names the limit and the value.
func TestRefusalNamesLimitAndValue(t *testing.T) {
	w := newWorld(t, server.Options{MemoryBytes: 8 << 10})
	w.connect = func(o client.Options) (*client.DB, error) {
		return client.Local(gatedBackend{w.srv, w.gate}, o)
	}
	db := w.open(client.Options{})
	err := db.Update(w.ctx, func(tx *client.Tx) error {
		for b := range occ.BlockID(3) {
			if err := tx.Write(b, bytes.Repeat([]byte{1}, 4096)); err != nil {
				return err
			}
		}
		return nil
	})
	const want = "transaction aborted: refused by the server: the memory budget for versions is used up: 12576, the limit is 8192"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
