package server

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"

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

// storage is where a store lives.
type storage struct {
	dir       *storedir.Dir  // nil without a directory
	log       wal.Log        // nil until it is opened
	entries   entries        // of the log
	blocks    *blocks.Store  // nil for a store in memory
	loaded    *blocks.Loaded // its checkpoint, until it is recovered; nil if there is none
	store     occ.StoreID
	epoch     uint64 // of this server
	blockSize int
}

// entries are those that a log had when it was opened: from first to last,
// which is first-1 if there were none.
type entries struct{ first, last uint64 }

func openStorage(opts Options) (*storage, error) {
	st, err := new(storage), error(nil)
	if opts.Dir != "" {
		err = st.openDir(opts)
	} else {
		err = st.embed(opts)
	}
	if err != nil {
		return nil, errors.Join(err, st.close())
	}
	return st, nil
}

// embed takes the log and the disk that the options name, or a log in memory.
func (st *storage) embed(opts Options) error {
	st.log, st.store, st.blockSize = opts.Log, opts.Store, cmp.Or(opts.BlockSize, storedir.DefaultBlockSize)
	if err := opts.checkBlock(st.blockSize); err != nil {
		return err
	}
	if st.log == nil {
		rand.Read(st.store[:])
		st.log = wal.NewMemory(st.store, wal.DefaultMemoryLimit).Open()
	}
	st.epoch = st.log.Epoch() + 1 // above that of a server that fenced it and wrote nothing
	head := st.log.Head()
	st.entries = entries{first: head.Index + 1, last: head.Index}
	enough := errors.New("enough")
	err := st.log.Read(0, func(oldest uint64, _ []byte) error {
		st.entries.first = oldest
		return enough
	})
	if err != nil && err != enough {
		return err
	}
	if opts.Blocks == nil {
		return st.joins(nil, false)
	}
	return st.openBlocks(opts, opts.Blocks)
}

// openDir locks the directory and opens its log under a new epoch. Log and
// blocks are created or changed when both have been found whole, one store's,
// of versions that this program knows, and such that recovery will succeed; a
// directory that is refused until then stays as it was, and a new one is not
// made for blocks that do not fit other options.
func (st *storage) openDir(opts Options) (err error) {
	if err := opts.checkBlock(opts.BlockSize); err != nil { // 0 fits
		return err
	}
	if st.dir, err = storedir.Open(opts.Dir, storedir.Options{BlockSize: opts.BlockSize}); err != nil {
		return err
	}
	st.store, st.blockSize = st.dir.StoreID(), st.dir.BlockSize()
	if err := opts.checkBlock(st.blockSize); err != nil {
		return err
	}
	prepared, report, err := wal.Prepare(st.dir.LogDir(), st.store)
	if err == nil {
		err = st.dir.WrittenUnder(report.Epoch)
	}
	if err != nil {
		return err
	}
	st.entries = entries{report.First, report.Last}
	d, err := st.blocksDisk()
	if err != nil {
		return err
	}
	if err := st.openBlocks(opts, d); err != nil {
		return err
	}
	log, err := prepared.Open(wal.Options{})
	if err != nil {
		return err
	}
	st.log = log
	if st.epoch, err = st.dir.NextEpoch(); err != nil {
		return err
	}
	opts.Logger.Info("opened store", "dir", opts.Dir, "store", st.store, "epoch", st.epoch, "log", fmt.Sprintf("%+v", report))
	return nil
}

// blocksDisk returns the directory of the block store, which is created if it
// is missing and may be.
func (st *storage) blocksDisk() (disk.Disk, error) {
	exists, err := st.dir.HasBlocks()
	if err == nil && !exists {
		err = st.accept(nil, false)
	}
	if err != nil {
		return nil, err
	}
	path, err := st.dir.BlocksDir()
	return disk.OS(path), err
}

