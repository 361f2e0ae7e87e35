package blocks

import (
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/blocks/layout"
)

const (
	// DefaultCacheBytes is how much data of versions on disk stays in memory.
	DefaultCacheBytes = 64 << 20
	// DefaultDirtyBytes is how much data of versions may be in memory alone
	// before WriteBack has something to do.
	DefaultDirtyBytes = 64 << 20
	// DefaultStepBytes is what one Step or WriteBack writes, about.
	DefaultStepBytes = 1 << 20

	// maxUnsynced is how many bytes are written to a file before it is
	// synced, so that no sync has much to do and the commit log's syncs are
	// not held up by it.
	maxUnsynced = 8 << 20
	// maxMoves is how many versions a checkpoint moves to make the block
	// file shorter.
	maxMoves = 16384
	// maxHold is how many versions or slots are looked at, at most, while
	// the mutex is held.
	maxHold = 1024
	// maxWalks is how many times a step that writes the index takes the
	// mutex for so many versions.
	maxWalks = 256
)

// Options of Open. Store and BlockSize have no defaults.
type Options struct {
	Store     occ.StoreID
	BlockSize int // in bytes, up to layout.MaxBlockSize
	// CacheBytes bounds the data in memory of versions that are on disk. 0
	// means DefaultCacheBytes. Each version counts 160 bytes besides its
	// data.
	CacheBytes int64
	// DirtyBytes is how much data, counted like that, may wait to be written
	// before WriteBack writes. 0 means DefaultDirtyBytes.
	DirtyBytes int64
	// StepBytes is how many bytes a Step or WriteBack writes, to within a
	// slot or a frame. 0 means DefaultStepBytes.
	StepBytes int
	// Accept, if set, is asked before anything on the disk is changed: is the
	// checkpoint that was found the one that is wanted? found is nil if there is
	// none yet; exists is false if there is no store either, and one would be
	// created. Open returns its error as it is.
	Accept func(found *Loaded, exists bool) error
}

func (o Options) owner() layout.Owner { return layout.Owner{Store: o.Store, BlockSize: o.BlockSize} }

// withDefaults fills in what is 0.
func (o Options) withDefaults() (Options, error) {
	switch {
	case o.BlockSize < 1 || o.BlockSize > layout.MaxBlockSize:
		return o, &OptionsError{"BlockSize", int64(o.BlockSize)}
	case o.CacheBytes < 0:
		return o, &OptionsError{"CacheBytes", o.CacheBytes}
	case o.DirtyBytes < 0:
		return o, &OptionsError{"DirtyBytes", o.DirtyBytes}
	case o.StepBytes < 0:
		return o, &OptionsError{"StepBytes", int64(o.StepBytes)}
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = DefaultCacheBytes
	}
	if o.DirtyBytes == 0 {
		o.DirtyBytes = DefaultDirtyBytes
	}
	if o.StepBytes == 0 {
		o.StepBytes = DefaultStepBytes
	}
	return o, nil
}
