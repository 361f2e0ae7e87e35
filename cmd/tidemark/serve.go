package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/tidemark/tidemark/bench/live"
	"github.com/tidemark/tidemark/server"
)

type serveCmd struct {
	Listen        string        `default:"127.0.0.1:7400" placeholder:"ADDR" help:"TCP address to listen on; port 0 takes a free one. (${default})"`
	Dir           string        `default:"tidemark-data" type:"path" placeholder:"DIR" help:"Data directory, created if it is missing. One server at a time can use it. (${default})"`
	InMemory      bool          `help:"Keep everything in memory and nothing on disk."`
	BlockSize     int           `placeholder:"BYTES" help:"Block size of a new store. (4096)"`
	Retention     time.Duration `default:"60s" help:"How long overwritten versions stay readable. (${default})"`
	MemoryMiB     int64         `name:"memory" default:"1024" placeholder:"MIB" help:"Memory for block data; commits beyond it are refused. (${default} MiB)"`
	ExternalClock bool          `help:"Let clients move the retention clock: for replays, which count time in the trace."`
	Verbose       bool          `short:"v" help:"Log connections too."`
}

func (c *serveCmd) Run(env *environment) error {
	level := slog.LevelInfo
	if c.Verbose {
		level = slog.LevelDebug
	}
	o := server.Options{
		Dir: c.Dir, BlockSize: c.BlockSize, Retention: c.Retention, MemoryBytes: c.MemoryMiB << 20,
		ExternalClock: c.ExternalClock,
		Logger:        slog.New(slog.NewTextHandler(env.stderr, &slog.HandlerOptions{Level: level})),
	}
	if c.InMemory {
		o.Dir = ""
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w", c.Listen, err)
	}
	s, err := server.Open(o)
	if err != nil {
		l.Close()
		return err
	}
	// The address is printed when clients can connect; programs wait for it.
	fmt.Fprintf(env.stdout, "%s%s\n", live.Ready, l.Addr())
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	select {
	case <-env.ctx.Done():
	case <-s.Done():
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		return fmt.Errorf("stopping: %w", err)
	}
	if err := <-served; err != nil {
		return err
	}
	return s.Err()
}
