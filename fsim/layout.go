package fsim

import (
	"fmt"
	"math/bits"
)

// layout is arithmetic on the geometry: which block holds what.
type layout struct {
	groups    uint32
	inodes    uint32 // in the volume
	perGroup  uint32 // blocks
	inoGroup  uint32 // inodes
	meta      uint32 // blocks of a group before its data
	end       uint32 // first block past the last group
	data      uint32 // data blocks in the volume
	shift     uint   // log2 of the block size
	ptrShift  uint   // log2 of the pointers in a block
	perTable  uint32 // inodes in a block of an inode table
	maxSize   uint64 // bytes that an inode can map
	blockSize int
}

func newLayout(g Geometry) layout {
	shift := uint(bits.TrailingZeros32(g.BlockSize))
	l := layout{
		groups:    g.groups(),
		perGroup:  g.BlocksPerGroup,
		inoGroup:  g.InodesPerGroup,
		meta:      g.metaBlocks(),
		shift:     shift,
		ptrShift:  shift - 2,
		perTable:  g.BlockSize / inodeSize,
		blockSize: int(g.BlockSize),
	}
	l.inodes = l.groups * l.inoGroup
	l.end = uint32(min(uint64(g.Blocks), 1+uint64(l.groups)*uint64(l.perGroup)))
	l.data = l.end - 1 - l.groups*l.meta
	p := uint64(1) << l.ptrShift
	l.maxSize = (directPtrs + p + p*p + p*p*p) << shift
	return l
}

func (l *layout) descriptor(g uint32) uint32 { return 1 + g*l.perGroup }
func (l *layout) blockMap(g uint32) uint32   { return l.descriptor(g) + 1 }
func (l *layout) inodeMap(g uint32) uint32   { return l.descriptor(g) + 2 }
func (l *layout) table(g uint32) uint32      { return l.descriptor(g) + groupHead }
func (l *layout) firstData(g uint32) uint32  { return l.descriptor(g) + l.meta }

// dataBlocks is the number of data blocks of a group.
func (l *layout) dataBlocks(g uint32) uint32 {
	return min(l.perGroup, l.end-l.descriptor(g)) - l.meta
}

// locate returns the group of a data block and its bit there; ok is false if
// there is no data block of that number.
func (l *layout) locate(rel uint32) (g, bit uint32, ok bool) {
	if rel == 0 || rel >= l.end {
		return 0, 0, false
	}
	g, off := (rel-1)/l.perGroup, (rel-1)%l.perGroup
	return g, off - l.meta, off >= l.meta
}

// inodeGroup returns the group of an inode and its bit there.
func (l *layout) inodeGroup(ino uint32) (g, bit uint32) {
	return (ino - 1) / l.inoGroup, (ino - 1) % l.inoGroup
}

// inodeBlock returns the block that holds an inode, and the offset there.
func (l *layout) inodeBlock(ino uint32) (rel uint32, off int) {
	g, bit := l.inodeGroup(ino)
	return l.table(g) + bit/l.perTable, int(bit%l.perTable) * inodeSize
}

// blocksFor is the number of blocks that hold size bytes.
func (l *layout) blocksFor(size uint64) uint64 {
	return (size + uint64(l.blockSize) - 1) >> l.shift
}

func blockPlace(rel uint32) string { return fmt.Sprintf("block %d", rel) }
func groupPlace(g uint32) string   { return fmt.Sprintf("group %d", g) }
