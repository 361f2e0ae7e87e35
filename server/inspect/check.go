package inspect

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/core"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/storedir"
	"github.com/tidemark/tidemark/server/wal"
)

// CheckOptions say whom a check talks to.
type CheckOptions struct {
	// Report is called for every damaged place, in the order of the log. An
	// error of it ends the check.
	Report func(Finding) error
	// Progress, if set, is told how many bytes of the log have been read, and
	// of how many, after every entry.
	Progress func(done, of int64)
}

// Check looks at the store in the directory dir. It returns an error of
// o.Report, or the cause when ctx ends. Errors of its own say that it could not look: they are of package
// storedir (locked, newer, no store) or of the operating system. Damage is no
// error, but a verdict.
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
	visit := c.entry
	if o.Progress != nil {
		visit = progress(c.entry, o.Progress, logBytes(in.LogDir()))
	}
	extent, err := wal.Survey(in.LogDir(), in.Store, wal.Visitor{Entry: until(ctx, visit), Damage: c.damage})
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

// logBytes is how large the files in dir are now. It is only for progress: what
// cannot be read shows later.
func logBytes(dir string) (n int64) {
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			n += info.Size()
		}
	}
	return n
}

// progress tells how far a visit of entries has come.
func progress(visit func(wal.Entry) error, tell func(done, of int64), of int64) func(wal.Entry) error {
	done := int64(0)
	return func(e wal.Entry) error {
		done += e.Bytes
		tell(min(done, of), of)
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
