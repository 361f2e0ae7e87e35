package fsim

import (
	"fmt"
	"math/bits"
)

// Check looks at everything that tells where things are, and reports what
// does not agree. An error means that the transaction failed, not that the
// volume is bad. It changes nothing.
//
// It reads all metadata, indirect blocks, directories and last blocks of
// files in batches, and holds the bitmaps and a few words for each inode of
// the groups that are in use.
func (fs *FS) Check(tx Tx) (*Report, error) {
	c := &checker{fs: fs, tx: tx, seen: map[uint32][]byte{}, parents: map[uint32]uint32{}}
	for _, pass := range [...]func() error{c.readGroups, c.readDirs} {
		if err := pass(); err != nil {
			return nil, fmt.Errorf("fsim: check: %w", err)
		}
	}
	c.checkBlocks()
	c.checkInodes()
	c.checkPaths()
	return &c.report, nil
}

// checker is the state of a Check.
type checker struct {
	fs     *FS
	tx     Tx
	report Report
	groups []*groupState
	dirs   []dirState
	// seen has, for each group, a bit per data block that a pointer names.
	seen map[uint32][]byte
	// refs are the pointers found and not yet followed; tails the last
	// blocks of files to be looked at. Both are worked off in batches.
	refs  []ref
	tails []tail
	// parents holds, for each directory, the directory with its first entry;
	// extra the further entries of directories, up to maxProblems.
	parents map[uint32]uint32
	extra   []edge
}

// groupState is what Check knows of a group.
type groupState struct {
	used     [descriptorSize / 4]uint32 // the descriptor's counters
	blockMap []byte
	inodeMap []byte
	inodes   []inodeState // nil if none is in use
}

// inodeState is what Check knows of an inode in use.
type inodeState struct {
	gen     uint32
	counted uint32 // blocks, as the inode says
	blocks  uint32 // blocks found
	entries uint32 // directory entries found
	links   uint16
	kind    Kind
	parent  uint32 // of a directory, as the inode says
}

type dirState struct {
	ino   uint32
	inode inode
}

type edge struct{ parent, child uint32 }

// inode returns the state of an inode, nil if it is not in use.
func (c *checker) inode(ino uint32) *inodeState {
	if ino == 0 || ino > c.fs.inodes {
		return nil
	}
	g, bit := c.fs.inodeGroup(ino)
	if c.groups[g].inodes == nil || c.groups[g].inodes[bit].kind == Free {
		return nil
	}
	return &c.groups[g].inodes[bit]
}

// checkBlocks compares the blocks found with the block bitmaps, and those
// with the counters.
func (c *checker) checkBlocks() {
	for g, s := range c.groups {
		place, n := groupPlace(uint32(g)), c.fs.dataBlocks(uint32(g))
		found := c.seen[uint32(g)]
		c.strayBits(place, "block", s.blockMap, n)
		for i, b := range s.blockMap[:(n+7)/8] {
			var seen byte
			if found != nil {
				seen = found[i]
			}
			c.report.Blocks += uint32(bits.OnesCount8(seen))
			for d := b ^ seen; d != 0; d &= d - 1 {
				bit := uint32(i*8 + bits.TrailingZeros8(d))
				rel := c.fs.firstData(uint32(g)) + bit
				switch {
				case bit >= n:
				case hasBit(s.blockMap, bit):
					c.report.add(Leaked, blockPlace(rel), "marked used, but no inode points to it")
				default:
					c.report.add(UsedButFree, blockPlace(rel), "an inode points to it")
				}
			}
		}
		c.counter(place, "blocks", s.used[usedBlocks/4], onesBelow(s.blockMap, n))
		c.counter(place, "inodes", s.used[usedInodes/4], onesBelow(s.inodeMap, c.fs.inoGroup))
	}
}

// checkInodes compares the inodes' counts with what was found.
func (c *checker) checkInodes() {
	for g, s := range c.groups {
		dirs := uint32(0)
		for i := range s.inodes {
			n, ino := &s.inodes[i], uint32(g)*c.fs.inoGroup+uint32(i)+1
			switch n.kind {
			case Free:
				continue
			case Dir:
				dirs++
				c.report.Dirs++
			case Symlink:
				c.report.Symlinks++
			default:
				c.report.Files++
			}
			if n.blocks != n.counted {
				c.report.add(WrongBlocks, inodePlace(ino), "counts %d blocks, has %d", n.counted, n.blocks)
			}
			entries := n.entries
			if ino == rootIno {
				entries++
			}
			switch {
			case entries == 0:
				c.report.add(Orphan, inodePlace(ino), "%s without an entry", n.kind)
			case uint32(n.links) != entries:
				c.report.add(WrongLinks, inodePlace(ino), "counts %d links, has %d entries", n.links, entries)
			case n.kind == Dir && entries > 1:
				c.report.add(WrongLinks, inodePlace(ino), "directory with %d entries", entries)
			}
		}
		c.counter(groupPlace(uint32(g)), "directories", s.used[usedDirs/4], dirs)
	}
	if root := c.inode(rootIno); root == nil || root.kind != Dir || root.gen != c.fs.Root().Gen || root.parent != 0 {
		c.report.add(BadInode, inodePlace(rootIno), "the root is not a directory of generation 1 without a parent")
	}
}

func (c *checker) counter(place, what string, counted, found uint32) {
	if counted != found {
		c.report.add(WrongCount, place, "counts %d %s in use, has %d", counted, what, found)
	}
}

func (c *checker) strayBits(place, what string, bitmap []byte, n uint32) {
	if all, below := onesBelow(bitmap, uint32(len(bitmap))*8), onesBelow(bitmap, n); all != below {
		c.report.add(BadGroup, place, "%d bits set past the end of the %s bitmap", all-below, what)
	}
}

// onesBelow counts the bits set among the first n.
func onesBelow(b []byte, n uint32) (count uint32) {
	for _, v := range b[:n/8] {
		count += uint32(bits.OnesCount8(v))
	}
	if n%8 != 0 {
		count += uint32(bits.OnesCount8(b[n/8] & (1<<(n%8) - 1)))
	}
	return count
}
