// Command tidemark serves a Tidemark block store and measures it: it replays
// NFS traces under several concurrency controls and prints how they compare.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// Exit codes besides 0.
const (
	exitFailure = 1
	exitUsage   = 2
	exitFound   = 3 // what was to be checked was, and is not as it must be
)

const description = `A transactional block store with read-optimized optimistic concurrency control.

Read-only transactions run in the client, on a snapshot that is at most ε old, and mostly cost no message; read/write transactions are validated by the server. The commands below serve a store, and measure what the method saves by replaying traces of NFS servers.

To begin with:

    tidemark bench              compare the settings on the bundled trace
    tidemark trace info FILE    look at a trace of your own
    tidemark bench FILE         and replay it
    tidemark serve              serve a store to programs that use the client library`

type cli struct {
	Serve   serveCmd   `cmd:"" help:"Serve a store over TCP until SIGTERM or SIGINT."`
	Replay  replayCmd  `cmd:"" help:"Replay a trace under one setting, check it, and print the figures."`
	Bench   benchCmd   `cmd:"" help:"Replay traces under several settings and print how these compare."`
	Trace   traceCmd   `cmd:"" help:"Look at traces, and make some."`
	Store   storeCmd   `cmd:"" help:"Check, back up and restore stores, and keep snapshots of them."`
	Version versionCmd `cmd:"" help:"Print the versions of the program and of its network protocol."`
}

// environment is what commands get from outside.
type environment struct {
	ctx    context.Context
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(os.Args[1:], &environment{ctx: ctx, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}))
}

// run is main without the process around it.
func run(args []string, env *environment) int {
	var c cli
	exit := -1
	parser, err := kong.New(&c,
		kong.Name("tidemark"), kong.Description(description),
		kong.Writers(env.stdout, env.stderr), kong.Exit(func(code int) { exit = code }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Bind(env), variables(), genVariables())
	if err != nil {
		return fail(env, "", err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	// The parser would replace what is not UTF-8, and the command act on another file or name.
	for _, arg := range args {
		if !utf8.ValidString(arg) {
			return fail(env, "", usage("argument %q is not UTF-8", arg))
		}
	}
	command, err := parser.Parse(args)
	if exit >= 0 { // --help has been printed
		return exit
	}
	if err != nil {
		var p *kong.ParseError
		errors.As(err, &p)
		return fail(env, path(p.Context), usageError{err})
	}
	if err := command.Run(env); err != nil {
		return fail(env, path(command), err)
	}
	return 0
}

// path is the command that was chosen, with a blank before each word.
func path(c *kong.Context) string {
	text := ""
	if node := c.Selected(); node != nil {
		for ; node.Parent != nil; node = node.Parent {
			text = " " + node.Name + text
		}
	}
	return text
}

// usageError is an error of who typed the command.
type usageError struct{ error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// foundError is what a check has found. All else that fails a check says
// nothing about what was to be checked.
type foundError struct{ error }

// fail prints one line and returns the exit code.
func fail(env *environment, command string, err error) int {
	if cause := context.Cause(env.ctx); cause != nil && (errors.Is(err, cause) || errors.Is(err, context.Canceled)) {
		err = errors.New("interrupted")
	}
	code, hint := exitFailure, ""
	switch {
	case errors.As(err, new(usageError)):
		code, hint = exitUsage, fmt.Sprintf(" (try tidemark%s --help)", command)
	case errors.As(err, new(foundError)):
		code = exitFound
	}
	fmt.Fprintf(env.stderr, "tidemark: %s%s\n", strings.ReplaceAll(err.Error(), "\n", "; "), hint)
	return code
}
