package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
)

type snapshotCmd struct {
	Create snapshotCreateCmd `cmd:"" help:"Keep a timestamp readable under a name."`
	List   snapshotListCmd   `cmd:"" help:"Print what is kept."`
	Delete snapshotDeleteCmd `cmd:"" help:"Let go of what is kept under a name."`
}

// Help is the second part of the command's help text.
func (*snapshotCmd) Help() string {
	return "A snapshot is a timestamp that stays readable, however old it becomes, until it is deleted or its lease ends: programs " +
		"read it by client.AtSnapshot or client.At. The server keeps what was overwritten since."
}

// snapshot is one, as the commands print it.
type snapshot struct {
	Name string        `json:"name"`
	At   occ.Timestamp `json:"at"`
	// Lease is what is left of its lease, 0 if it has none.
	Lease float64 `json:"lease_seconds,omitempty"`
}

// shown is a name as it is printed: quoted, if printing it would do more than
// show it, or would not show all of it. A store may hold names that cannot be
// printed, from before servers refused them.
func shown(name string) string {
	if quoted := strconv.Quote(name); quoted[1:len(quoted)-1] != name || strings.Trim(name, " ") != name {
		return quoted
	}
	return name
}

// lease says how long a snapshot is kept.
func lease(left time.Duration) string {
	if left == 0 {
		return "until deleted"
	}
	return left.Round(time.Second).String()
}

type snapshotCreateCmd struct {
	Name  string         `arg:"" name:"NAME" help:"Name of the snapshot."`
	At    *occ.Timestamp `placeholder:"TIMESTAMP" help:"Timestamp to keep, which must be readable now (default: the newest)."`
	Lease time.Duration  `placeholder:"DURATION" help:"Delete it after so long, by the server's clock, which begins anew when the server restarts (default: never)."`
	JSON  bool           `help:"Print a line of JSON, without \"lease_seconds\" if it has no lease."`
	serverFlag
}

// Help is the second part of the command's help text.
func (*snapshotCreateCmd) Help() string {
	return "Creating a snapshot again, with the timestamp that it has, begins its lease anew."
}

func (c *snapshotCreateCmd) Run(env *environment) error {
	o := client.PinOptions{Lease: c.Lease}
	switch {
	case c.Name == "":
		return usage("a snapshot needs a name")
	case c.Lease < 0:
		return usage("--lease must not be negative, but is %v", c.Lease)
	case c.At != nil && *c.At == 0:
		return usage("--at must be positive")
	case c.At != nil:
		o.At = *c.At
	}
	return c.with(env, func(ctx context.Context, db *client.DB) error {
		at, err := db.Pin(ctx, c.Name, o)
		if err != nil {
			return err
		}
		if c.JSON {
			return json.NewEncoder(env.stdout).Encode(snapshot{c.Name, at, c.Lease.Seconds()})
		}
		_, err = fmt.Fprintf(env.stdout, "snapshot %s of timestamp %d, kept %s\n", shown(c.Name), at, kept(c.Lease))
		return err
	})
}

func kept(left time.Duration) string {
	if left == 0 {
		return lease(left)
	}
	return "for " + lease(left)
}

type snapshotListCmd struct {
	JSON bool `help:"Print JSON lines: one with a \"snapshot\" for each, without \"lease_seconds\" if it has no lease, and at last one with the \"oldest\" timestamp from which on everything can be read."`
	serverFlag
}

func (c *snapshotListCmd) Run(env *environment) error {
	return c.with(env, func(ctx context.Context, db *client.DB) error {
		list, err := db.Pins(ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			enc := json.NewEncoder(env.stdout)
			for _, p := range list.Pins {
				if err := enc.Encode(map[string]any{"snapshot": snapshot{p.Name, p.At, p.Left.Seconds()}}); err != nil {
					return err
				}
			}
			return enc.Encode(map[string]any{"oldest": list.Oldest})
		}
		w := tabwriter.NewWriter(env.stdout, 0, 0, 2, ' ', 0)
		for i, p := range list.Pins {
			if i == 0 {
				fmt.Fprint(w, "TIMESTAMP\tLEASE\tNAME\n")
			}
			fmt.Fprintf(w, "%d\t%s\t%s\n", p.At, lease(p.Left), shown(p.Name))
		}
		if err := w.Flush(); err != nil {
			return err
		}
		_, err = fmt.Fprintf(env.stdout, "Besides, every timestamp from %d on can be read now.\n", list.Oldest)
		return err
	})
}

type snapshotDeleteCmd struct {
	Name string `arg:"" name:"NAME" help:"Name of the snapshot."`
	JSON bool   `help:"Print a line of JSON."`
	serverFlag
}

func (c *snapshotDeleteCmd) Run(env *environment) error {
	return c.with(env, func(ctx context.Context, db *client.DB) error {
		if err := db.Unpin(ctx, c.Name); err != nil {
			return err
		}
		if c.JSON {
			return json.NewEncoder(env.stdout).Encode(map[string]any{"deleted": c.Name})
		}
		_, err := fmt.Fprintf(env.stdout, "snapshot %s deleted\n", shown(c.Name))
		return err
	})
}
