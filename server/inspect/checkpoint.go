package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/inspect/blockdir"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/storedir"
)

// covered is the log index up to which the checkpoint holds the log.
func (c *check) covered() uint64 {
	if c.base == nil {
		return 0
	}
	return c.base.LogIndex
}

// checkpoint reads the newest checkpoint as a server does when it starts, and
// besides all data that it names. If there is one that cannot be used, the log
// has nothing to follow.
func (c *check) checkpoint(ctx context.Context, in *storedir.Inspection) error {
	d, err := blockdir.Open(in.BlocksDir(), layout.Owner{Store: in.Store, BlockSize: in.BlockSize})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	c.store = d.Owner.Store
	if !d.Empty() {
		if err := c.header(d); err != nil {
			return err
		}
		if c.base != nil {
			if err := c.index(ctx, d); err != nil {
				return err
			}
		}
		c.unusable = c.base == nil
		c.replaying = !c.unusable
	}
	c.leftover(d)
	c.Replayed = c.covered()
	c.reach(fileBytes(in.BlocksDir()))
	return nil
}

// header finds the newest header. One damaged slot beside a whole one is what
// a crash leaves of a checkpoint that nobody was told of; that it was a newer
// one shows in the index file, which is gone then.
func (c *check) header(d *blockdir.Dir) error {
	newest := d.Newest()
	if d.Headers == nil {
		return c.find(Finding{Kind: Header, File: d.HeaderPath(), Reason: "the file is missing, but there are blocks"})
	}
	for _, h := range d.Headers {
		if h.Damage != nil && (newest == nil || h.Foreign) {
			if err := c.find(located(Header, h.Damage)); err != nil {
				return err
			}
		}
	}
	if newest == nil {
		if d.Headers[0].Empty && d.Headers[1].Empty {
			return c.find(Finding{Kind: Header, File: d.HeaderPath(), Reason: "no header was ever written"})
		}
		return nil
	}
	c.base = &newest.Header
	if len(d.Indexes) > 0 && d.Indexes[0] > newest.Header.Checkpoint {
		c.above = fmt.Sprintf("; no header names %s, which may be of a newer one", d.IndexPath(d.Indexes[0]))
	}
	return nil
}

func located(k Kind, d *blockdir.Damage) Finding {
	return Finding{Kind: k, File: d.File, Offset: d.Offset, Block: d.Block, From: d.From, Reason: d.Reason}
}

// index reads the index file twice: first to see that it is whole, and for the
// state, then to restore what a server restores, and to read all data.
func (c *check) index(ctx context.Context, d *blockdir.Dir) error {
	h := *c.base
	c.base = nil
	if fault := cmp.Or(d.BlocksPage, d.Short(h)); fault != nil {
		if err := c.find(located(BlockFile, fault)); err != nil {
			return err
		}
	}
	var state []byte
	damage, err := d.ReadIndex(h, layout.Visitor{
		State:   func(b []byte) { state = append(state, b...) },
		Version: func(layout.Version) error { return ended(ctx) },
	})
	if err != nil {
		return err
	}
	if damage != nil {
		for _, other := range d.Headers {
			if other.Damage != nil && !other.Foreign {
				damage.Reason += fmt.Sprintf("; perhaps there was a newer checkpoint (%v)", other.Damage)
			}
		}
		damage.Reason += c.above
		return c.find(located(Index, damage))
	}
	c.advance(int64(h.IndexBytes))
	return c.restore(ctx, d, h, state)
}

