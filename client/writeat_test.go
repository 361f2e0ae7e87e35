package client_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server"
)

// full is a block without a zero.
func full(db *client.DB, c string) string { return strings.Repeat(c, db.BlockSize()) }

// A commit carries what changed in the blocks that were read, however it was
// written, and whole blocks otherwise.
func TestWhatAWriteCosts(t *testing.T) {
	overBoth(t, server.Options{Heartbeat: time.Hour}, func(w *world) {
		db := w.open(client.Options{})
		id := w.create(db, full(db, "a"))[0]
		const whole = 4096
		for _, c := range []struct {
			name     string
			run      func(tx *client.Tx) error
			min, max uint64
		}{
			{"16 bytes", func(tx *client.Tx) error { return tx.WriteAt(id, 1000, []byte("sixteen bytes...")) }, 17, 40},
			{"16 bytes of a block read and written as a whole", func(tx *client.Tx) error {
				old, err := tx.Read(id)
				if err != nil {
					return err
				}
				return tx.Write(id, append([]byte("another sixteen."), old[16:]...))
			}, 17, 40},
			{"the same bytes", func(tx *client.Tx) error { return tx.WriteAt(id, 1000, []byte("sixteen bytes...")) }, 1, 25},
			{"bytes that are put back", func(tx *client.Tx) error {
				if err := tx.WriteAt(id, 0, []byte(full(db, "b"))); err != nil {
					return err
				}
				return tx.WriteAt(id, 0, []byte("another sixteen."+full(db, "a")[16:1000]+"sixteen bytes..."+full(db, "a")[1016:]))
			}, 1, 25},
			{"two places", func(tx *client.Tx) error {
				if err := tx.WriteAt(id, 4000, []byte("one")); err != nil {
					return err
				}
				return tx.WriteAt(id, 0, []byte("two"))
			}, 7, 40},
			{"the whole block at once", func(tx *client.Tx) error { return tx.WriteAt(id, 0, []byte(full(db, "c"))) }, whole, whole + 30},
			{"a blind write", func(tx *client.Tx) error { return tx.Write(id, []byte(full(db, "a"))) }, whole, whole + 30},
			{"a blind write, then a part", func(tx *client.Tx) error {
				if err := tx.Write(id, []byte(full(db, "a"))); err != nil {
					return err
				}
				return tx.WriteAt(id, 5, []byte("x"))
			}, whole, whole + 30},
			{"freeing", func(tx *client.Tx) error {
				if err := tx.WriteAt(id, 5, []byte("x")); err != nil {
					return err
				}
				return tx.Free(id)
			}, 1, 25},
			{"a block of zeros", func(tx *client.Tx) error { return tx.WriteAt(id, 4090, []byte("x")) }, 1, 30},
		} {
			sent, received := cost(db, func() { w.ok(db.Update(w.ctx, c.run)) })
			if n := sent[wire.TypeCommit].Bytes; n < c.min || n > c.max {
				w.Errorf("%s: a commit of %d bytes, want %d to %d", c.name, n, c.min, c.max)
			}
			if n := sent[wire.TypeRead].Messages; n > 0 {
				w.Errorf("%s: %d reads of a cached block", c.name, n)
			}
			again, _ := cost(db, func() { w.get(db, id, client.Freshness(client.Unbounded)) })
			if again.Total().Messages+received[wire.TypeReadReply].Messages > 0 {
				w.Errorf("%s: the new version is not in the cache", c.name)
			}
			if mine, theirs := w.get(db, id), w.get(w.open(client.Options{}), id); mine != theirs {
				w.Errorf("%s: the client has %.40q, the server %.40q", c.name, mine, theirs)
			}
		}
	})
}

// What was written in part is read back at once, by nobody else before the
// commit, and what was read before stays as it was.
func TestWriteAtIsReadBack(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		a, b := w.open(client.Options{}), w.open(client.Options{})
		id := w.create(a, "0123456789")[0]
		tx := w.begin(b) // which has to fetch it
		w.ok(tx.WriteAt(id, 2, []byte("cd")))
		before, err := tx.Read(id)
		w.ok(err)
		w.ok(tx.WriteAt(id, 3, []byte("xyz")))
		w.sees(tx, id, "01cxyz6789")
		if !bytes.HasPrefix(before, []byte("01cd456789")) {
			w.Errorf("what was read turned into %q", before[:10])
		}
		w.ok(tx.Write(id, []byte("whole")))
		w.ok(tx.WriteAt(id, 7, []byte("part")))
		w.sees(tx, id, "whole\x00\x00part")
		p := []byte("P")
		w.ok(tx.WriteAt(id, 7, p))
		p[0] = '!'
		if got := w.get(a, id); got != "0123456789" {
			w.Errorf("read %q before the commit", got)
		}
		w.ok(tx.Commit())
		for _, db := range []*client.DB{a, b} {
			if got := w.get(db, id); got != "whole\x00\x00Part" {
				w.Errorf("read %q", got)
			}
		}
		w.ok(b.Update(w.ctx, func(tx *client.Tx) error { return tx.WriteAt(id, 4095, []byte("$")) }))
		w.ok(b.Update(w.ctx, func(tx *client.Tx) error { return tx.WriteAt(id, 4095, []byte{0}) }))
		if got := w.get(a, id); got != "whole\x00\x00Part" {
			w.Errorf("read %q", got)
		}
	})
}

