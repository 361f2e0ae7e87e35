package fsim

import (
	"fmt"
	"math"
	"math/bits"
)

const (
	// DefaultBlockSize is the block size of the zero Geometry, in bytes.
	DefaultBlockSize = 4096
	// MinBlockSize and MaxBlockSize bound the block size, in bytes.
	MinBlockSize = 512
	MaxBlockSize = 65536

	inodeSize = 128
	// groupHead is the number of blocks before a group's inode table.
	groupHead = 3

	// By default a volume gets about defaultGroups groups, enough to keep
	// that many clients apart, of at least minDefaultGroup blocks.
	defaultGroups   = 128
	minDefaultGroup = 64
)

// Geometry is the shape of a volume. It is fixed by Mkfs.
type Geometry struct {
	// BlockSize is in bytes: a power of two from MinBlockSize to
	// MaxBlockSize, and the store's. 0 means DefaultBlockSize.
	BlockSize uint32
	// Blocks is the number of blocks in the volume.
	Blocks uint32
	// BlocksPerGroup is the number of blocks of a block group, its metadata
	// included; at most 8 data blocks per byte of a block. 0 lets Mkfs
	// choose.
	BlocksPerGroup uint32
	// InodesPerGroup is the number of inodes of a block group, at most 8 per
	// byte of a block. 0 means one for four blocks, and at least a block of
	// them.
	InodesPerGroup uint32
}

func (g Geometry) withDefaults() Geometry {
	if g.BlockSize == 0 {
		g.BlockSize = DefaultBlockSize
	}
	if g.BlocksPerGroup == 0 && g.Blocks > 1 {
		g.BlocksPerGroup = min(max(g.Blocks/defaultGroups, minDefaultGroup), 8*g.BlockSize, g.Blocks-1)
	}
	if g.InodesPerGroup == 0 {
		perBlock := max(g.BlockSize/inodeSize, 1)
		want := max(g.BlocksPerGroup/4, 1)
		g.InodesPerGroup = (want + perBlock - 1) / perBlock * perBlock
	}
	return g
}

// tableBlocks is the length of a group's inode table.
func (g Geometry) tableBlocks() uint32 {
	return uint32((uint64(g.InodesPerGroup)*inodeSize + uint64(g.BlockSize) - 1) / uint64(g.BlockSize))
}

// metaBlocks is the number of blocks of a group before its data.
func (g Geometry) metaBlocks() uint32 { return groupHead + g.tableBlocks() }

// groups is the number of groups, the last of which may be short but has
// room for its metadata and at least one data block.
func (g Geometry) groups() uint32 {
	usable := g.Blocks - 1
	n, rest := usable/g.BlocksPerGroup, usable%g.BlocksPerGroup
	if rest > g.metaBlocks() {
		n++
	}
	return n
}

// validate checks a geometry in which no field is left to choose.
func (g Geometry) validate() error {
	switch {
	case g.BlockSize < MinBlockSize || g.BlockSize > MaxBlockSize || bits.OnesCount32(g.BlockSize) != 1:
		return fmt.Errorf("%w: block size %d is not a power of two from %d to %d", ErrGeometry, g.BlockSize, MinBlockSize, MaxBlockSize)
	case g.InodesPerGroup == 0 || g.InodesPerGroup > 8*g.BlockSize:
		return fmt.Errorf("%w: %d inodes per group, not 1 to %d", ErrGeometry, g.InodesPerGroup, 8*g.BlockSize)
	case g.BlocksPerGroup <= g.metaBlocks() || g.BlocksPerGroup-g.metaBlocks() > 8*g.BlockSize:
		return fmt.Errorf("%w: %d blocks per group, not %d to %d", ErrGeometry, g.BlocksPerGroup, g.metaBlocks()+1, g.metaBlocks()+8*g.BlockSize)
	case g.Blocks < 2 || g.groups() == 0:
		return fmt.Errorf("%w: %d blocks have no room for a group", ErrGeometry, g.Blocks)
	case uint64(g.groups())*uint64(g.InodesPerGroup) > math.MaxUint32:
		return fmt.Errorf("%w: %d groups of %d inodes", ErrGeometry, g.groups(), g.InodesPerGroup)
	}
	return nil
}
