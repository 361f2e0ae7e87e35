package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/core"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/storedir"
	"github.com/tidemark/tidemark/server/wal"
)

// CheckOptions say whom a check talks to.
type CheckOptions struct {
	// Report is called for every damaged place: those of the store file, of the
	// checkpoint, and of the log in its order. An error of it ends the check.
	Report func(Finding) error
	// Progress, if set, is told how many bytes have been read, and of how
	// many: after every version of the checkpoint and every entry of the log.
	Progress func(done, of int64)
}

// Check looks at the store in the directory dir. It returns an error of
// o.Report, or the cause when ctx ends. Errors of its own say that it could not
// look: they are of package storedir (locked, newer, no store), for what else a
// newer program wrote a *blockdir.VersionError, a *wal.VersionError or
// record.ErrVersion (wrapped), or of the operating system. Damage is no error,
// but a verdict.
func Check(ctx context.Context, dir string, o CheckOptions) (*Summary, error) {
	in, err := storedir.Inspect(dir)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	c := &check{report: o.Report, replaying: true}
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
	c.progress = progress{tell: o.Progress, of: fileBytes(in.LogDir()) + fileBytes(in.BlocksDir())}
	if err := c.checkpoint(ctx, in); err != nil {
		return nil, err
	}
	extent, err := wal.Survey(in.LogDir(), in.Store, wal.Visitor{Entry: until(ctx, c.entry), Damage: c.damage})
	if err == nil {
		err = c.fits(in.LogDir())
	}
	if err != nil {
		return nil, err
	}
	if in.Damage == nil {
		if err := c.epochs(in); err != nil {
			return nil, err
		}
	}
	c.Segments, c.Bytes, c.Leftover = extent.Segments, extent.Bytes, extent.Leftovers
	if store := cmp.Or(in.Store, c.store, extent.Store); store != (occ.StoreID{}) {
		c.Store = store.String()
	}
	if !c.starts() { // nobody removes what may be the last that is whole
		c.BlockLeftover, c.Leftover = nil, nil
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
		if err := ended(ctx); err != nil {
			return err
		}
		return visit(e)
	}
}

// ended returns why ctx has ended, if it has.
func ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}

// epochs compares the epoch of the store file with those that were used.
func (c *check) epochs(in *storedir.Inspection) error {
	used, by := c.LogEpoch, "log"
	if c.Checkpoint != nil && c.Checkpoint.Epoch > used {
		used, by = c.Checkpoint.Epoch, "checkpoint"
	}
	if used <= in.Epoch {
		return nil
	}
	return c.find(Finding{Kind: StoreFile, File: in.StorePath(),
		Reason: fmt.Sprintf("epoch %d is older than the %s, which was written under epoch %d", in.Epoch, by, used)})
}

// check is a check under way.
type check struct {
	Summary
	progress
	report    func(Finding) error
	core      *core.Core
	replaying bool           // every entry so far was applied, or is in the checkpoint
	base      *layout.Header // of the checkpoint, if it is whole
	unusable  bool           // there is a checkpoint, or was one, but it is not whole
	store     occ.StoreID    // whose the block store is
	above     string         // an index file that may be of a newer one
	broken    bool           // the log has shown damage
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
	c.advance(e.Bytes)
	if c.Entries++; c.Entries == 1 {
		c.First = e.Index
	}
	covered := e.Index <= c.covered()
	follows := c.replaying && (covered || e.Index == c.Replayed+1)
	c.Last, c.LogEpoch = e.Index, max(c.LogEpoch, e.Epoch)
	if c.broken {
		if c.Behind++; c.Behind == 1 {
			c.BehindFirst = e.Index
		}
		c.BehindLast = e.Index
	}
	f := Finding{File: e.Segment, Offset: e.Offset, Bytes: e.Bytes, Index: e.Index}
	group, err := record.Decode(e.Payload)
	if errors.Is(err, record.ErrVersion) {
		return fmt.Errorf("%s: %w", e.Place(), err)
	}
	if err != nil {
		c.replaying = false
		f.Kind, f.Reason = Record, err.Error()
		return c.find(f)
	}
	c.count(group.Records)
	if c.replaying = follows; !follows || covered {
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
