package main

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

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

// serve starts a server and sets the variable NAME to its address; halt stops
// it, which must leave exit code 0.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "serve NAME FLAG...")
	s, err := launch(context.Background(), ts.MkAbs("."), args[1:]...)
	ts.Check(err)
	ts.Defer(s.Kill)
	ts.Setenv(args[0], s.Addr)
	ts.Value(serversKey{}).(servers)[args[0]] = s
}

func halt(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "halt NAME")
	s := ts.Value(serversKey{}).(servers)[args[0]]
	if s == nil {
		ts.Fatalf("no server %q", args[0])
	}
	ts.Check(s.Stop())
}

// TestServeMustSayWhereItListens: a server that could not print its line ends,
// and lets its directory go.
func TestServeMustSayWhereItListens(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // after which one that serves would stop
	defer cancel()
	dir := t.TempDir()
	var out, errs bytes.Buffer
	env := &environment{ctx: ctx, stdout: full{errors.New("no more room")}, stderr: &errs}
	code := run([]string{"serve", "--dir", dir, "--listen=127.0.0.1:0"}, env)
	if want := "\ntidemark: cannot say where it listens: no more room\n"; code != exitFailure || !strings.HasSuffix(errs.String(), want) {
		t.Errorf("exit code %d, %s", code, &errs)
	}
	if code := run([]string{"store", "check", dir}, &environment{ctx: ctx, stdout: &out, stderr: &errs}); code != 0 {
		t.Errorf("check: exit code %d, %s", code, &errs)
	}
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
