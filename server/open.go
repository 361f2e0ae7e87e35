package server

import (
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/core"
	"github.com/tidemark/tidemark/server/record"
)

// Open opens a store, or creates it, rebuilds its state from the log and
// starts to serve it to whoever connects. Errors are of packages storedir
// (locked, foreign, damaged directory), blocks (damaged block store) and wal
// (damaged log), ErrNoCheckpoint, ErrLogShort, a *core.RestoreError, a
// *core.ReplayError, a *record.DecodeError, an *OptionsError or of the
// operating system, wrapped. The caller must call Shutdown.
func Open(opts Options) (*Server, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	st, err := openStorage(opts)
	if err != nil {
		return nil, err
	}
	s, err := start(opts, st)
	if err != nil {
		return nil, errors.Join(err, st.close())
	}
	return s, nil
}

// start recovers the state and starts the goroutines.
func start(opts Options, st *storage) (*Server, error) {
	if _, err := st.log.Fence(st.epoch); err != nil {
		return nil, fmt.Errorf("become the writer of the log: %w", err)
	}
	s := newServer(opts, st)
	if err := s.recover(); err != nil {
		return nil, err
	}
	if err := s.start(); err != nil {
		return nil, err
	}
	return s, nil
}

// recover rebuilds the state: from the newest checkpoint, if there is one, and
// from the log behind it. Only values come out of it: nobody is connected.
func (s *Server) recover() error {
	begun := time.Now()
	first, err := s.restore()
	if err != nil {
		return err
	}
	next := first
	err = s.storage.log.Read(first, func(index uint64, payload []byte) error {
		next = index + 1
		group, err := record.Decode(payload)
		if err == nil {
			err = s.core.Recover(group.Records)
		}
		if err == nil {
			err = s.keepRecovered()
		}
		if err != nil {
			return fmt.Errorf("recover: log entry %d: %w", index, err)
		}
		s.checkpoints.applied = index
		s.checkpoints.logged += int64(len(payload))
		return nil
	})
	if err != nil {
		return err
	}
	s.opts.Logger.Info("recovered", "stable", s.core.Stable(), "horizon", s.core.Horizon(), "log_entries", next-first, "took", time.Since(begun))
	return nil
}

// restore takes over the checkpoint that was loaded and returns the index of
// the first log entry behind it.
func (s *Server) restore() (first uint64, err error) {
	loaded := s.storage.loaded
	if loaded == nil {
		return 1, nil
	}
	s.storage.loaded = nil
	if err := s.core.Restore(loaded.State, loaded.Versions); err != nil {
		return 0, fmt.Errorf("recover the checkpoint at log entry %d: %w", loaded.LogIndex, err)
	}
	s.checkpoints.applied = loaded.LogIndex
	return loaded.LogIndex + 1, s.keepRecovered()
}

// keepRecovered carries out what a step of the recovery said about values.
func (s *Server) keepRecovered() error {
	for _, e := range s.core.Take() {
		switch e := e.(type) {
		case core.Put:
			if err := s.values.put(e); err != nil {
				return err
			}
		case core.Drop:
			s.values.drop(core.Ref(e))
		}
	}
	if s.storage.blocks == nil {
		return nil
	}
	return s.writeBack(nil)
}

func newSession() (id occ.SessionID) {
	rand.Read(id[:]) // never fails
	return id
}
