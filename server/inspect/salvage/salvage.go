package salvage

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/inspect/blockdir"
	"github.com/tidemark/tidemark/server/storedir"
)

// Options of Run.
type Options struct {
	// Beyond takes whole transactions behind missing ones, too, and slots that
	// the base does not name.
	Beyond bool
	// BlockSize is that of a store none of whose files says it; 0 if it need
	// not be told.
	BlockSize int
	// Lost is called for every loss. An error of it ends the work.
	Lost func(Loss) error
	// Progress, if set, is told now and then what is read, how many bytes of it
	// so far, and of how many.
	Progress func(what string, done, of int64)
}

var (
	// ErrNothing: there is nothing whole that could be salvaged.
	ErrNothing = errors.New("nothing could be salvaged")
	// ErrEpoch: there is no later epoch, under which a new store could begin.
	ErrEpoch = errors.New("the epochs of the store are used up")
	// ErrBlockSize: no file of the store says how large its blocks are.
	ErrBlockSize = errors.New("no whole file says what the block size is: it must be given")
)

// TargetError says why the new store cannot be made in a directory.
type TargetError struct{ Dir, Reason string }

// Error returns one line.
func (e *TargetError) Error() string { return fmt.Sprintf("new data directory %s %s", e.Dir, e.Reason) }

// Run makes the directory to, which must not exist nor lie in dir, a new store
// with what is whole in the directory dir. After an error to does not exist.
//
// Errors: *TargetError, ErrNothing, ErrBlockSize, ErrEpoch,
// *storedir.BlockSizeError, those of storedir.Inspect for dir (locked, newer, no
// store), for what else a newer program wrote a *blockdir.VersionError, a
// *wal.VersionError or record.ErrVersion (wrapped), of o.Lost, the cause when ctx ends, and of the operating
// system.
func Run(ctx context.Context, dir, to string, o Options) (*Summary, error) {
	return stepwise(ctx, dir, to, o, osSteps())
}

func stepwise(ctx context.Context, dir, to string, o Options, do steps) (*Summary, error) {
	if o.BlockSize < 0 || o.BlockSize > storedir.MaxBlockSize {
		return nil, &storedir.BlockSizeError{Want: o.BlockSize}
	}
	if err := checkTarget(dir, to); err != nil {
		return nil, err
	}
	in, err := storedir.Inspect(dir)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	s := &salvage{ctx: ctx, opts: o, do: do, in: in, lost: make(map[occ.BlockID]occ.Timestamp), snapshots: make(map[string]occ.Timestamp)}
	if err := s.open(); err != nil {
		return nil, err
	}
	defer s.close()
	if err := s.scanLog(); err != nil {
		return nil, err
	}
	if err := os.Mkdir(to, dirPerm); err != nil {
		return nil, err
	}
	if err := s.run(to); err != nil {
		return nil, errors.Join(err, os.RemoveAll(to))
	}
	return &s.Summary, nil
}

// salvage is one under way.
type salvage struct {
	Summary
	ctx   context.Context
	opts  Options
	do    steps
	in    *storedir.Inspection
	owner layout.Owner
	dir   *blockdir.Dir // nil if there is none
	base  base
	plan  plan

	out  *blocks.Store
	held *occ.Versions // the version of each block that the new store has
	// lost are the newest versions known of blocks that have an older one.
	lost map[occ.BlockID]occ.Timestamp
	// since is the timestamp behind which every transaction so far is known, if
	// what the base says is known: a version from there on is that which the
	// next transaction met.
	since occ.Timestamp
	// pieces: blocks get what is newest, whatever is missing.
	pieces    bool
	snapshots map[string]occ.Timestamp
}

func (s *salvage) close() {
	if s.dir != nil {
		s.dir.Close()
	}
}

func (s *salvage) run(to string) error {
	s.decide()
	was := max(s.in.Epoch, s.base.state.Epoch, s.plan.epoch)
	var chance [2]byte
	rand.Read(chance[:]) // never fails
	s.WasEpoch = was
	ok := false
	if s.Epoch, ok = occ.NextGeneration(was, binary.LittleEndian.Uint16(chance[:])); !ok {
		return fmt.Errorf("%w: epoch %d was the last", ErrEpoch, was)
	}
	if err := s.create(to); err != nil {
		return err
	}
	for _, step := range []func() error{s.takeBase, s.takeSlots, s.takeLog, s.report} {
		if err := step(); err != nil {
			return errors.Join(err, s.out.Close())
		}
	}
	return s.finish(to)
}

// decide says what the result can be, from what was found.
func (s *salvage) decide() {
	s.Store, s.BlockSize = s.owner.Store.String(), s.owner.BlockSize
	s.Base, s.Checkpoint, s.Stable = s.base.kind, s.base.header.Checkpoint, s.base.state.Stable
	s.pieces = s.opts.Beyond
	gap := s.plan.gap(s.Stable)
	if s.Base == "" {
		none := s.dir == nil || s.dir.Empty()
		anew := occ.Generation(max(s.in.Epoch, s.plan.epoch)) > 0 // with what was never in the log
		lost := s.in.Epoch > 0 && s.plan.bytes == 0               // not even the entry with the epoch is there
		switch first := s.plan.first(); {
		case first == 1 && (none || !gap), first == 0 && none && !anew && !lost:
			s.Base = fromLog
		default:
			s.Base, s.pieces = fromPieces, true
			s.since = max(first, 1) - 1
		}
	}
	s.Consistent = s.Base != fromPieces && !(s.pieces && gap)
}

func (s *salvage) lose(l Loss) error {
	if s.opts.Lost == nil {
		return nil
	}
	return s.opts.Lost(l)
}

func (s *salvage) ended() error {
	if s.ctx.Err() == nil {
		return nil
	}
	return context.Cause(s.ctx)
}

func (s *salvage) progress(what string, done, of int64) {
	if s.opts.Progress != nil {
		s.opts.Progress(what, min(done, of), of)
	}
}
