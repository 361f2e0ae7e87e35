package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/signal"
	"syscall"

	"github.com/tidemark/tidemark/server/inspect"
)

type storeCmd struct {
	Check    storeCheckCmd   `cmd:"" help:"Say whether a server would start, and name every damaged place."`
	Dump     storeDumpCmd    `cmd:"" help:"Print what the store file, the checkpoints and the commit log say."`
	Salvage  storeSalvageCmd `cmd:"" help:"Make a new store from what is whole in a damaged one."`
	Snapshot snapshotCmd     `cmd:"" help:"Keep timestamps of a running server readable, under names."`
	Backup   storeBackupCmd  `cmd:"" help:"Write a backup of what a running server has."`
	Restore  storeRestoreCmd `cmd:"" help:"Make a data directory of backups."`
}

// Help is the second part of the command's help text.
func (*storeCmd) Help() string {
	return "check and dump read a data directory that no server uses; snapshot and backup ask a server that runs."
}

const offlineHelp = "It reads a data directory that no server uses, and changes nothing there. "

type storeCheckCmd struct {
	Dir  directory `arg:"" name:"DIR" help:"Data directory."`
	JSON bool      `help:"Print JSON lines: one with a \"finding\" for each damaged place, and at last one with the \"summary\"."`
}

// Help is the second part of the command's help text.
func (*storeCheckCmd) Help() string {
	return offlineHelp + "Every record is read as a server reads it when it starts, and all data of the newest checkpoint besides. A torn tail is what a crash leaves of a " +
		"write that nobody was told of: the next start cuts it off. Everything else is corruption: if it is of the data of " +
		"a version, a server refuses to read that, if it is of anything else, no server starts. The exit code is 0 for a store that is clean or has a torn tail, 3 for one that " +
		"is damaged, and 1 if that could not be found out: because a server uses the directory, for instance, or it cannot be read."
}

func (c *storeCheckCmd) Run(env *environment) error {
	enc := json.NewEncoder(env.stdout)
	places := 0
	p := newProgress(env.stderr)
	summary, err := inspect.Check(env.ctx, string(c.Dir), inspect.CheckOptions{Progress: func(done, of int64) {
		p.showIn("checking", "MiB", done>>20, of>>20)
	}, Report: func(f inspect.Finding) error {
		p.clear()
		places++
		if c.JSON {
			return enc.Encode(map[string]any{"finding": f})
		}
		_, err := fmt.Fprintln(env.stdout, f)
		return err
	}})
	p.clear()
	if err != nil {
		return err
	}
	if c.JSON {
		err = enc.Encode(map[string]any{"summary": summary})
	} else {
		if places > 0 {
			fmt.Fprintln(env.stdout)
		}
		_, err = summary.WriteTo(env.stdout)
	}
	if err == nil && summary.Verdict == inspect.Damaged {
		return foundError{fmt.Errorf("data directory %s is damaged", c.Dir)}
	}
	return err
}

type storeDumpCmd struct {
	Dir    directory `arg:"" name:"DIR" help:"Data directory."`
	From   uint64    `default:"0" placeholder:"INDEX" help:"Begin with the log entry of this index; if the log ends before, a line says what it holds."`
	Blocks bool      `help:"Print a line for each version in a checkpoint, and for each block that a transaction wrote, too."`
}

// Help is the second part of the command's help text.
func (*storeDumpCmd) Help() string {
	return offlineHelp + "It prints a line for each header slot, index file, segment, log entry, record and damaged place. Sizes of blocks are without " +
		"the zeros at their ends; checksums are CRC-32C."
}

func (c *storeDumpCmd) Run(env *environment) error {
	// A reader that has seen enough is no failure.
	signal.Ignore(syscall.SIGPIPE)
	err := inspect.Dump(env.ctx, string(c.Dir), env.stdout, inspect.DumpOptions{From: c.From, Blocks: c.Blocks})
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}
