package server

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks"
	"github.com/tidemark/tidemark/server/core"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/storedir"
	"github.com/tidemark/tidemark/server/wal"
)

var (
	// ErrNoCheckpoint: the beginning of the log was removed, or what it goes on
	// from was never in it, and there is no checkpoint that holds all of that.
	ErrNoCheckpoint = errors.New("the checkpoint is missing")
	// ErrLogShort: the checkpoint holds more than the log ever did.
	ErrLogShort = errors.New("the end of the log is missing")
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

// storage is where a store lives.
type storage struct {
	dir       *storedir.Dir // nil without a directory
	log       wal.Log
	blocks    *blocks.Store  // nil for a store in memory
	loaded    *blocks.Loaded // its checkpoint, until it is recovered; nil if there is none
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
	var err error
	if opts.Blocks != nil {
		err = st.openBlocks(opts, opts.Blocks)
	}
	if err == nil {
		err = st.joins()
	}
	if err != nil {
		return nil, errors.Join(err, st.close())
	}
	return st, nil
}

// openBlocks opens the block store on d, unless the log shows that there was
// one which is missing.
func (st *storage) openBlocks(opts Options, d disk.Disk) error {
	names, err := d.List()
	if err != nil {
		return fmt.Errorf("open the block store: %w", err)
	}
	if len(names) == 0 {
		if err := st.joins(); err != nil {
			return err
		}
		// No crash leaves that: a server takes its epoch when there is a block
		// store. One older than block stores had its epoch in the log before it
		// acknowledged anything, but may have been killed before that.
		if st.dir != nil && st.dir.Epoch() > 0 && st.log.Head().Index == 0 {
			return fmt.Errorf("%w: the log has no entry, there are no blocks, and both were there in epoch %d", ErrNoCheckpoint, st.dir.Epoch())
		}
	}
	st.blocks, st.loaded, err = blocks.Open(d, blocks.Options{
		Store: st.store, BlockSize: st.blockSize, CacheBytes: opts.CacheBytes, DirtyBytes: opts.dirtyBytes(),
	})
	if err != nil {
		return fmt.Errorf("open the block store: %w", err)
	}
	return nil
}

// joins checks that the log goes on where the checkpoint ends, or at its first
// entry if there is none.
func (st *storage) joins() error {
	held := uint64(0)
	if st.loaded != nil {
		held = st.loaded.LogIndex
	} else if st.dir != nil && storedir.Anew(st.dir.Epoch()) {
		return fmt.Errorf("%w: the store was restored or salvaged, and what it began with is gone", ErrNoCheckpoint)
	}
	if head := st.log.Head().Index; head < held {
		return fmt.Errorf("%w: it ends with entry %d, and the newest checkpoint holds all up to %d", ErrLogShort, head, held)
	}
	enough := errors.New("enough")
	err := st.log.Read(0, func(oldest uint64, _ []byte) error {
		if oldest > held+1 {
			return fmt.Errorf("%w: the log begins with entry %d, and what is there holds all up to %d", ErrNoCheckpoint, oldest, held)
		}
		return enough
	})
	if err == enough {
		return nil
	}
	return err
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
	blocksDir, err := dir.BlocksDir()
	if err == nil {
		err = st.openBlocks(opts, disk.OS(blocksDir))
	}
	if err == nil {
		err = st.joins()
	}
	if err == nil {
		st.epoch, err = dir.NextEpoch()
	}
	if err != nil {
		return nil, errors.Join(err, st.close())
	}
	opts.Logger.Info("opened store", "dir", opts.Dir, "store", st.store, "epoch", st.epoch, "log", fmt.Sprintf("%+v", report))
	return st, nil
}

func (st *storage) close() error {
	err := st.log.Close()
	if st.blocks != nil {
		err = errors.Join(err, st.blocks.Close())
	}
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