// restore restores the checkpoint and reads all data that it names.
func (c *check) restore(ctx context.Context, d *blockdir.Dir, h layout.Header, state []byte) error {
	sum := &Checkpoint{
		Number: h.Checkpoint, LogIndex: h.LogIndex, Stable: h.Stable, Versions: h.Versions,
		Slots: d.Slots(), BlockBytes: d.BlocksBytes, IndexBytes: h.IndexBytes,
	}
	versions := func(yield func(occ.BlockID, occ.Timestamp, int) error) error {
		_, err := d.ReadIndex(h, layout.Visitor{State: func([]byte) {}, Version: func(v layout.Version) error {
			sum.Bytes += uint64(v.Size)
			if err := cmp.Or(ended(ctx), c.data(d, v, sum)); err != nil {
				return &stop{err}
			}
			return yield(v.Block, v.From, int(v.Size))
		}})
		return err
	}
	var err error
	if h.Checkpoint == 0 { // that of a new store, without a state
		err = versions(func(occ.BlockID, occ.Timestamp, int) error { return nil })
	} else {
		err = c.restoreState(h, state, sum, versions)
	}
	var stopped *stop
	if errors.As(err, &stopped) {
		return stopped.cause
	}
	if errors.Is(err, record.ErrVersion) {
		return fmt.Errorf("%s: %w", d.IndexPath(h.Checkpoint), err)
	}
	if err != nil {
		return c.find(Finding{Kind: Index, File: d.IndexPath(h.Checkpoint), Reason: err.Error()})
	}
	c.core.Take() // what it would have others drop
	c.base, c.Checkpoint = &h, sum
	return nil
}

// stop carries an error of this package through the core.
type stop struct{ cause error }

func (e *stop) Error() string { return e.cause.Error() }

func (c *check) restoreState(h layout.Header, state []byte, sum *Checkpoint, versions func(func(occ.BlockID, occ.Timestamp, int) error) error) error {
	s, err := record.DecodeState(state)
	if err != nil {
		return err
	}
	sum.Horizon, sum.Epoch, sum.Sessions, sum.Pins = s.Horizon, s.Epoch, len(s.Sessions), len(s.Pins)
	if s.Stable != h.Stable {
		return fmt.Errorf("its state is of timestamp %d, its header of %d", s.Stable, h.Stable)
	}
	return c.core.Restore(state, versions)
}

// data reads the data of a version.
func (c *check) data(d *blockdir.Dir, v layout.Version, sum *Checkpoint) error {
	if v.Size == 0 {
		return nil
	}
	c.advance(int64(d.Owner.SlotSize()))
	_, damage, err := d.Read(v)
	if damage == nil || err != nil {
		return err
	}
	sum.Damaged++
	return c.find(located(Slot, damage))
}

// leftover lists what the next start removes, if there is one.
func (c *check) leftover(d *blockdir.Dir) {
	if d.Unfinished {
		c.BlockLeftover = append(c.BlockLeftover, d.HeaderPath()+".new")
	}
	newest := d.Newest()
	for _, n := range d.Indexes {
		if newest != nil && n != newest.Header.Checkpoint {
			c.BlockLeftover = append(c.BlockLeftover, d.IndexPath(n))
		}
	}
}

// fits compares where the log begins and ends with the checkpoint. Damage of
// the log or the checkpoint itself says enough.
func (c *check) fits(log string) error {
	f := Finding{Kind: Fit, File: filepath.Clean(log)}
	covered := c.covered()
	switch {
	case c.broken || c.unusable: // no checkpoint that can be compared
		return nil
	case (c.base == nil || c.base.Checkpoint == 0) && occ.Generation(max(c.Epoch, c.LogEpoch)) > 0:
		f.Reason = "the store was restored or salvaged, and no checkpoint holds what it began with"
	case c.base == nil && c.Entries == 0 && c.Epoch > 0:
		f.Reason = fmt.Sprintf("the log has no entry, there are no blocks, and both were there in epoch %d", c.Epoch)
	case c.Entries > 0 && c.First > covered+1:
		f.Index, f.Lost = covered+1, c.First-covered-1
		f.Reason = fmt.Sprintf("the log begins with entry %d, and no checkpoint holds those before it", c.First)
		if c.base != nil {
			f.Reason = fmt.Sprintf("the log begins with entry %d, but the checkpoint ends with entry %d%s", c.First, covered, c.above)
		}
	case c.Last < covered:
		f.Index, f.Lost = c.Last+1, covered-c.Last
		f.Reason = fmt.Sprintf("the log ends with entry %d, but the checkpoint with entry %d", c.Last, covered)
	default:
		return nil
	}
	return c.find(f)
}
