package main

import (
	"context"
	"time"

	"github.com/tidemark/tidemark/client"
)

// connectTime is how long a server may take to welcome a command.
const connectTime = 10 * time.Second

// commandCache is the cache of a command, in bytes: it reads nothing twice.
const commandCache = 8 << 20

// serverFlag is common to the commands that ask a running server.
type serverFlag struct {
	Server string `default:"127.0.0.1:7400" placeholder:"ADDR" help:"TCP address of the server (default ${default})."`
}

// with connects to the server and calls do. A connection that is lost is not
// waited for.
func (f *serverFlag) with(env *environment, do func(ctx context.Context, db *client.DB) error) error {
	ctx, cancel := context.WithTimeout(env.ctx, connectTime)
	db, err := client.Dial(ctx, f.Server, client.Options{NoWait: true, CacheBytes: commandCache})
	cancel()
	if err != nil {
		return err
	}
	defer db.Close()
	return do(env.ctx, db)
}
