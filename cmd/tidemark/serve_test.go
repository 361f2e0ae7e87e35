package main

import (
	"context"
	"os/exec"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tidemark/tidemark/bench/proc"
)

// launch starts "tidemark serve" in a directory and returns when it listens.
func launch(ctx context.Context, dir string, flags ...string) (*proc.Server, error) {
	cmd := exec.Command("tidemark", append([]string{"serve", "--until-eof"}, flags...)...)
	cmd.Dir = dir
	return proc.Launch(ctx, cmd)
}

// servers are the servers of a script, by the names of their variables.
type servers map[string]*proc.Server

type serversKey struct{}

// serve starts a server and sets the variable NAME to its address; stop stops
// it, which must leave exit code 0.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "serve NAME FLAG...")
	s, err := launch(context.Background(), ts.MkAbs("."), args[1:]...)
	ts.Check(err)
	ts.Defer(s.Kill)
	ts.Setenv(args[0], s.Addr)
	ts.Value(serversKey{}).(servers)[args[0]] = s
}

func stop(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "stop NAME")
	s := ts.Value(serversKey{}).(servers)[args[0]]
	if s == nil {
		ts.Fatalf("no server %q", args[0])
	}
	ts.Check(s.Stop())
}

func TestServeStopsWhenInputEnds(t *testing.T) {
	s, err := launch(t.Context(), t.TempDir(), "--in-memory", "--listen=127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.EndInput(); err != nil {
		t.Error(err)
	}
}
