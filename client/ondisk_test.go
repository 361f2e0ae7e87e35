package client_test

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server"
)

// restarting is whichever server of a directory runs.
type restarting struct {
	srv  atomic.Pointer[server.Server]
	gate *gate
}

func (r *restarting) ServeConn(c net.Conn) error {
	return gatedBackend{r.srv.Load(), r.gate}.ServeConn(c)
}

// TestStressOnDisk is TestStress on a server that keeps nearly nothing in
// memory, makes checkpoints all the time, and is stopped and started.
func TestStressOnDisk(t *testing.T) {
	steps, restarts := 150, 4
	if testing.Short() {
		steps, restarts = 30, 1
	}
	opts := server.Options{Dir: t.TempDir(), CacheBytes: 1000, CheckpointBytes: 4000}
	w := newWorld(t, opts)
	r := &restarting{gate: w.gate}
	r.srv.Store(w.srv)
	w.connect = func(o client.Options) (*client.DB, error) { return client.Local(r, o) }
	pace := w.open(client.Options{})
	var done atomic.Bool
	var other sync.WaitGroup
	other.Go(func() {
		for range restarts {
			for commits := uint64(0); commits < 30 && !done.Load(); {
				status, err := pace.ServerStatus(w.ctx)
				if err != nil {
					w.Error(err)
					return
				}
				commits = status["commits"]
			}
			w.shutdown()
			srv, err := server.Open(opts)
			if err != nil {
				w.Error(err)
				return
			}
			w.srv = srv
			r.srv.Store(srv)
		}
	})
	stress(w, 5*4096, steps)
	done.Store(true)
	other.Wait()
	if status, err := pace.ServerStatus(w.ctx); err != nil || status["commits_recovered"] != 0 {
		t.Fatalf("%v, %v", status, err)
	}
}

// TestDamagedBlock: what the server cannot read any more is an error that says
// which version of which block, for a reader and for a writer of a part of it,
// and not where the server has it.
func TestDamagedBlock(t *testing.T) {
	dir := t.TempDir()
	w := newWorld(t, server.Options{Dir: dir})
	w.connect = func(o client.Options) (*client.DB, error) { return client.Local(gatedBackend{w.srv, w.gate}, o) }
	ids := w.create(w.open(client.Options{}), "to be damaged", "whole")
	w.shutdown()
	path := filepath.Join(dir, "blocks", "blocks")
	b, err := os.ReadFile(path)
	w.ok(err)
	b[bytes.Index(b, []byte("to be damaged"))] ^= 1
	w.ok(os.WriteFile(path, b, 0o640))

	srv, err := server.Open(server.Options{Dir: dir})
	w.ok(err)
	w.srv = srv
	db := w.open(client.Options{})
	for name, err := range map[string]error{
		"View":   db.View(w.ctx, func(tx *client.Tx) error { _, err := tx.Read(ids[0]); return err }),
		"Update": db.Update(w.ctx, func(tx *client.Tx) error { return tx.WriteAt(ids[0], 3, []byte("x")) }),
	} {
		var refusal *core.Refusal
		if !errors.Is(err, client.ErrDamaged) || errors.Is(err, client.ErrConflict) || !errors.As(err, &refusal) || refusal.Code != wire.CodeDamaged ||
			!strings.Contains(err.Error(), "block 1 from 1: checksum mismatch (the server's log says more)") || strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := w.get(db, ids[1]); got != "whole" {
		t.Fatalf("read %q", got)
	}
	w.set(db, ids[0], "new")
	if got := w.get(w.open(client.Options{}), ids[0]); got != "new" {
		t.Fatalf("read %q", got)
	}
}
