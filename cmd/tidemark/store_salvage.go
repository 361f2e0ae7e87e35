package main

import (
	"encoding/json"
	"fmt"

	"github.com/tidemark/tidemark/server/inspect/salvage"
)

type storeSalvageCmd struct {
	Dir       directory `arg:"" name:"DIR" help:"Data directory of the damaged store."`
	Output    directory `short:"o" required:"" placeholder:"NEWDIR" help:"Data directory to make, which must not exist."`
	Beyond    bool      `help:"Take whole transactions behind lost ones, too, and data that no checkpoint names: each block gets the newest version that is found, and blocks may not fit each other."`
	BlockSize int       `placeholder:"BYTES" help:"Size of a block, if no file of the store is whole that says it."`
	JSON      bool      `help:"Print JSON lines: one with a \"loss\" for each thing that is lost, and at last one with the \"summary\"."`
}

// Help is the second part of the command's help text.
func (*storeSalvageCmd) Help() string {
	return "It reads a data directory that no server uses, and changes nothing there. The new store has the newest checkpoint and the " +
		"transactions behind it up to the first one that is lost; blocks whose data are damaged have an older version, or zeros. " +
		"Without a checkpoint that is whole, every block gets the newest version that is found. Everything that the new " +
		"store does not have is printed. Clients notice that the store is not what it was. The exit code is 0 if something was " +
		"salvaged."
}

func (c *storeSalvageCmd) Run(env *environment) error {
	enc := json.NewEncoder(env.stdout)
	losses := 0
	p := newProgress(env.stderr)
	summary, err := salvage.Run(env.ctx, string(c.Dir), string(c.Output), salvage.Options{
		Beyond: c.Beyond, BlockSize: c.BlockSize,
		Progress: func(what string, done, of int64) { p.showIn(what, "MiB", done>>20, of>>20) },
		Lost: func(l salvage.Loss) error {
			p.clear()
			losses++
			if c.JSON {
				return enc.Encode(map[string]any{"loss": l})
			}
			_, err := fmt.Fprintln(env.stdout, l)
			return err
		},
	})
	p.clear()
	if err != nil {
		return err
	}
	if c.JSON {
		return enc.Encode(map[string]any{"summary": summary})
	}
	if losses > 0 {
		fmt.Fprintln(env.stdout)
	}
	_, err = summary.WriteTo(env.stdout)
	return err
}
