package client_test

import (
	"bytes"
	"errors"
	"sync"
	"testing"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server"
)

func TestRoundTrip(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		a, b := w.open(client.Options{}), w.open(client.Options{})
		if a.BlockSize() != 4096 || a.Store() != b.Store() || a.Limits() != b.Limits() || a.Limits().ReadBlocks != wire.DefaultLimits().ReadBlocks {
			w.Fatalf("block size %d, stores %v and %v, limits %+v", a.BlockSize(), a.Store(), b.Store(), a.Limits())
		}
		ids := w.create(a, "one", "two")
		for _, db := range []*client.DB{a, b} {
			if one, two := w.get(db, ids[0]), w.get(db, ids[1]); one != "one" || two != "two" {
				w.Fatalf("read %q and %q", one, two)
			}
		}
		if got := w.get(b, 1<<40); got != "" {
			w.Fatalf("a block never written reads %q", got)
		}
		w.set(b, ids[0], "eins")
		if got := w.get(a, ids[0]); got != "eins" {
			w.Fatalf("read %q after another client's commit", got)
		}
		w.ok(a.Update(w.ctx, func(tx *client.Tx) error { return nil }))
		w.ok(a.View(w.ctx, func(tx *client.Tx) error { return nil }))
		w.ok(a.Ping(w.ctx))
		if status, err := a.ServerStatus(w.ctx); err != nil || status["stable"] != 2 {
			w.Fatalf("server status: %v, %v", status, err)
		}
	})
}

func TestOwnWritesAndNobodyElses(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		a, b := w.open(client.Options{}), w.open(client.Options{})
		id := w.create(a, "old")[0]
		tx := w.begin(a)
		w.sees(tx, id, "old")
		w.ok(tx.Write(id, []byte("new")))
		w.sees(tx, id, "new")
		w.ok(tx.Write(id, []byte("newer")))
		w.sees(tx, id, "newer")
		fresh, err := tx.Create()
		w.ok(err)
		w.sees(tx, fresh, "")
		for _, db := range []*client.DB{a, b} {
			if got := w.get(db, id); got != "old" {
				w.Fatalf("read %q before the commit", got)
			}
		}
		tx.Abort()
		for _, db := range []*client.DB{a, b} {
			if got := w.get(db, id); got != "old" {
				w.Fatalf("read %q after the abort", got)
			}
		}
		if _, err := tx.Read(id); !errors.Is(err, client.ErrTxDone) {
			w.Fatalf("read after the abort: %v", err)
		}
		if err := tx.Commit(); !errors.Is(err, client.ErrTxDone) {
			w.Fatalf("commit after the abort: %v", err)
		}
		if tx = w.begin(a); tx.CommitTimestamp() != 0 {
			w.Fatal("a commit timestamp before the commit")
		}
		w.ok(tx.Write(id, []byte("newest")))
		w.ok(tx.Commit())
		if tx.CommitTimestamp() != 2 {
			w.Fatalf("committed at %d", tx.CommitTimestamp())
		}
		tx.Abort() // does nothing now
		if got := w.get(b, id); got != "newest" {
			w.Fatalf("read %q after the commit", got)
		}
	})
}

func TestReadOnlyTransactionsDoNotWrite(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		tx := w.beginView(w.open(client.Options{}))
		_, create := tx.Create()
		_, createRange := tx.CreateRange(2)
		for _, err := range []error{tx.Write(1, nil), tx.Free(1), create, createRange} {
			if !errors.Is(err, client.ErrReadOnly) {
				w.Fatalf("got %v", err)
			}
		}
		w.ok(tx.Commit())
	})
}

func TestIDsAreUnique(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		var mu sync.Mutex
		seen := make(map[occ.BlockID]bool)
		take := func(first occ.BlockID, n int) {
			mu.Lock()
			defer mu.Unlock()
			for i := range occ.BlockID(n) {
				if seen[first+i] {
					w.Errorf("id %d was handed out twice", first+i)
				}
				seen[first+i] = true
			}
		}
		var all sync.WaitGroup
		for range 3 {
			db := w.open(client.Options{})
			all.Go(func() {
				first, err := db.CreateRange(w.ctx, 1000)
				if err != nil {
					w.Error(err)
				}
				take(first, 1000)
				gaveUp := errors.New("given up")
				err = db.Update(w.ctx, func(tx *client.Tx) error {
					for range 600 { // more than one lease
						id, err := tx.Create()
						if err != nil {
							return err
						}
						take(id, 1)
					}
					first, err := tx.CreateRange(10)
					take(first, 10)
					return errors.Join(err, gaveUp) // the ids are used up all the same
				})
				if !errors.Is(err, gaveUp) {
					w.Error(err)
				}
			})
		}
		all.Wait()
		if len(seen) != 3*1610 {
			w.Fatalf("%d ids", len(seen))
		}
	})
}

