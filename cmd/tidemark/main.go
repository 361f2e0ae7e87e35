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
	"syscall"

	"github.com/alecthomas/kong"
)

// Exit codes besides 0.
const (
	exitFailure = 1
	exitUsage   = 2
)

const description = `A transactional block store with read-optimized optimistic concurrency control.

Read-only transactions run in the client, on a snapshot that is at most ε old, and cost no message; read/write
transactions are validated by the server. The commands below serve a store, and measure what the method saves by
replaying traces of NFS servers.

Start with:  tidemark bench            (compare the settings on the bundled trace)
             tidemark trace info FILE  (look at a trace of your own)
             tidemark bench FILE       (replay it)`

type cli struct {
	Serve   serveCmd   `cmd:"" help:"Serve a store over TCP until SIGTERM or SIGINT."`
	Replay  replayCmd  `cmd:"" help:"Replay a trace under one setting, check it, and print the figures."`
	Bench   benchCmd   `cmd:"" help:"Replay traces under several settings and print how these compare."`
	Trace   traceCmd   `cmd:"" help:"Look at traces."`
	Version versionCmd `cmd:"" help:"Print the version of the program, the protocol and the formats."`
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
	code := run(os.Args[1:], &environment{ctx: ctx, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr})
	stop()
	os.Exit(code)
}

// run is main without the process around it.
func run(args []string, env *environment) (code int) {
	var c cli
	exit := -1
	parser, err := kong.New(&c,
		kong.Name("tidemark"), kong.Description(description),
		kong.Writers(env.stdout, env.stderr), kong.Exit(func(code int) { exit = code }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.UsageOnError(),
		kong.Bind(env), variables())
	if err != nil {
		return fail(env, err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	command, err := parser.Parse(args)
	if exit >= 0 { // --help has been printed
		return exit
	}
	if err != nil {
		fmt.Fprintf(env.stderr, "tidemark: %v (try tidemark --help)\n", err)
		return exitUsage
	}
	if err := command.Run(env); err != nil {
		return fail(env, err)
	}
	return 0
}

// fail prints one line.
func fail(env *environment, err error) int {
	if errors.Is(err, context.Canceled) && env.ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	fmt.Fprintf(env.stderr, "tidemark: %s\n", oneLine(err.Error()))
	return exitFailure
}

// oneLine joins the lines of errors.Join.
func oneLine(text string) string {
	out := make([]rune, 0, len(text))
	for _, r := range text {
		if r == '\n' {
			out = append(out, ';', ' ')
			continue
		}
		out = append(out, r)
	}
	return string(out)
}
