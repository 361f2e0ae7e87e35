package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/core"
)

const (
	// maxBaseBytes bounds the bases that have been read for commits which the
	// core does not have yet, of all connections, by whole blocks; those of one
	// large commit besides.
	maxBaseBytes = 16 << 20
	// maxBaseReaders is how many goroutines help to read bases, of all
	// connections. Each connection has its own besides.
	maxBaseReaders = 16
)

// baseRoom is the room for bases. Commits with no more of them than are handed
// to the core together share maxBaseBytes: who wants more than is left waits,
// and those who come later wait behind. A larger commit comes alone; all of
// these take turns, so that no others wait for as long as they read.
type baseRoom struct {
	shared  *semaphore.Weighted // of maxBaseBytes
	large   sync.Mutex
	readers *semaphore.Weighted // of maxBaseReaders
}

func newBaseRoom() *baseRoom {
	return &baseRoom{shared: semaphore.NewWeighted(maxBaseBytes), readers: semaphore.NewWeighted(maxBaseReaders)}
}

// hold waits until there is room for so many bytes of bases, and returns how it
// is given back.
func (r *baseRoom) hold(bytes int64) (release func()) {
	if bytes > maxWrite {
		r.large.Lock()
		return r.large.Unlock
	}
	_ = r.shared.Acquire(context.Background(), bytes) // fails only with its context
	return func() { r.shared.Release(bytes) }
}

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
// meanwhile. It returns them in the order of the messages, and how their room
// is given back when the core has them. It is called without the owner's lock.
func (s *Server) readBases(messages []wire.Message) (commits []based, release func()) {
	if s.storage.blocks == nil {
		return nil, func() {}
	}
	bytes := int64(0)
	for i, m := range messages {
		commit, ok := m.(*wire.Commit)
		if !ok || s.core.Oversized(commit).Code != 0 {
			continue // the core refuses it
		}
		if n := ranged(commit); n > 0 {
			commits = append(commits, based{at: i, refs: bases(commit)})
			bytes += int64(n) * int64(s.storage.blockSize)
		}
	}
	if len(commits) == 0 {
		return nil, func() {} // who needs no room does not wait behind those who do
	}
	release = s.bases.hold(bytes)
	for i := range commits {
		commits[i].Bases = s.readEach(commits[i].refs)
	}
	return commits, release
}

// readEach reads versions, or finds one that cannot be read. A version that is
// not there has been superseded, and the commit conflicts; or it was not there
// yet, and nobody can have read it.
func (s *Server) readEach(refs []core.Ref) core.Bases {
	data := make([][]byte, len(refs))
	var cold []int
	for i, r := range refs {
		if r.From == 0 {
			continue
		}
		var inMemory bool
		if data[i], inMemory = s.values.get(r); !inMemory {
			cold = append(cold, i)
		}
	}
	for n, err := range s.readCold(refs, cold, data) {
		switch r := refs[cold[n]]; {
		case err == nil:
		case errors.Is(err, blocks.ErrDropped):
			return core.Bases{Err: fmt.Errorf("block %d of timestamp %d, to change it: %w", r.Block, r.From, err)}
		default:
			return core.Bases{Err: s.unreadable(r, "reading blocks, to change them", err)}
		}
	}
	return core.Bases{Data: data}
}

// readCold reads the versions refs[i] into data[i], for each i of cold, and
// returns the errors of these. Others help with each that is not the last, if
// they are free. After an error it begins no more: all before are begun then, so
// that the first error is always the same.
func (s *Server) readCold(refs []core.Ref, cold []int, data [][]byte) []error {
	errs := make([]error, len(cold))
	var failed atomic.Bool
	var helping sync.WaitGroup
	for n, i := range cold {
		if failed.Load() {
			break
		}
		read := func() {
			if data[i], errs[n] = s.values.read(refs[i]); errs[n] != nil {
				failed.Store(true)
			}
		}
		if n == len(cold)-1 || !s.bases.readers.TryAcquire(1) {
			read()
			continue
		}
		helping.Go(func() {
			defer s.bases.readers.Release(1)
			read()
		})
	}
	helping.Wait()
	return errs
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
