package main

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/tidemark/tidemark/server"
)

// brokenListener fails when it is asked for a connection.
type brokenListener struct{ net.Listener }

var errListener = errors.New("the network is gone")

func (brokenListener) Accept() (net.Conn, error) { return nil, errListener }

// TestBrokenListener: a server that nobody can reach any more ends and says
// why, instead of going on.
func TestBrokenListener(t *testing.T) {
	s, err := server.Open(server.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	env := &environment{ctx: ctx, stdout: io.Discard, stderr: io.Discard}
	if err := new(serveCmd).serve(env, s, brokenListener{l}); !errors.Is(err, errListener) || ctx.Err() != nil {
		t.Fatalf("serve: %v, %v", err, ctx.Err())
	}
}
