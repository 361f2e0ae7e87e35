package server

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/core"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/storedir"
	"github.com/tidemark/tidemark/server/wal"
)

// Open opens a store, or creates it, rebuilds its state from the log and
// starts to serve it to whoever connects. Errors are of packages storedir
// (locked, foreign, damaged directory) and wal (damaged log), a
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

// storage is where a store lives.
type storage struct {
	dir       *storedir.Dir // nil without a directory
	log       wal.Log
	store     occ.StoreID
	epoch     uint64 // of this server
	blockSize int
}

func openStorage(opts Options) (*storage, error) {
	if opts.Dir != "" {
		return openDir(opts)
	}
	st := &storage{log: opts.Log, store: opts.Store, blockSize: cmp.Or(opts.BlockSize, storedir.DefaultBlockSize)}
	if st.log == nil {
		rand.Read(st.store[:])
		st.log = wal.NewMemory(st.store, wal.DefaultMemoryLimit).Open()
	}
	st.epoch = st.log.Head().Epoch + 1
	return st, nil
}

// openDir locks the directory and opens its log under a new epoch.
func openDir(opts Options) (*storage, error) {
	dir, err := storedir.Open(opts.Dir, storedir.Options{BlockSize: opts.BlockSize})
	if err != nil {
		return nil, err
	}
	log, report, err := wal.Open(dir.LogDir(), dir.StoreID(), wal.Options{})
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	st := &storage{dir: dir, log: log, store: dir.StoreID(), blockSize: dir.BlockSize()}
	if st.epoch, err = dir.NextEpoch(); err != nil {
		return nil, errors.Join(err, st.close())
	}
	opts.Logger.Info("opened store", "dir", opts.Dir, "store", st.store, "epoch", st.epoch, "log", fmt.Sprintf("%+v", report))
	return st, nil
}

func (st *storage) close() error {
	err := st.log.Close()
	if st.dir != nil {
		err = errors.Join(err, st.dir.Close())
	}
	return err
}

// start recovers the state and starts the goroutines.
func start(opts Options, st *storage) (*Server, error) {
	if err := opts.checkBlock(st.blockSize); err != nil {
		return nil, err
	}
	if _, err := st.log.Fence(st.epoch); err != nil {
		return nil, fmt.Errorf("become the writer of the log: %w", err)
	}
	s := newServer(opts, st)
	if err := s.recover(); err != nil {
		return nil, err
	}
	s.start()
	return s, nil
}

// recover replays the log. Only values come out of it: nobody is connected.
func (s *Server) recover() error {
	begun := time.Now()
	err := s.storage.log.Read(0, func(index uint64, payload []byte) error {
		group, err := record.Decode(payload)
		if err == nil {
			err = s.core.Recover(group.Records)
		}
		if err != nil {
			return fmt.Errorf("recover: log entry %d: %w", index, err)
		}
		for _, e := range s.core.Take() {
			switch e := e.(type) {
			case core.Put:
				s.values.put(e)
			case core.Drop:
				s.values.drop(core.Ref(e))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.opts.Logger.Info("recovered", "stable", s.core.Stable(), "horizon", s.core.Horizon(), "took", time.Since(begun))
	return nil
}

func newSession() (id occ.SessionID) {
	rand.Read(id[:]) // never fails
	return id
}