// Two transactions that change different bytes of a block conflict all the
// same, and Update does the second one again on top of the first.
func TestWriteAtConflicts(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		a, b := w.open(client.Options{}), w.open(client.Options{NoActiveAborts: true})
		id := w.create(a, "........")[0]
		tx := w.begin(b)
		w.ok(tx.WriteAt(id, 0, []byte("b")))
		w.ok(a.Update(w.ctx, func(tx *client.Tx) error { return tx.WriteAt(id, 7, []byte("a")) }))
		if err := tx.Commit(); !errors.Is(err, client.ErrConflict) {
			w.Fatalf("got %v", err)
		}
		if got := w.get(a, id); got != ".......a" {
			w.Errorf("read %q", got)
		}
		attempts := 0
		w.ok(b.Update(w.ctx, func(tx *client.Tx) error {
			if err := tx.WriteAt(id, 0, []byte("b")); err != nil {
				return err
			}
			if attempts++; attempts == 1 {
				w.ok(a.Update(w.ctx, func(tx *client.Tx) error { return tx.WriteAt(id, 6, []byte("A")) }))
			}
			return nil
		}))
		if got := w.get(a, id); got != "b.....Aa" || attempts != 2 {
			w.Errorf("read %q after %d attempts", got, attempts)
		}
	})
}

// The version that ranges are based on may leave the cache while the
// transaction runs.
func TestWriteAtAfterEviction(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		db := w.open(client.Options{CacheBytes: 1})
		ids := w.create(db, full(db, "a"), full(db, "b"), full(db, "c"))
		sent, _ := cost(db, func() {
			w.ok(db.Update(w.ctx, func(tx *client.Tx) error {
				for i, id := range ids {
					if err := tx.WriteAt(id, i, []byte("-")); err != nil {
						return err
					}
				}
				return nil
			}))
		})
		if n := sent[wire.TypeCommit].Bytes; n > 60 {
			w.Errorf("a commit of %d bytes", n)
		}
		for i, id := range ids {
			want := []byte(full(db, string(rune('a'+i))))
			want[i] = '-'
			if got := w.get(db, id); got != string(want) {
				w.Errorf("block %d reads %.10q", i, got)
			}
		}
	})
}

func TestWriteAtRefuses(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		db := w.open(client.Options{})
		id := w.create(db, "x")[0]
		for _, c := range []struct {
			off   int
			n     int
			limit bool
			ok    bool
		}{
			{-1, 1, false, false}, {4096, 1, true, false}, {4095, 2, true, false}, {math.MaxInt, 1, true, false},
			{4096, 0, false, true}, {0, 0, false, true}, {0, 4096, false, true}, {4095, 1, false, true},
		} {
			tx := w.begin(db)
			err := tx.WriteAt(id, c.off, make([]byte, c.n))
			var limit *client.LimitError
			if (err == nil) != c.ok || errors.As(err, &limit) != c.limit {
				w.Errorf("%d bytes at %d: %v", c.n, c.off, err)
			}
			tx.Abort()
			if err := tx.WriteAt(id, 0, nil); !errors.Is(err, client.ErrTxDone) {
				w.Errorf("after the end: %v", err)
			}
		}
		view := w.beginView(db)
		if err := view.WriteAt(id, 0, []byte("y")); !errors.Is(err, client.ErrReadOnly) {
			w.Errorf("in a read-only transaction: %v", err)
		}
		view.Abort()
		sent, _ := cost(db, func() {
			w.ok(db.Update(w.ctx, func(tx *client.Tx) error { return tx.WriteAt(id, 9, nil) }))
		})
		if sent.Total().Messages > 0 {
			w.Error("nothing was written, but something was sent")
		}
	})
}

// BenchmarkWriteAt is a transaction that changes 16 bytes of one block of
// 4096, in part or by writing it blindly as a whole.
func BenchmarkWriteAt(b *testing.B) {
	db, ids := benchDB(b, 1)
	data := []byte(full(db, "a"))
	for name, write := range map[string]func(*client.Tx) error{
		"part":  func(tx *client.Tx) error { return tx.WriteAt(ids[0], 1000, data[1000:1016]) },
		"whole": func(tx *client.Tx) error { return tx.Write(ids[0], data) },
	} {
		b.Run(name, func(b *testing.B) {
			if err := db.Update(b.Context(), func(tx *client.Tx) error { return tx.Write(ids[0], data) }); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			n := uint64(0)
			sent, _ := cost(db, func() {
				for b.Loop() {
					for i := range 16 {
						data[1000+i]++
					}
					if err := db.Update(b.Context(), write); err != nil {
						b.Fatal(err)
					}
					n++
				}
			})
			b.ReportMetric(float64(sent[wire.TypeCommit].Bytes)/float64(n), "commit-bytes/op")
		})
	}
}