func TestFreeReadsAsZeros(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		a, b := w.open(client.Options{}), w.open(client.Options{})
		id := w.create(a, "content")[0]
		w.ok(a.Update(w.ctx, func(tx *client.Tx) error {
			if err := tx.Free(id); err != nil {
				return err
			}
			w.sees(tx, id, "")
			return nil
		}))
		for _, db := range []*client.DB{a, b} {
			w.ok(db.View(w.ctx, func(tx *client.Tx) error {
				data, err := tx.Read(id)
				if err == nil && !bytes.Equal(data, make([]byte, db.BlockSize())) {
					w.Fatalf("a freed block reads %q", data)
				}
				return err
			}))
		}
	})
}

func TestReadManyAsksOnce(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		a, b := w.open(client.Options{}), w.open(client.Options{})
		contents := make([]string, 100)
		for i := range contents {
			contents[i] = string(rune('A' + i))
		}
		ids := w.create(a, contents...)
		w.get(b, ids[7]) // one of them is cached
		before := b.Stats().Traffic
		w.ok(b.View(w.ctx, func(tx *client.Tx) error {
			all, err := tx.ReadMany(append(ids, ids[3]))
			for i, data := range all[:len(ids)] {
				if string(bytes.TrimRight(data, "\x00")) != contents[i] || len(data) != b.BlockSize() {
					w.Errorf("block %d of %d reads %q", i, len(all), data)
				}
			}
			if !bytes.Equal(all[100], all[3]) {
				w.Error("a block asked for twice reads differently")
			}
			return err
		}))
		after := b.Stats().Traffic
		if n := after.Sent.Of(wire.TypeRead).Messages - before.Sent.Of(wire.TypeRead).Messages; n != 1 {
			w.Errorf("%d read requests", n)
		}
		if n := after.Sent.Total().Messages - before.Sent.Total().Messages; n != 1 {
			w.Errorf("%d messages", n) // the read is its own sync point
		}
	})
}

func TestReadInto(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		db := w.open(client.Options{})
		id := w.create(db, "content")[0]
		tx := w.beginView(db)
		short, long := make([]byte, 3), bytes.Repeat([]byte{9}, db.BlockSize()+1)
		if n, err := tx.ReadInto(id, short); n != 3 || err != nil || string(short) != "con" {
			w.Fatalf("%d, %v, %q", n, err, short)
		}
		if n, err := tx.ReadInto(id, long); n != db.BlockSize() || err != nil || long[n] != 9 || long[n-1] != 0 {
			w.Fatalf("%d, %v, %d after it", n, err, long[n])
		}
		short[0] = 'X' // the caller's own
		w.sees(tx, id, "content")
		w.ok(tx.Commit())
	})
}

func TestWriteCopies(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		a, b := w.open(client.Options{}), w.open(client.Options{})
		id := w.create(a, "")[0]
		data := bytes.Repeat([]byte("x"), a.BlockSize())
		w.ok(a.Update(w.ctx, func(tx *client.Tx) error {
			if err := tx.Write(id, data); err != nil {
				return err
			}
			copy(data, "changed")
			return nil
		}))
		copy(data, "changed again")
		for _, db := range []*client.DB{a, b} {
			if got := w.get(db, id); got != string(bytes.Repeat([]byte("x"), a.BlockSize())) {
				w.Fatalf("read %.20q", got)
			}
		}
	})
}

func TestReturnedBytesStay(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		small, other := w.open(client.Options{CacheBytes: 1}), w.open(client.Options{})
		ids := w.create(other, "first", "second", "third")
		var kept [][]byte
		w.ok(small.View(w.ctx, func(tx *client.Tx) (err error) {
			kept, err = tx.ReadMany(ids)
			return err
		}))
		for i, id := range ids {
			w.set(other, id, "overwritten")
			w.set(small, ids[(i+1)%3], "by itself")
			w.get(small, id)
		}
		if small.Stats().Evictions == 0 {
			w.Fatal("nothing was evicted")
		}
		for i, want := range []string{"first", "second", "third"} {
			if got := string(bytes.TrimRight(kept[i], "\x00")); got != want {
				w.Fatalf("%q became %q", want, got)
			}
		}
	})
}
