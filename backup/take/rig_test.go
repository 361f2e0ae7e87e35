package take

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/backup"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server"
)

const patience = 60 * time.Second

// rig is a server with an external clock, and a client of it.
type rig struct {
	*testing.T
	ctx     context.Context
	backend *switching
	db      *client.DB
	clock   time.Duration
}

// switching is a backend whose server can be replaced.
type switching struct{ srv atomic.Pointer[server.Server] }

func (s *switching) ServeConn(c net.Conn) error { return s.srv.Load().ServeConn(c) }

func newRig(t *testing.T) *rig {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	r := &rig{T: t, ctx: ctx, backend: new(switching)}
	r.open(server.Options{BlockSize: 512, ExternalClock: true})
	var err error
	if r.db, err = client.Local(r.backend, client.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.db.Close() })
	return r
}

// open starts a server in place of the one before.
func (r *rig) open(o server.Options) *server.Server {
	r.Helper()
	srv, err := server.Open(o)
	if err != nil {
		r.Fatal(err)
	}
	r.backend.srv.Store(srv)
	r.Cleanup(func() { srv.Shutdown(context.Background()) })
	return srv
}

func (r *rig) check(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// write writes blocks in one transaction.
func (r *rig) write(text string, blocks ...occ.BlockID) {
	r.Helper()
	r.check(r.db.Update(r.ctx, func(tx *client.Tx) error {
		for _, b := range blocks {
			if err := tx.Write(b, []byte(text)); err != nil {
				return err
			}
		}
		return nil
	}))
}

// pins returns what is pinned.
func (r *rig) pins() []client.Pin {
	r.Helper()
	list, err := r.db.Pins(r.ctx)
	r.check(err)
	return list.Pins
}

func (r *rig) lease(n uint64) {
	r.Helper()
	_, err := r.db.CreateRange(r.ctx, n)
	r.check(err)
}

// records are those of a backup, as text.
func records(t *testing.T, b []byte) string {
	t.Helper()
	in, err := backup.NewReader(bytes.NewReader(b), "b")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for {
		r, err := in.Next()
		if errors.Is(err, io.EOF) {
			return text.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, " %d%s", r.Block, r.Data)
	}
}
