package salvage

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/inspect/blockdir"
	"github.com/tidemark/tidemark/server/record"
)

// base is the checkpoint from which the new state begins, if kind is not
// empty.
type base struct {
	kind   string
	header layout.Header
	state  record.State
}

// open finds out whose the store is, and its base. It reads the index files.
func (s *salvage) open() error {
	s.owner = layout.Owner{Store: s.in.Store, BlockSize: s.in.BlockSize}
	if d := s.in.Damage; d != nil {
		if err := s.lose(Loss{Kind: StoreFile, File: s.in.StorePath(), Reason: d.Error()}); err != nil {
			return err
		}
	}
	dir, err := blockdir.Open(s.in.BlocksDir(), s.owner)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	s.dir, s.owner = dir, dir.Owner
	if dir.Empty() {
		return nil
	}
	if err := s.findBase(); err != nil {
		dir.Close()
		return err
	}
	return nil
}

// findBase takes the newest checkpoint whose index file is whole, whether a
// header names it or not. One that none names, and that is not whole, is what a
// crash leaves: it is lost only if there is no other that a header names.
func (s *salvage) findBase() error {
	named := make(map[uint64]layout.Header)
	for _, h := range s.dir.Headers {
		if h.Whole() {
			named[h.Header.Checkpoint] = h.Header
		}
	}
	numbers := slices.Sorted(maps.Keys(named))
	numbers = append(numbers, s.dir.Indexes...)
	slices.Sort(numbers)
	var lost, unnamed []Loss
	for _, n := range slices.Backward(slices.Compact(numbers)) {
		h, ok := named[n]
		kind, all := fromHeader, &lost
		if !ok {
			kind, all = fromIndex, &unnamed
			var err error
			if h, ok, err = s.dir.Guess(n); err != nil {
				return err
			}
			h.LogIndex = s.atLeast(n).LogIndex
		}
		if !ok {
			continue
		}
		damage, err := s.try(kind, h)
		if err != nil {
			return err
		}
		if damage == nil {
			break
		}
		*all = append(*all, Loss{Kind: Checkpoint, File: damage.File, Offset: damage.Offset, Reason: damage.Reason})
	}
	if s.base.kind != fromHeader {
		// If what the other header names is still there, a crash has left this one.
		before := slices.ContainsFunc(s.dir.Indexes, func(n uint64) bool { _, ok := named[n]; return ok })
		if !before {
			if err := s.loseHeader(len(named) > 0); err != nil {
				return err
			}
		}
		lost = append(lost, unnamed...)
	}
	for _, l := range lost {
		if err := s.lose(l); err != nil {
			return err
		}
	}
	return nil
}

// atLeast is the newest header of a checkpoint before number n, the zero Header
// if there is none: checkpoint n is of no earlier moment.
func (s *salvage) atLeast(n uint64) (newest layout.Header) {
	for _, h := range s.dir.Headers {
		if h.Whole() && h.Header.Checkpoint < n && h.Header.Checkpoint >= newest.Checkpoint {
			newest = h.Header
		}
	}
	return newest
}

// loseHeader says what is wrong with the header file, if something is. That a
// slot is empty is no damage beside a whole one.
func (s *salvage) loseHeader(whole bool) error {
	l := Loss{Kind: Header, File: s.dir.HeaderPath()}
	switch {
	case s.dir.Headers == nil:
		l.Reason = "the file is missing"
	case !whole:
		l.Reason = "no header was ever written"
	}
	for _, h := range s.dir.Headers {
		if h.Damage != nil {
			l.Offset, l.Reason = h.Damage.Offset, h.Damage.Reason
		}
	}
	if l.Reason == "" {
		return nil
	}
	return s.lose(l)
}

// try makes a checkpoint the base, if its index file is whole, and says why not
// if it is not.
func (s *salvage) try(kind string, h layout.Header) (damage *blockdir.Damage, err error) {
	var state []byte
	newest := occ.Timestamp(0)
	damage, err = s.dir.ReadIndex(h, layout.Visitor{
		State: func(b []byte) { state = append(state, b...) },
		Version: func(v layout.Version) error {
			newest = max(newest, v.From)
			return s.ended()
		},
	})
	if damage != nil || err != nil {
		return damage, err
	}
	decoded := &record.State{}
	if h.Checkpoint > 0 {
		path, reason := s.dir.IndexPath(h.Checkpoint), ""
		if decoded, err = record.DecodeState(state); errors.Is(err, record.ErrVersion) {
			return nil, fmt.Errorf("%s: %w", path, err)
		} else if err != nil {
			reason = err.Error()
		} else if newest > decoded.Stable || decoded.Stable == occ.Open || kind == fromHeader && decoded.Stable != h.Stable {
			reason = "its state is of another timestamp"
		} else if before := s.atLeast(h.Checkpoint); decoded.Stable < before.Stable {
			reason = fmt.Sprintf("its state is of timestamp %d, that of checkpoint %d before it of %d", decoded.Stable, before.Checkpoint, before.Stable)
		}
		if reason != "" {
			return &blockdir.Damage{File: path, Reason: reason}, nil
		}
	}
	h.Stable = decoded.Stable
	s.base = base{kind: kind, header: h, state: *decoded}
	return nil, nil
}
