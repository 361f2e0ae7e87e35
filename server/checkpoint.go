package server

import (
	"context"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/server/blocks"
)

// checkpoints is what decides when the next checkpoint is due. The owner's
// alone.
type checkpoints struct {
	applied uint64 // log index of the last group that was applied
	logged  int64  // bytes of the log since the last checkpoint was begun
	slots   [3]int // of the block file when the last one was begun
	due     chan struct{}
	room    chan struct{} // told when something was written back
}

// grew notes that the log grew by a group that was applied.
func (s *Server) grew(index uint64, bytes int) {
	c := &s.checkpoints
	c.applied, c.logged = index, c.logged+int64(bytes)
	if s.storage.blocks == nil {
		return
	}
	if st := s.storage.blocks.Stats(); s.checkpointDue(st) || st.DirtyBytes > s.opts.dirtyBytes() {
		s.wakeKeeper()
	}
}

// checkpointDue reports whether the log has grown enough for the next
// checkpoint. The caller is the owner.
func (s *Server) checkpointDue(st blocks.Stats) bool {
	return s.checkpoints.logged >= checkpointInterval(s.opts.CheckpointBytes, st.IndexBytes)
}

func (s *Server) wakeKeeper() {
	select {
	case s.checkpoints.due <- struct{}{}:
	default:
	}
}

// slots is what the block file holds.
func slots(st blocks.Stats) [3]int { return [3]int{st.Slots, st.LiveSlots, st.FreeSlots} }

// wasteful reports whether the block file is so large, or so much of it waits
// for a checkpoint to be free, that one is worth making. If the last checkpoint
// changed nothing, another one would not either. The caller is the owner.
func (s *Server) wasteful(st blocks.Stats) bool {
	const slack = 64 // slots, which are not worth a checkpoint
	waiting := st.Slots - st.FreeSlots - st.LiveSlots
	return (waiting > st.LiveSlots/2+slack || st.Slots > 2*st.LiveSlots+slack) && slots(st) != s.checkpoints.slots
}

// keepBlocks writes what was put to disk, and makes checkpoints, until the
// server ends. Each step is short and holds no lock that a commit waits for.
func (s *Server) keepBlocks() {
	for {
		select {
		case <-s.checkpoints.due:
		case <-s.done:
			return
		}
		if err := s.keep(); err != nil {
			s.fail(err)
			return
		}
	}
}

// keep does what is due.
func (s *Server) keep() error {
	if err := s.writeBack(s.done); err != nil {
		return err
	}
	if !s.enter() {
		return nil
	}
	if st := s.storage.blocks.Stats(); !s.checkpointDue(st) && !s.wasteful(st) {
		s.leave(nil)
		return nil
	}
	err := s.beginCheckpoint()
	s.leave(nil)
	if err != nil {
		return err
	}
	return s.finishCheckpoint(s.done)
}

// beginCheckpoint begins a checkpoint of this moment. The caller is the owner.
func (s *Server) beginCheckpoint() error {
	c := &s.checkpoints
	c.logged, c.slots = 0, slots(s.storage.blocks.Stats())
	if err := s.storage.blocks.Begin(blocks.Moment{LogIndex: c.applied, Stable: s.core.Stable()}, &stateReader{server: s}); err != nil {
		return blocksFailed(err)
	}
	s.core.BeginState()
	return nil
}

// finishCheckpoint takes the steps of the checkpoint that was begun, if one was,
// and then lets go of the log before it. If until is closed meanwhile, the
// checkpoint is left as it is: the one before counts.
func (s *Server) finishCheckpoint(until <-chan struct{}) error {
	st, begun := s.storage.blocks, time.Now()
	before := st.Durable().Checkpoint
	for done := false; !done && !closed(until); {
		var err error
		if done, err = st.Step(); err != nil {
			return blocksFailed(err)
		}
		if err := s.writeBack(until); err != nil { // commits go on meanwhile
			return err
		}
	}
	d := st.Durable()
	if d.Checkpoint == before {
		return nil
	}
	s.opts.Logger.Info("checkpoint", "number", d.Checkpoint, "stable", d.Stable, "log_index", d.LogIndex, "took", time.Since(begun))
	if err := s.storage.log.Trim(d.LogIndex); err != nil {
		return fmt.Errorf("the commit log failed: %w", err)
	}
	return nil
}

// firstCheckpoint makes the checkpoint of a store that has none yet, before
// anybody is served: of what the log holds, with the entry that the epoch
// begins with. So a checkpoint tells of the log before anything is
// acknowledged, and a log that is lost is missed.
func (s *Server) firstCheckpoint() error {
	if st := s.storage.blocks; st == nil || st.Durable().Checkpoint > 0 {
		return nil
	}
	select {
	case records, ok := <-s.appends:
		if ok {
			s.writeGroup(nil, records)
		}
	default: // the log has the epoch already
	}
	if !s.enter() {
		return s.err
	}
	err := s.beginCheckpoint()
	s.leave(nil)
	if err != nil {
		return err
	}
	return s.finishCheckpoint(nil)
}

func blocksFailed(err error) error { return fmt.Errorf("the block store failed: %w", err) }

// writeBack writes early what waits in memory, if that is much.
func (s *Server) writeBack(until <-chan struct{}) error {
	for done := false; !done && !closed(until); {
		var err error
		if done, err = s.storage.blocks.WriteBack(); err != nil {
			return blocksFailed(err)
		}
		select {
		case s.checkpoints.room <- struct{}{}:
		default:
		}
	}
	return nil
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// lastCheckpoint is made when everything has ended in good order, so that the
// next start is fast.
func (s *Server) lastCheckpoint(ctx context.Context) error {
	if s.storage.blocks == nil || s.err != nil {
		return nil
	}
	if err := s.finishCheckpoint(ctx.Done()); err != nil || s.checkpoints.logged == 0 || ctx.Err() != nil {
		return err
	}
	if err := s.beginCheckpoint(); err != nil {
		return err
	}
	return s.finishCheckpoint(ctx.Done())
}
