package salvage

import (
	"errors"
	"fmt"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/wal"
)

// plan is what a first look at the log has found.
type plan struct {
	runs  []run // of transactions without a gap, in the order of the log
	epoch uint64
	next  occ.BlockID // above all blocks that were leased or written
	bytes int64       // of whole entries
}

type run struct{ first, last occ.Timestamp }

// first is the timestamp of the first whole transaction, 0 if there is none.
func (p *plan) first() occ.Timestamp {
	if len(p.runs) == 0 {
		return 0
	}
	return p.runs[0].first
}

// add adds a transaction.
func (p *plan) add(at occ.Timestamp) {
	if n := len(p.runs); n > 0 && at <= p.runs[n-1].last+1 {
		p.runs[n-1].last = max(p.runs[n-1].last, at)
		return
	}
	p.runs = append(p.runs, run{at, at})
}

// end is up to where all transactions are known if all up to stable are.
func (p *plan) end(stable occ.Timestamp) occ.Timestamp {
	for _, r := range p.runs {
		if r.first <= stable+1 {
			stable = max(stable, r.last)
		}
	}
	return stable
}

// gap says that some transactions behind stable are missing, and others follow.
func (p *plan) gap(stable occ.Timestamp) bool {
	n := len(p.runs)
	return n > 0 && p.end(stable) < p.runs[n-1].last
}

// uses notes that a block id is in use.
func (p *plan) uses(b occ.BlockID) {
	if b < occ.BlockID(1<<64-1) {
		p.next = max(p.next, b+1)
	}
}

// usable says that a transaction or a version can have this timestamp.
func usable(at occ.Timestamp) bool { return at > 0 && at < occ.Open }

// scanner is the first look at the log.
type scanner struct {
	*salvage
	next    uint64 // the entry that should follow, 0 if any may
	last    uint64 // the last entry
	pending *wal.Damage
	live    map[occ.SessionID]bool
}

// scanLog looks at the whole log for the plan, and reports the entries that
// are lost.
func (s *salvage) scanLog() error {
	sc := &scanner{salvage: s, live: make(map[occ.SessionID]bool)}
	s.plan.next = max(s.base.state.Next, 1)
	switch s.base.kind {
	case fromHeader:
		sc.next = s.base.header.LogIndex + 1
	case "":
		sc.next = 1
	}
	for _, of := range s.base.state.Sessions {
		sc.live[of.ID] = true
	}
	for _, p := range s.base.state.Pins {
		s.snapshots[p.Name] = p.At
	}
	extent, err := wal.Survey(s.in.LogDir(), s.owner.Store, wal.Visitor{Entry: sc.entry, Damage: sc.damage})
	if err == nil {
		err = sc.missing(0)
	}
	if err != nil {
		return err
	}
	s.Sessions = uint64(len(sc.live))
	if s.owner.Store == (occ.StoreID{}) {
		s.owner.Store = extent.Store
	}
	if s.owner.BlockSize == 0 {
		s.owner.BlockSize = s.opts.BlockSize
	}
	if s.owner.Store == (occ.StoreID{}) {
		return fmt.Errorf("%w: not even the store's id is known", ErrNothing)
	}
	if s.owner.BlockSize == 0 {
		return ErrBlockSize
	}
	if s.dir != nil {
		s.dir.Owner = s.owner
	}
	return nil
}

func (s *scanner) damage(d wal.Damage) error {
	if s.pending == nil {
		s.pending = &d
	}
	return nil
}

// missing reports the entries that are missing before entry index, or 0 for
// the end of the log.
func (s *scanner) missing(index uint64) error {
	l := Loss{Kind: Entries, First: s.next}
	if p := s.pending; p != nil {
		l.File, l.Offset, l.Reason = p.Segment, p.Offset, p.Reason
		if s.next == 0 {
			l.First = p.Index
		}
		if p.Torn {
			l.Reason += " (nobody was told of it, if a crash has left it)"
		}
	} else if index == 0 && s.last < s.base.header.LogIndex {
		l.First = s.base.header.LogIndex + 1
		l.File = s.in.LogDir()
		l.Reason = fmt.Sprintf("the log ends with entry %d, before the checkpoint", s.last)
	} else if index == 0 || s.next == 0 {
		return nil
	}
	s.pending = nil
	if index > 0 {
		if l.Last = index - 1; l.Last < l.First {
			return nil // all of them are there, or in the checkpoint
		}
		s.LostEntries += l.Last - l.First + 1
	}
	return s.lose(l)
}

func (s *scanner) entry(e wal.Entry) error {
	if err := s.ended(); err != nil {
		return err
	}
	group, err := record.Decode(e.Payload)
	if errors.Is(err, record.ErrVersion) {
		return fmt.Errorf("%s: %w", e.Place(), err)
	}
	if err != nil {
		return s.damage(wal.Damage{Segment: e.Segment, Offset: e.Offset, Index: e.Index, Reason: err.Error()})
	}
	if err := s.missing(e.Index); err != nil {
		return err
	}
	if s.next > 0 || s.base.kind == fromIndex {
		s.next = max(s.next, e.Index+1)
	}
	s.last = e.Index
	s.plan.bytes += e.Bytes
	s.plan.epoch = max(s.plan.epoch, e.Epoch)
	for _, r := range group.Records {
		s.record(r)
	}
	return nil
}

func (s *scanner) record(r record.Record) {
	switch r := r.(type) {
	case *record.Commit:
		if usable(r.At) {
			s.plan.add(r.At)
		}
		for _, w := range r.Writes {
			s.plan.uses(w.Block)
		}
	case *record.Lease:
		if last := r.First + occ.BlockID(r.Count) - 1; last >= r.First {
			s.plan.uses(last)
		}
	case *record.Session:
		s.live[r.ID] = true
	case *record.SessionEnd:
		delete(s.live, r.ID)
	case *record.Epoch:
		s.plan.epoch = max(s.plan.epoch, r.Epoch)
	case *record.Pin:
		s.snapshots[r.Name] = r.At
	case *record.Unpin:
		delete(s.snapshots, r.Name)
	}
}
