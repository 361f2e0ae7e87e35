package client_test

import (
	"context"
	"testing"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server"
)

// benchDB is a DB on a server in memory, in this process, with n blocks
// written and cached.
func benchDB(b *testing.B, n int) (*client.DB, []occ.BlockID) {
	b.Helper()
	srv, err := server.Open(server.Options{})
	if err != nil {
		b.Fatal(err)
	}
	db, err := client.Local(srv, client.Options{Freshness: 2 * time.Second})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
		if err := srv.Shutdown(context.Background()); err != nil {
			b.Error(err)
		}
	})
	ids := make([]occ.BlockID, n)
	if err := db.Update(context.Background(), func(tx *client.Tx) error {
		for i := range ids {
			var err error
			if ids[i], err = tx.Create(); err != nil {
				return err
			}
			if err := tx.Write(ids[i], []byte("content")); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	return db, ids
}

// BenchmarkWarmView is a read-only transaction whose blocks are cached, with
// a sync point at hand: no message is sent but for a ping every two seconds.
func BenchmarkWarmView(b *testing.B) {
	for _, c := range []struct {
		name   string
		blocks int
	}{{"blocks=1", 1}, {"blocks=10", 10}} {
		b.Run(c.name, func(b *testing.B) {
			db, ids := benchDB(b, c.blocks)
			ctx := context.Background()
			read := func(tx *client.Tx) error {
				for _, id := range ids {
					if _, err := tx.Read(id); err != nil {
						return err
					}
				}
				return nil
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := db.View(ctx, read); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkUpdate is a transaction that reads and writes one block, committed
// by a server in memory in this process.
func BenchmarkUpdate(b *testing.B) {
	db, ids := benchDB(b, 1)
	ctx := context.Background()
	data := make([]byte, db.BlockSize())
	b.ReportAllocs()
	for b.Loop() {
		err := db.Update(ctx, func(tx *client.Tx) error {
			if _, err := tx.Read(ids[0]); err != nil {
				return err
			}
			data[0]++
			return tx.Write(ids[0], data)
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
