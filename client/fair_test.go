package client_test

import (
	"sync"
	"testing"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server"
)

// urgentFrom is the attempt from which on Update's commits are urgent.
const urgentFrom = 8

// TestSlowUpdateGetsThrough runs an Update that reads 20 blocks, half of which
// writers overwrite while it runs, in every attempt: it goes on only when each
// writer has committed or is held back. So no attempt can win but one for
// which the server holds the writers back.
func TestSlowUpdateGetsThrough(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		slow, watch := w.open(client.Options{}), w.open(client.Options{})
		ids := w.create(slow, make([]string, 20)...)
		writers := []*client.DB{w.open(client.Options{}), w.open(client.Options{}), w.open(client.Options{})}
		var all sync.WaitGroup
		attempts := 0
		err := slow.Update(w.ctx, func(tx *client.Tx) error {
			attempts++
			if err := readAll(tx, ids[:10]); err != nil {
				return err
			}
			before := counters(w, watch)
			for i, db := range writers {
				all.Go(func() { w.set(db, ids[3*i], "overwritten") })
			}
			for {
				now := counters(w, watch)
				if now["commits"]-before["commits"]+now["held"]-before["held"] >= uint64(len(writers)) {
					break
				}
			}
			if err := readAll(tx, ids[10:]); err != nil {
				return err
			}
			return tx.Write(ids[0], []byte("slow"))
		})
		all.Wait()
		status := counters(w, watch)
		if err != nil || attempts <= urgentFrom || attempts > urgentFrom+8 {
			t.Errorf("%d attempts, %v", attempts, err)
		}
		if status["reservations"] == 0 || status["held"] < uint64(len(writers)) {
			t.Errorf("%d reservations, %d commits held back", status["reservations"], status["held"])
		}
	})
}

func readAll(tx *client.Tx, ids []occ.BlockID) error {
	for _, id := range ids {
		if _, err := tx.Read(id); err != nil {
			return err
		}
	}
	return nil
}

func counters(w *world, db *client.DB) map[string]uint64 {
	status, err := db.ServerStatus(w.ctx)
	if err != nil {
		w.Errorf("status: %v", err)
		w.FailNow()
	}
	return status
}
