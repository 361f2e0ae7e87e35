package main

import (
	"encoding/json"
	"io"
	"os"
	"slices"

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
	if i := slices.Index(c.Backups, "-"); i >= 0 && slices.Contains(c.Backups[i+1:], "-") {
		return usage("standard input holds one backup")
	}
	var readers []*backup.Reader
	total := int64(0)
	for _, name := range c.Backups {
		in, size, err := openBackup(env, name)
		if err != nil {
			return err
		}
		defer in.Close()
		total += size
		if name == "-" {
			name = "standard input"
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

// openBackup opens a file, or standard input for -, so that waiting for what is no
// regular file can be interrupted. Size is 0 if it is not known.
func openBackup(env *environment, name string) (in io.ReadCloser, size int64, err error) {
	if name == "-" {
		return io.NopCloser(newPatient(env.ctx, env.stdin)), 0, nil
	}
	f, err := openPatiently(env.ctx, name, os.O_RDONLY)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	if info.Mode().IsRegular() {
		return f, info.Size(), nil
	}
	return struct {
		io.Reader
		io.Closer
	}{newPatient(env.ctx, f), f}, 0, nil
}
