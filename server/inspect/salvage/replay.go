package salvage

import (
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/wal"
)

// replay is the second look at the log, which applies it.
type replay struct {
	*salvage
	upTo  occ.Timestamp // of the base
	until occ.Timestamp // the last transaction to take
	last  occ.Timestamp // the transactions up to here were seen, or reported
	left  Loss
	done  int64
}

// takeLog applies the transactions of the log to the base. Of those that the
// base holds it takes data that are lost there.
func (s *salvage) takeLog() error {
	r := &replay{salvage: s, upTo: s.base.state.Stable, left: Loss{Kind: Left}}
	r.last = max(r.upTo, s.since)
	r.until = s.plan.end(r.upTo)
	if s.pieces {
		r.until = occ.Open - 1
	}
	_, err := wal.Survey(s.in.LogDir(), s.owner.Store, wal.Visitor{Entry: r.entry})
	if err == nil && r.left.Count > 0 {
		s.LeftOut = r.left.Count
		err = s.lose(r.left)
	}
	return err
}

func (r *replay) entry(e wal.Entry) error {
	r.done += e.Bytes
	r.progress("applying the log", r.done, r.plan.bytes)
	if err := r.ended(); err != nil {
		return err
	}
	group, err := record.Decode(e.Payload)
	if err != nil {
		return nil // reported before
	}
	for _, one := range group.Records {
		if c, ok := one.(*record.Commit); ok && usable(c.At) {
			if err := r.commit(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *replay) commit(c *record.Commit) error {
	if c.At > r.last+1 {
		r.LostTransactions += uint64(c.At - r.last - 1)
		if err := r.lose(Loss{Kind: Transactions, First: uint64(r.last + 1), Last: uint64(c.At - 1)}); err != nil {
			return err
		}
		r.since = c.At - 1
	}
	r.last = max(r.last, c.At)
	if c.At > r.until {
		if r.left.Count++; r.left.Count == 1 {
			r.left.First = uint64(c.At)
		}
		r.left.Last = uint64(c.At)
		return nil
	}
	if c.At > r.upTo {
		r.salvage.Transactions++
		r.Stable = max(r.Stable, c.At)
	}
	for _, w := range c.Writes {
		if err := r.write(w, c.At); err != nil {
			return err
		}
	}
	return nil
}

// write applies a write, if the block does not have a newer version. One that
// the base holds is applied only if it is lost there.
func (r *replay) write(w occ.Write, at occ.Timestamp) error {
	current := r.held.Current(w.Block)
	version, lost := r.lost[w.Block]
	mend := at <= r.upTo
	if at <= current || mend && (!lost || at > version || w.Ranges != nil) {
		return nil
	}
	data := w.Data
	switch {
	case tooLong(w, r.owner.BlockSize), w.Ranges != nil && (lost || current < r.since):
		r.lost[w.Block] = max(version, at)
		return nil
	case w.Ranges != nil:
		old, err := r.out.Read(w.Block, current)
		if err != nil {
			return err
		}
		data = occ.Patch(old, w.Ranges)
	}
	if err := r.put(w.Block, at, data); err != nil {
		return err
	}
	if at >= version {
		delete(r.lost, w.Block)
	}
	return nil
}

// tooLong says that a write is none of blocks of this size.
func tooLong(w occ.Write, size int) bool {
	if n := len(w.Ranges); n > 0 {
		return w.Ranges[n-1].End() > size
	}
	return len(w.Data) > size
}
