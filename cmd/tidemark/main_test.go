package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes the test binary double as the program: tests run it as
// "tidemark", which is in their PATH.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"tidemark": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Values[serversKey{}] = make(servers)
			traces, err := filepath.Abs("../../traces")
			env.Setenv("TRACES", traces)
			return err
		},
		// Of two commands with a name the one of testscript counts, so none of
		// these has the name of one: its stop ends a script.
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fails":    fails,
			"json":     jsonLines,
			"pack":     pack,
			"unbase64": unbase64,
			"first":    first,
			"flip":     flip,
			"holds":    holds,
			"serve":    serve,
			"commit":   commit,
			"reads":    reads,
			"halt":     halt,
		},
	})
}

func need(ts *testscript.TestScript, neg bool, args []string, least int, form string) {
	if neg || len(args) < least {
		ts.Fatalf("usage: %s", form)
	}
}

// fails runs a command that must exit with the given code, print nothing to
// standard output and exactly one line of the program's to standard error.
func fails(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "fails CODE COMMAND ARG...")
	code, err := strconv.Atoi(args[0])
	ts.Check(err)
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); !errors.As(err, &exit) || exit.ExitCode() != code {
		ts.Fatalf("it ended with %v, not with exit code %d", err, code)
	}
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("it printed to standard output: %s", out)
	}
	text := ts.ReadFile("stderr")
	line, rest, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(line, "tidemark: ") || rest != "" {
		ts.Fatalf("standard error is not one line: %s", text)
	}
}

// jsonLines checks that a file holds so many lines, each a JSON object.
func jsonLines(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "json FILE COUNT")
	n := 0
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		n++
		if err := json.Unmarshal([]byte(line), new(map[string]any)); err != nil {
			ts.Fatalf("line %d: %v", n, err)
		}
	}
	if strconv.Itoa(n) != args[1] {
		ts.Fatalf("%s has %d lines, not %s", args[0], n, args[1])
	}
}

func pack(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3, "pack gzip|zstd FROM TO")
	var out bytes.Buffer
	text := []byte(ts.ReadFile(args[1]))
	switch args[0] {
	case "gzip":
		z := gzip.NewWriter(&out)
		_, err := z.Write(text)
		ts.Check(errors.Join(err, z.Close()))
	case "zstd":
		z, err := zstd.NewWriter(&out)
		ts.Check(err)
		_, err = z.Write(text)
		ts.Check(errors.Join(err, z.Close()))
	default:
		ts.Fatalf("no format %q", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), out.Bytes(), 0o600))
}

func unbase64(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "unbase64 FROM TO")
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(ts.ReadFile(args[0])), ""))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o600))
}

// first copies the first bytes of a file, flip copies it with one byte changed,
// counted from the end if the offset is negative.
func first(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3, "first COUNT FROM TO")
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(ts.ReadFile(args[1]))[:n], 0o600))
}

func flip(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3, "flip OFFSET FROM TO")
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	data := []byte(ts.ReadFile(args[1]))
	if n < 0 {
		n += len(data)
	}
	data[n] ^= 0x55
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), data, 0o600))
}

// holds checks the names in a directory.
func holds(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "holds DIR NAME...")
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := args[1:]; !slices.Equal(names, want) {
		ts.Fatalf("%s holds %q, not %q", args[0], names, want)
	}
}
