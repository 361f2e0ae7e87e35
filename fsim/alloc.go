package fsim

import "math/bits"

// Offsets of the counters in a group descriptor.
const (
	usedBlocks = 4 * iota
	usedInodes
	usedDirs
	descriptorSize
)

// allocBlock takes the lowest free data block of the edit's group, or of the
// next group that has one.
func (e *edit) allocBlock() (uint32, error) {
	for i := range e.fs.groups {
		g := uint32((uint64(e.group) + uint64(i)) % uint64(e.fs.groups))
		bit, ok, err := e.takeBit(g, e.fs.blockMap(g), e.fs.dataBlocks(g), usedBlocks)
		if err != nil {
			return 0, err
		}
		if ok {
			e.group = g
			return e.fs.firstData(g) + bit, nil
		}
	}
	return 0, ErrNoSpace
}

// allocInode takes the lowest free inode of the given group, or of the next
// one that has one, and returns it with its new generation. The caller saves
// the inode.
func (e *edit) allocInode(group uint32, kind Kind) (ino, gen uint32, err error) {
	for i := range e.fs.groups {
		g := uint32((uint64(group) + uint64(i)) % uint64(e.fs.groups))
		bit, ok, err := e.takeBit(g, e.fs.inodeMap(g), e.fs.inoGroup, usedInodes)
		if err != nil {
			return 0, 0, err
		}
		if !ok {
			continue
		}
		if kind == Dir {
			if err := e.count(g, usedDirs, 1); err != nil {
				return 0, 0, err
			}
		}
		ino := g*e.fs.inoGroup + bit + 1
		gen, err := e.nextGen(ino)
		return ino, gen, err
	}
	return 0, 0, ErrNoSpace
}

// nextGen returns the generation of a free inode's next use.
func (e *edit) nextGen(ino uint32) (uint32, error) {
	rel, off := e.fs.inodeBlock(ino)
	b, err := e.read(rel)
	if err != nil {
		return 0, err
	}
	var n inode
	if !n.decode(b[off:]) || n.kind != Free {
		return 0, corrupt(inodePlace(ino), "in use but marked free")
	}
	return max(n.gen+1, 1), nil
}

// takeBit sets the lowest clear bit among the first n of a group's bitmap and
// counts it; ok is false if the group's counter says that there is none.
func (e *edit) takeBit(g, bitmap, n uint32, counter int) (bit uint32, ok bool, err error) {
	d, err := e.read(e.fs.descriptor(g))
	if err != nil {
		return 0, false, err
	}
	if used := le.Uint32(d[counter:]); used == n {
		return 0, false, nil
	} else if used > n {
		return 0, false, corrupt(groupPlace(g), "counts %d in use of %d", used, n)
	}
	b, err := e.modify(bitmap)
	if err != nil {
		return 0, false, err
	}
	bit = firstClear(b, n)
	if bit == n {
		return 0, false, corrupt(groupPlace(g), "bitmap is full, descriptor counts %d in use of %d", le.Uint32(d[counter:]), n)
	}
	b[bit/8] |= 1 << (bit % 8)
	return bit, true, e.count(g, counter, 1)
}

// freeBlock gives back a data block. A block that is not in use is an error,
// which also ends the freeing of a tree whose pointers form a cycle.
func (e *edit) freeBlock(rel uint32) error {
	g, bit, ok := e.fs.locate(rel)
	if !ok {
		return corrupt(blockPlace(rel), "freed, but not a data block")
	}
	return e.dropBit(g, e.fs.blockMap(g), bit, usedBlocks)
}

// freeInode gives back an inode, keeping its generation.
func (e *edit) freeInode(ino uint32, n *inode) error {
	g, bit := e.fs.inodeGroup(ino)
	if n.kind == Dir {
		if err := e.count(g, usedDirs, -1); err != nil {
			return err
		}
	}
	if err := e.dropBit(g, e.fs.inodeMap(g), bit, usedInodes); err != nil {
		return err
	}
	return e.saveInode(ino, &inode{gen: n.gen})
}

func (e *edit) dropBit(g, bitmap, bit uint32, counter int) error {
	b, err := e.modify(bitmap)
	if err != nil {
		return err
	}
	if !hasBit(b, bit) {
		return corrupt(groupPlace(g), "bit %d of %s is clear, but it is in use", bit, blockPlace(bitmap))
	}
	b[bit/8] &^= 1 << (bit % 8)
	return e.count(g, counter, -1)
}

// count adds delta, 1 or -1, to a counter of a group.
func (e *edit) count(g uint32, counter int, delta int32) error {
	d, err := e.modify(e.fs.descriptor(g))
	if err != nil {
		return err
	}
	used := le.Uint32(d[counter:])
	if used == 0 && delta < 0 {
		return corrupt(groupPlace(g), "counts nothing in use where there is something")
	}
	le.PutUint32(d[counter:], used+uint32(delta))
	return nil
}

func hasBit(b []byte, bit uint32) bool { return b[bit/8]&(1<<(bit%8)) != 0 }

// firstClear returns the lowest clear bit among the first n, or n. The length
// of b is a multiple of 8.
func firstClear(b []byte, n uint32) uint32 {
	for i := uint32(0); i < n; i += 64 {
		if w := le.Uint64(b[i/8:]); w != ^uint64(0) {
			return min(n, i+uint32(bits.TrailingZeros64(^w)))
		}
	}
	return n
}
