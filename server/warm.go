package server

import (
	"errors"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/core"
)

// warm brings the blocks of which commits write ranges into memory, before the
// core sees these commits: when they are applied, their bases are at hand, as
// far as the cache has room for them. For a commit of which a base cannot be
// read it returns why, by its place among the messages. It is called without
// the owner's lock.
func (s *Server) warm(messages []wire.Message) (unreadable map[int]error) {
	if s.storage.blocks == nil {
		return nil
	}
	for i, m := range messages {
		commit, ok := m.(*wire.Commit)
		if !ok || s.core.Oversized(commit).Code != 0 {
			continue // the core refuses it
		}
		if err := s.readable(bases(commit)); err != nil {
			s.opts.Logger.Error("reading blocks, to change them", "error", err)
			if unreadable == nil {
				unreadable = make(map[int]error)
			}
			unreadable[i] = err
		}
	}
	return unreadable
}

// readable reads versions one after another and keeps only why one of them
// cannot be read.
func (s *Server) readable(refs []core.Ref) error {
	for _, r := range refs {
		if _, err := s.values.read(r); err != nil && !errors.Is(err, blocks.ErrDropped) {
			return err
		}
	}
	return nil
}

// bases are the versions of which a commit writes ranges.
func bases(commit *wire.Commit) (refs []core.Ref) {
	ranged := make(map[occ.BlockID]struct{})
	for _, w := range commit.Writes {
		if w.Ranges != nil {
			ranged[w.Block] = struct{}{}
		}
	}
	if len(ranged) == 0 {
		return nil
	}
	for _, r := range commit.Reads {
		if _, ok := ranged[r.Block]; ok {
			refs = append(refs, core.Ref{Block: r.Block, From: r.From})
		}
	}
	return refs
}
