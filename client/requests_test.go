package client_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server"
)

// Reads that are given up while the server is silent leave their requests
// under way; beyond the limit there is an error, until they are answered.
func TestRequestsAreBounded(t *testing.T) {
	const perRequest = 2
	w := newWorld(t, server.Options{Limits: wire.Limits{ReadBlocks: perRequest}})
	w.connect = func(o client.Options) (*client.DB, error) {
		return client.Open(w.ctx, func(ctx context.Context, r client.Receiver) (client.Transport, error) {
			real, err := client.LocalPipe(gatedBackend{w.srv, w.gate})(ctx, r)
			return &mutable{Transport: real}, err
		}, o)
	}
	db := w.open(client.Options{NoBackground: true})
	mute := db.Transport().(*mutable)
	mute.on = true
	next := occ.BlockID(1)
	read := func(requests int) error {
		ctx, cancel := context.WithCancel(w.ctx)
		tx, err := db.BeginView(ctx)
		w.ok(err)
		defer tx.Abort()
		cancel()
		ids := make([]occ.BlockID, perRequest*requests-1)
		for i := range ids {
			ids[i] = next
			next++
		}
		_, err = tx.ReadMany(ids)
		return err
	}
	for left := client.MaxRequests; left > 0; {
		n := min(left, 1000)
		if err := read(n); !errors.Is(err, context.Canceled) {
			t.Fatalf("%d requests, %d before the last: %v", n, left, err)
		}
		left -= n
	}
	var limit *client.LimitError
	for name, err := range map[string]error{
		"read":   read(1),
		"ping":   db.Ping(w.ctx),
		"id":     db.Update(w.ctx, func(tx *client.Tx) error { _, err := tx.Create(); return err }),
		"commit": db.Update(w.ctx, func(tx *client.Tx) error { return tx.Write(1, nil) }),
	} {
		if !errors.As(err, &limit) || limit.Limit != client.MaxRequests || limit.Value != client.MaxRequests+1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// mutable loses what is sent while it is on, as a silent server would.
type mutable struct {
	client.Transport
	on bool
}

func (m *mutable) Send(frame []byte) {
	if !m.on {
		m.Transport.Send(frame)
	}
}
