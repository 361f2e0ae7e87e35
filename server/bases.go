package server

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/semaphore"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/core"
)

// maxBaseBytes bounds the bases that have been read for commits which the core
// does not have yet, of all connections, by whole blocks. Who wants more than is
// left waits, and those who come later wait behind. A commit with more of them
// than that waits until there are no others.
const maxBaseBytes = 16 << 20

// based is a commit that writes ranges, by its place among the messages that
// came together.
type based struct {
	at   int
	refs []core.Ref
	core.Bases
}

// readBases reads the versions of which commits write ranges, before the core
// sees these commits: the core keeps them until the commits are applied, so
// that the owner need not wait for the disk then, whatever leaves the cache
// meanwhile. It returns them in the order of the messages, and what is to be
// given back to s.bases when the core has them. It is called without the
// owner's lock.
func (s *Server) readBases(messages []wire.Message) (commits []based, held int64) {
	if s.storage.blocks == nil {
		return nil, 0
	}
	for i, m := range messages {
		commit, ok := m.(*wire.Commit)
		if !ok || s.core.Oversized(commit).Code != 0 {
			continue // the core refuses it
		}
		if n := ranged(commit); n > 0 {
			commits = append(commits, based{at: i, refs: bases(commit)})
			held += int64(n) * int64(s.storage.blockSize)
		}
	}
	held = holdBases(s.bases, held)
	for i := range commits {
		commits[i].Bases = s.readEach(commits[i].refs)
	}
	return commits, held
}

// holdBases takes so many bytes of room, or all of it for more, waits until it
// has them, and returns what it took.
func holdBases(room *semaphore.Weighted, bytes int64) (held int64) {
	held = min(bytes, maxBaseBytes)
	_ = room.Acquire(context.Background(), held) // fails only with its context
	return held
}

// readEach reads versions one after another, up to one that cannot be read. A
// version that is not there has been superseded, and the commit conflicts; or
// it was not there yet, and nobody can have read it.
func (s *Server) readEach(refs []core.Ref) core.Bases {
	found := core.Bases{Data: make([][]byte, len(refs))}
	for i, r := range refs {
		data, err := s.values.read(r)
		if err != nil {
			if !errors.Is(err, blocks.ErrDropped) {
				return core.Bases{Err: s.unreadable(r, "reading blocks, to change them", err)}
			}
			return core.Bases{Err: fmt.Errorf("block %d of timestamp %d, to change it: %w", r.Block, r.From, err)}
		}
		found.Data[i] = data
	}
	return found
}

// ranged is of how many blocks a commit writes ranges.
func ranged(commit *wire.Commit) (n int) {
	for i := range commit.Writes {
		if commit.Writes[i].Ranges != nil {
			n++
		}
	}
	return n
}

// bases are the versions of which a commit writes ranges, one for each of its
// writes: one of timestamp 0, which has no data, for a write of a whole block.
func bases(commit *wire.Commit) []core.Ref {
	read := make(map[occ.BlockID]occ.Timestamp, len(commit.Reads))
	for _, r := range commit.Reads {
		read[r.Block] = r.From
	}
	refs := make([]core.Ref, len(commit.Writes))
	for i, w := range commit.Writes {
		if w.Ranges != nil {
			refs[i] = core.Ref{Block: w.Block, From: read[w.Block]}
		}
	}
	return refs
}
