package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os/signal"
	"syscall"
	"time"

	"github.com/tidemark/tidemark/server"
	"github.com/tidemark/tidemark/server/ready"
)

// defaultDir is the data directory if none is named. It is no default of the
// flag, which would then count as given beside --in-memory.
const defaultDir = "tidemark-data"

// minCheckpoint is the least growth of the log between checkpoints, in MiB.
const minCheckpoint = 0.01

type serveCmd struct {
	Listen        string        `default:"127.0.0.1:7400" placeholder:"ADDR" help:"TCP address to listen on (default ${default}). Port 0 takes a free one. Whoever can connect can read and write everything."`
	Dir           directory     `xor:"where" placeholder:"DIR" help:"Data directory, created if it is missing (default ${dir}). One server at a time can use it."`
	InMemory      bool          `xor:"where" help:"Keep the store in memory instead: it ends with the server."`
	BlockSize     *int          `placeholder:"BYTES" help:"Block size of a new store (default 4096). An existing store keeps its own, and must not be given another."`
	Retention     time.Duration `default:"1m" placeholder:"TIME" help:"How long overwritten versions stay readable (default ${default})."`
	MemoryMiB     int64         `name:"memory" default:"1024" placeholder:"MIB" help:"Memory for block data (default ${default}). Of a data directory it is a cache, besides which up to twice as much, and no more than 128 MiB, waits to be written before commits wait; with --in-memory it is all there is, and commits beyond it are refused."`
	CheckpointMiB float64       `name:"checkpoint" default:"64" placeholder:"MIB" help:"How much the commit log grows between two checkpoints (default ${default}), or up to twice as much in a large store, whose checkpoints write more; a start has to replay that much at most."`
	MaxSizeMiB    int64         `name:"max-size" default:"0" placeholder:"MIB" help:"Refuse commits beyond that much block data in the data directory; 0 for as much as the disk holds (default ${default})."`
	CommitDelay   time.Duration `default:"0s" placeholder:"TIME" help:"How long a commit waits for others to share its write of the log, when the log is idle, ${maxdelay} at most (default ${default})."`
	ExternalClock bool          `help:"Let clients move the retention clock: for replays, which count time in the trace."`
	UntilEOF      bool          `name:"until-eof" help:"Stop when standard input ends, too: for programs that start a server of their own."`
	Verbose       bool          `short:"v" help:"Log every connection."`
}

// Help is the second part of the command's help text.
func (*serveCmd) Help() string {
	return "It prints one line to standard output once clients can connect, and logs to standard error. SIGTERM and SIGINT stop " +
		"it: what was acknowledged is on disk, after a crash too, except with --in-memory."
}

func (c *serveCmd) options(env *environment) (server.Options, error) {
	o := server.Options{
		Retention: c.Retention, MemoryBytes: c.MemoryMiB << 20, CacheBytes: c.MemoryMiB << 20,
		CheckpointBytes: int64(c.CheckpointMiB * (1 << 20)), StoreBytes: c.MaxSizeMiB << 20, CommitDelay: c.CommitDelay, ExternalClock: c.ExternalClock,
	}
	// The server takes zeros for its defaults; who types one means something else.
	switch {
	case c.Retention <= 0:
		return o, usage("--retention must be positive, not %v", c.Retention)
	case c.MemoryMiB <= 0 || c.MemoryMiB > maxMiB:
		return o, usage("--memory must be from 1 to %d, not %d", maxMiB, c.MemoryMiB)
	case !(c.CheckpointMiB >= minCheckpoint && c.CheckpointMiB <= maxMiB/2):
		return o, usage("--checkpoint must be from %v to %d, not %v", minCheckpoint, maxMiB/2, c.CheckpointMiB)
	case c.MaxSizeMiB < 0 || c.MaxSizeMiB > maxMiB:
		return o, usage("--max-size must be from 0 to %d, not %d", maxMiB, c.MaxSizeMiB)
	case c.CommitDelay < 0 || c.CommitDelay > server.MaxCommitDelay:
		return o, usage("--commit-delay must be from 0 to %v, not %v", server.MaxCommitDelay, c.CommitDelay)
	case c.BlockSize != nil && *c.BlockSize <= 0:
		return o, usage("--block-size must be positive, not %d", *c.BlockSize)
	}
	if c.BlockSize != nil {
		o.BlockSize = *c.BlockSize
	}
	if !c.InMemory {
		o.Dir = cmp.Or(c.Dir, defaultDir).absolute()
	}
	level := slog.LevelInfo
	if c.Verbose {
		level = slog.LevelDebug
	}
	o.Logger = slog.New(slog.NewTextHandler(env.stderr, &slog.HandlerOptions{Level: level}))
	return o, nil
}

func (c *serveCmd) Run(env *environment) error {
	o, err := c.options(env)
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGPIPE) // who reads the log may go away, and the server does not
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w", c.Listen, err)
	}
	s, err := server.Open(o)
	if err != nil {
		l.Close()
		return err
	}
	return c.serve(env, s, l)
}

// serve has s serve l until it is to stop or fails, and stops it.
func (c *serveCmd) serve(env *environment, s *server.Server, l net.Listener) error {
	if _, err := fmt.Fprint(env.stdout, ready.Line(l.Addr())); err != nil { // whoever started it waits for that
		l.Close()
		return errors.Join(fmt.Errorf("cannot say where it listens: %w", err), shutdown(s))
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	eof := make(chan struct{})
	if c.UntilEOF {
		go func() {
			_, _ = io.Copy(io.Discard, env.stdin) // an error is an end as well
			close(eof)
		}()
	}
	select {
	case <-env.ctx.Done():
	case <-eof:
	case err := <-served: // the log or the listener failed
		served <- err
	}
	if err := shutdown(s); err != nil {
		return err
	}
	if err := <-served; !errors.Is(err, server.ErrStopped) { // which means: before it accepted anything
		return err
	}
	return nil
}

// shutdown stops a server, and does not wait long for its clients.
func shutdown(s *server.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		return fmt.Errorf("stopping: %w", err)
	}
	return nil
}
