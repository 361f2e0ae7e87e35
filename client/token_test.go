package client_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/wal"
)

// generation makes the log of a store that began anew under this generation.
func generation(t *testing.T, g uint64) *wal.Memory {
	t.Helper()
	m := wal.NewMemory(occ.StoreID{7}, wal.DefaultMemoryLimit)
	log := m.Open()
	defer log.Close()
	epoch := g << 32
	if _, err := log.Fence(epoch); err != nil {
		t.Fatal(err)
	}
	if _, err := log.Append(record.Append(nil, record.Group{Records: []record.Record{&record.Epoch{Epoch: epoch}}})); err != nil {
		t.Fatal(err)
	}
	return m
}

// Two stores that began anew from one state have the same id, and both have
// reached the same timestamps: a token of one says nothing at the other. A
// restart changes nothing.
func TestTokensOfGenerations(t *testing.T) {
	logs := []*wal.Memory{generation(t, 1), generation(t, 2)}
	tokens := make([]client.Token, len(logs))
	for restarts := range 3 {
		for i, log := range logs {
			w := newWorld(t, server.Options{Log: log.Open(), Store: occ.StoreID{7}})
			w.connect = func(o client.Options) (*client.DB, error) { return client.Local(gatedBackend{w.srv, w.gate}, o) }
			db := w.open(client.Options{})
			if restarts == 0 {
				w.create(db, "x")
				tokens[i] = db.Token()
			}
			if got := uint64(tokens[i].Generation); db.Epoch() != got<<32+uint64(restarts)+1 || got != uint64(i+1) {
				t.Fatalf("a token of generation %d in epoch %x", got, db.Epoch())
			}
			for j, token := range tokens[:max(i+1, min(restarts, 1)*len(tokens))] {
				tx, err := db.BeginView(w.ctx, client.After(token))
				if j == i {
					w.ok(err)
					tx.Abort()
					continue
				}
				var e *client.TokenError
				if !errors.As(err, &e) || e.Token != token || e.Generation != uint32(i+1) || !strings.Contains(err.Error(), "generation") {
					t.Errorf("a token of the other store: %v", err)
				}
			}
			w.shutdown()
		}
	}
	if a, b := tokens[0], tokens[1]; a.Store != b.Store || a.At != b.At {
		t.Fatalf("%v and %v do not differ by their generation alone", a, b)
	}
}

func FuzzParseToken(f *testing.F) {
	for _, text := range []string{
		client.Token{Store: occ.StoreID{1, 2, 3}, Generation: 1<<32 - 1, At: 1<<64 - 1}.String(),
		client.Token{}.String(), "", "@", ".@", "12.3@4", strings.Repeat("00", 16) + "@4", strings.Repeat("00", 16) + ".4294967296@4",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		token, err := client.ParseToken(text)
		if err != nil {
			if token != (client.Token{}) || !strings.Contains(err.Error(), "token") {
				t.Errorf("%+v, %v", token, err)
			}
			return
		}
		if again, err := client.ParseToken(token.String()); err != nil || again != token {
			t.Errorf("%q is %+v, and that is %+v, %v", text, token, again, err)
		}
	})
}
