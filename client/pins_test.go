package client_test

import (
	"testing"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/server"
)

// TestPinsOverALostConnection: requests whose answers are lost with the
// connection are sent again, and their effects are those of one.
func TestPinsOverALostConnection(t *testing.T) {
	overBoth(t, server.Options{}, func(w *world) {
		db := w.open(client.Options{})
		id := w.create(db, "x")[0]
		lose := func(ask func() error) {
			w.Helper()
			w.gate.close()
			ended := make(chan error)
			go func() { ended <- ask() }()
			w.waitHeld()
			w.gate.cut()
			w.ok(<-ended)
		}
		lose(func() error {
			_, err := db.Pin(w.ctx, "p", client.PinOptions{At: 1})
			return err
		})
		w.set(db, id, "y")
		list, err := db.Pins(w.ctx)
		w.ok(err)
		if len(list.Pins) != 1 || list.Pins[0] != (client.Pin{Name: "p", At: 1}) {
			w.Fatalf("%+v", list)
		}
		lose(func() error {
			return db.View(w.ctx, func(tx *client.Tx) error {
				w.sees(tx, id, "x")
				return nil
			}, client.AtSnapshot("p"))
		})
		lose(func() error { return db.Unpin(w.ctx, "p") })
		w.wants(db.Unpin(w.ctx, "p"), client.ErrNoPin)
	})
}
