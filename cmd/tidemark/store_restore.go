package main

import (
	"encoding/json"
	"io"
	"os"

	"github.com/tidemark/tidemark/backup"
	"github.com/tidemark/tidemark/backup/restore"
)

type storeRestoreCmd struct {
	Output  directory `short:"o" required:"" placeholder:"DIR" help:"Data directory to make. It must not exist, and appears only when it is complete."`
	JSON    bool      `help:"Print a line of JSON."`
	Backups []string  `arg:"" name:"BACKUP" help:"Files: a full backup, and then those of what changed since the one before; - is standard input."`
}

// Help is the second part of the command's help text.
func (*storeRestoreCmd) Help() string {
	return "The store is as it was at the timestamp of the last backup, and keeps its id. Clients that knew it before are told that " +
		"it is a restored one, and forget what they had cached. Stop the server of the original first: both are the same store to " +
		"clients, and must not go on side by side."
}

func (c *storeRestoreCmd) Run(env *environment) error {
	var readers []*backup.Reader
	total := int64(0)
	stdin := false
	for _, name := range c.Backups {
		var in io.Reader
		if name == "-" {
			if stdin {
				return usage("standard input holds one backup")
			}
			stdin, name, in = true, "standard input", newPatient(env.ctx, env.stdin)
		} else {
			f, err := openPatiently(env.ctx, name, os.O_RDONLY)
			if err != nil {
				return err
			}
			defer f.Close()
			info, err := f.Stat()
			if err != nil {
				return err
			}
			total += info.Size()
			if in = f; !info.Mode().IsRegular() {
				in = newPatient(env.ctx, f)
			}
		}
		r, err := backup.NewReader(in, name)
		if err != nil {
			return err
		}
		readers = append(readers, r)
	}
	chain, err := backup.NewChain(readers)
	if err != nil {
		return err
	}
	p := newProgress(env.stderr)
	to := c.Output.absolute()
	r, err := restore.Directory(env.ctx, to, chain, restore.Options{
		Progress: func(read int64) { p.showBytes("restoring", read, total) },
	})
	p.clear()
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(env.stdout).Encode(map[string]any{"restored": map[string]any{
			"store": r.Store.String(), "at": r.At, "epoch": r.Epoch, "blocks": r.Blocks, "data_bytes": r.DataBytes,
		}})
	}
	return describe(env.stdout, "restored to "+to, r.Store, r.At, r.Blocks, r.DataBytes)
}
