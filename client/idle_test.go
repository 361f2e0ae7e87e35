package client_test

import (
	"testing"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/server"
)

// TestIdleClientHearsOfCommits: heartbeats move the GLUB of a client that does
// nothing.
func TestIdleClientHearsOfCommits(t *testing.T) {
	overBoth(t, server.Options{Heartbeat: 5 * time.Millisecond}, func(w *world) {
		idle, busy := w.open(client.Options{}), w.open(client.Options{})
		id := w.create(busy, "x")[0]
		for range 3 {
			w.set(busy, id, "y")
			sent, at := idle.Stats().Traffic.Sent.Total(), busy.Stats().GLUB
			for idle.Stats().GLUB < at {
				w.ok(w.ctx.Err())
			}
			if now := idle.Stats().Traffic.Sent.Total(); now != sent {
				w.Fatalf("the idle client has sent %d messages", now.Messages-sent.Messages)
			}
		}
	})
}