func (st *storage) openBlocks(opts Options, d disk.Disk) (err error) {
	st.blocks, st.loaded, err = blocks.Open(d, blocks.Options{
		Store: st.store, BlockSize: st.blockSize, CacheBytes: opts.CacheBytes, DirtyBytes: opts.dirtyBytes(), Accept: st.accept,
	})
	if err != nil {
		return fmt.Errorf("open the block store: %w", err)
	}
	return nil
}

// accept decides whether the store is to be opened with the checkpoint that was
// found; nothing has been changed yet.
func (st *storage) accept(found *blocks.Loaded, exists bool) error {
	if err := st.joins(found, exists); err != nil || st.dir == nil {
		return err
	}
	return st.recoverable(found)
}

// joins checks that the log goes on where the checkpoint ends, or at its first
// entry if there is none; exists is false if there is no block store either.
func (st *storage) joins(found *blocks.Loaded, exists bool) error {
	log, held := st.entries, uint64(0)
	if found != nil {
		held = found.LogIndex
	}
	if st.dir != nil && found == nil {
		switch epoch := st.dir.Epoch(); {
		case occ.Generation(epoch) > 0:
			return fmt.Errorf("%w: the store was restored or salvaged, and what it began with is gone", ErrNoCheckpoint)
		case epoch > 0 && log.last == 0 && !exists:
			// No crash leaves that: a server takes its epoch when there is a block
			// store. One older than block stores had its epoch in the log before it
			// acknowledged anything, but may have been killed before that.
			return fmt.Errorf("%w: the log has no entry, there are no blocks, and both were there in epoch %d", ErrNoCheckpoint, epoch)
		}
	}
	switch {
	case log.last < held:
		return fmt.Errorf("%w: it ends with entry %d, and the newest checkpoint holds all up to %d", ErrLogShort, log.last, held)
	case log.first > held+1:
		return fmt.Errorf("%w: the log begins with entry %d, and what is there holds all up to %d", ErrNoCheckpoint, log.first, held)
	}
	return nil
}

// recoverable checks that recovery will succeed unless the disk fails: that this
// program knows the versions of all that it will decode, and that the state of
// the checkpoint and the log behind it follow from each other. What a core says
// of that does not depend on the versions of blocks, which this one never has;
// those of the checkpoint were judged when its index was read, by its timestamp.
// It reads the log once more for that: verification holds no entry, and recovery
// may write before it has come to the end.
func (st *storage) recoverable(found *blocks.Loaded) error {
	judge := core.New(core.Config{Store: st.store, BlockSize: uint64(st.blockSize), NewSession: newSession})
	held := uint64(0)
	if found != nil {
		held = found.LogIndex
		state, err := record.DecodeState(found.State)
		switch {
		case err != nil:
		case state.Stable != found.Stable:
			err = &core.RestoreError{Reason: fmt.Sprintf("its state is of timestamp %d, its header of %d", state.Stable, found.Stable)}
		default:
			err = cmp.Or(st.dir.WrittenUnder(state.Epoch), judge.Restore(found.State, noVersions))
		}
		if err != nil {
			return fmt.Errorf("the checkpoint at log entry %d: %w", held, err)
		}
	}
	_, err := wal.Survey(st.dir.LogDir(), st.store, wal.Visitor{Entry: func(e wal.Entry) error {
		if e.Index <= held {
			return nil
		}
		group, err := record.Decode(e.Payload)
		if err == nil {
			err = judge.Recover(group.Records)
		}
		if err != nil {
			return fmt.Errorf("%s, offset %d, log entry %d: %w", e.Segment, e.Offset, e.Index, err)
		}
		judge.Take() // what it would have others keep
		return nil
	}})
	return err
}

func noVersions(func(occ.BlockID, occ.Timestamp, int) error) error { return nil }

func (st *storage) close() (err error) {
	if st.log != nil {
		err = st.log.Close()
	}
	if st.blocks != nil {
		err = errors.Join(err, st.blocks.Close())
	}
	if st.dir != nil {
		err = errors.Join(err, st.dir.Close())
	}
	return err
}
