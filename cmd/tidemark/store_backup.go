package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/dustin/go-humanize"

	"github.com/tidemark/tidemark/backup"
	"github.com/tidemark/tidemark/backup/take"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
)

// backupPerm is the mode of a backup's file: it holds all that the store does.
const backupPerm = 0o600

type storeBackupCmd struct {
	Output string `short:"o" type:"path" default:"-" placeholder:"FILE" help:"File to write, which appears only when it is complete (default: standard output)."`
	Since  string `placeholder:"BACKUP" help:"Write only what changed since an earlier backup: its file, or the timestamp that it is of."`
	Force  bool   `help:"Replace a file that has the name of the one to write."`
	JSON   bool   `help:"Print a line of JSON about the backup: to standard error, if the backup goes to standard output."`
	serverFlag
}

// Help is the second part of the command's help text.
func (*storeBackupCmd) Help() string {
	return "A backup is of one timestamp, the newest when the command starts, while commits go on; the server keeps that readable " +
		"until the command ends. With --since it has what changed since an earlier backup, full or itself of what changed, which " +
		"restoring needs too, and which the new one never replaces. A number is taken for a timestamp; for a file of that name write ./NUMBER. Sessions of clients and " +
		"snapshots are not in a backup."
}

// since sets what the backup goes on from.
func (c *storeBackupCmd) since(ctx context.Context, o *take.Options) error {
	if c.Since == "" {
		return nil
	}
	if at, err := strconv.ParseUint(c.Since, 10, 64); err == nil {
		if at == 0 {
			return usage("--since must be a file or a positive timestamp")
		}
		o.Since = occ.Timestamp(at)
		return nil
	}
	f, err := openPatiently(ctx, c.Since, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	if same, err := isFile(f, c.Output); err != nil {
		return err
	} else if same {
		return usage("--since and -o are the same file %s, which is needed to restore what changed since", c.Since)
	}
	r, err := backup.NewReader(f, c.Since)
	if err != nil {
		return err
	}
	h := r.Header()
	o.Earlier = &h
	return nil
}

// isFile reports whether path leads to the file f.
func isFile(f *os.File, path string) (bool, error) {
	this, err := f.Stat()
	if err != nil {
		return false, err
	}
	other, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(this, other), err
}

func (c *storeBackupCmd) Run(env *environment) error {
	var o take.Options
	if err := c.since(env.ctx, &o); err != nil {
		return err
	}
	if c.Output == "-" && isTerminal(env.stdout) {
		return usage("a backup is not for a terminal: name a file with -o, or redirect standard output")
	}
	// A reader that goes away is an error like any other, after which the
	// timestamp is let go.
	signal.Ignore(syscall.SIGPIPE)
	return c.with(env, func(ctx context.Context, db *client.DB) error {
		out, err := newOutput(ctx, c.Output, env.stdout, outputOptions{perm: backupPerm, keep: !c.Force})
		if err != nil {
			return err
		}
		return c.write(ctx, env, db, out, o)
	})
}

// write backs up to the output, and reports when what it wrote is durable.
func (c *storeBackupCmd) write(ctx context.Context, env *environment, db *client.DB, out *output, o take.Options) error {
	defer out.discard()
	p := newProgress(env.stderr)
	o.Progress = func(done, store uint64) {
		if o.Earlier != nil || o.Since > 0 {
			p.draw("backing up", func() string { return humanize.Comma(int64(done)) + " changed blocks" })
		} else {
			p.showIn("backing up", "blocks", int64(done), int64(max(done, store)))
		}
	}
	r, err := take.Backup(ctx, db, patientWriter{ctx, out.w}, o)
	p.clear()
	if err == nil {
		err = out.close()
	}
	if err != nil {
		return err
	}
	if r.Pinned != "" {
		fmt.Fprintf(env.stderr, "tidemark: the snapshot %s could not be deleted, it ends with its lease\n", r.Pinned)
	}
	return c.report(env, r)
}

// report says what the backup is.
func (c *storeBackupCmd) report(env *environment, r take.Result) error {
	w := env.stdout
	if c.Output == "-" {
		w = env.stderr
	}
	if c.JSON {
		return json.NewEncoder(w).Encode(map[string]any{"backup": map[string]any{
			"store": r.Store.String(), "at": r.At, "since": r.Since, "blocks": r.Records, "data_bytes": r.DataBytes, "file_bytes": r.FileBytes,
		}})
	}
	if c.Output == "-" {
		return nil
	}
	what := "all"
	if r.Since > 0 {
		what = fmt.Sprintf("what changed since timestamp %d", r.Since)
	}
	return describe(w, "backup of "+what, r.Store, r.At, r.Records, r.DataBytes)
}

// describe prints what was backed up or restored.
func describe(w io.Writer, what string, store occ.StoreID, at occ.Timestamp, blocks, dataBytes uint64) error {
	_, err := fmt.Fprintf(w, "%s: store %v at timestamp %d, %s blocks, %s of data\n",
		what, store, at, humanize.Comma(int64(blocks)), humanize.Bytes(dataBytes))
	return err
}
