package inspect

import (
	"cmp"
	"context"
	"fmt"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/core"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/storedir"
	"github.com/tidemark/tidemark/server/wal"
)

// Check looks at the store in the directory dir and calls report for every
// damaged place, in the order of the log; an error of report ends it and is
// returned, as is the cause when ctx ends. Errors of its own say that it could not look: they are of package
// storedir (locked, newer, no store) or of the operating system. Damage is no
// error, but a verdict.
func Check(ctx context.Context, dir string, report func(Finding) error) (*Summary, error) {
	in, err := storedir.Inspect(dir)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	c := &check{report: report, replaying: true}
	c.BlockSize, c.Epoch = in.BlockSize, in.Epoch
	if in.Damage != nil {
		if err := c.find(Finding{Kind: StoreFile, File: in.StorePath(), Reason: in.Damage.Error()}); err != nil {
			return nil, err
		}
	}
	c.core = core.New(core.Config{
		Store: in.Store, Epoch: in.Epoch,
		BlockSize:  uint64(cmp.Or(in.BlockSize, storedir.MaxBlockSize)),
		NewSession: func() occ.SessionID { return occ.SessionID{} }, // nobody connects
	})
	extent, err := wal.Survey(in.LogDir(), in.Store, wal.Visitor{Entry: until(ctx, c.entry), Damage: c.damage})
	if err != nil {
		return nil, err
	}
	if in.Damage == nil && c.LogEpoch > in.Epoch {
		err := c.find(Finding{Kind: StoreFile, File: in.StorePath(),
			Reason: fmt.Sprintf("epoch %d is older than the log, which was written under epoch %d", in.Epoch, c.LogEpoch)})
		if err != nil {
			return nil, err
		}
	}
	c.Store, c.Segments, c.Bytes, c.Leftover = extent.Store.String(), extent.Segments, extent.Bytes, extent.Leftovers
	if in.Damage == nil {
		c.Store = in.Store.String()
	}
	switch {
	case c.Places > 0:
		c.Verdict = Damaged
	case c.TornBytes > 0:
		c.Verdict = Torn
	default:
		c.Verdict = Clean
	}
	return &c.Summary, nil
}

// until makes a visit of entries end with ctx.
func until(ctx context.Context, visit func(wal.Entry) error) func(wal.Entry) error {
	return func(e wal.Entry) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return visit(e)
	}
}

// check is a check under way.
type check struct {
	Summary
	report    func(Finding) error
	core      *core.Core
	replaying bool // every entry so far was applied
	broken    bool // the log has shown damage
}

func (c *check) find(f Finding) error {
	if f.Torn {
		c.TornBytes = f.Bytes
	} else {
		c.Places++
	}
	return c.report(f)
}

func (c *check) damage(d wal.Damage) error {
	c.broken = c.broken || !d.Torn
	return c.find(Finding{
		Kind: Log, Torn: d.Torn, File: d.Segment, Offset: d.Offset, Bytes: d.Bytes,
		Index: d.Index, Lost: d.Lost, Reason: d.Reason,
	})
}

// entry decodes an entry and applies it, if all before it were applied.
func (c *check) entry(e wal.Entry) error {
	if c.Entries++; c.Entries == 1 {
		c.First = e.Index
	}
	follows := c.replaying && (e.Index == c.Replayed+1 || c.Entries == 1 && !c.broken)
	c.Last, c.LogEpoch = e.Index, max(c.LogEpoch, e.Epoch)
	if c.broken {
		if c.Behind++; c.Behind == 1 {
			c.BehindFirst = e.Index
		}
		c.BehindLast = e.Index
	}
	f := Finding{File: e.Segment, Offset: e.Offset, Bytes: e.Bytes, Index: e.Index}
	group, err := record.Decode(e.Payload)
	if err != nil {
		c.replaying = false
		f.Kind, f.Reason = Record, err.Error()
		return c.find(f)
	}
	c.count(group.Records)
	if c.replaying = follows; !follows {
		return nil
	}
	err = c.core.Recover(group.Records)
	c.core.Take() // what it would have others keep
	if err != nil {
		c.replaying = false
		f.Kind, f.Reason = Replay, err.Error()
		return c.find(f)
	}
	c.Replayed = e.Index
	return nil
}
