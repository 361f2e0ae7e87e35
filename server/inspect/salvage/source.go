package salvage

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
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

// findBase tries the checkpoints in the order of the package comment.
func (s *salvage) findBase() error {
	named := make(map[uint64]bool)
	headers := slices.Clone(s.dir.Headers)
	slices.SortFunc(headers, func(a, b blockdir.HeaderSlot) int { return cmp.Compare(b.Header.Checkpoint, a.Header.Checkpoint) })
	for _, h := range headers {
		if !h.Whole() {
			continue
		}
		named[h.Header.Checkpoint] = true
		if ok, err := s.try(fromHeader, h.Header); ok || err != nil {
			return err
		}
	}
	if err := s.loseHeader(len(named) > 0); err != nil {
		return err
	}
	for _, n := range s.dir.Indexes {
		if named[n] {
			continue
		}
		h, ok, err := s.dir.Guess(n)
		if ok && err == nil {
			ok, err = s.try(fromIndex, h)
		}
		if ok || err != nil {
			return err
		}
	}
	return nil
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

// try makes a checkpoint the base, if its index file is whole.
func (s *salvage) try(kind string, h layout.Header) (ok bool, err error) {
	var state []byte
	newest := occ.Timestamp(0)
	damage, err := s.dir.ReadIndex(h, layout.Visitor{
		State: func(b []byte) { state = append(state, b...) },
		Version: func(v layout.Version) error {
			newest = max(newest, v.From)
			return s.ended()
		},
	})
	if err != nil {
		return false, err
	}
	decoded := &record.State{}
	if damage == nil && h.Checkpoint > 0 {
		reason := ""
		if decoded, err = record.DecodeState(state); errors.Is(err, record.ErrVersion) {
			return false, fmt.Errorf("%s: %w", s.dir.IndexPath(h.Checkpoint), err)
		} else if err != nil {
			reason = err.Error()
		} else if newest > decoded.Stable || decoded.Stable == occ.Open || kind == fromHeader && decoded.Stable != h.Stable {
			reason = "its state is of another timestamp"
		}
		if reason != "" {
			damage = &blockdir.Damage{File: s.dir.IndexPath(h.Checkpoint), Reason: reason}
		}
	}
	if damage != nil {
		return false, s.lose(Loss{Kind: Checkpoint, File: damage.File, Offset: damage.Offset, Reason: damage.Reason})
	}
	h.Stable = decoded.Stable
	s.base = base{kind: kind, header: h, state: *decoded}
	return true, nil
}
