package fsim

import "fmt"

// Usage is what a volume has and what of it is in use.
type Usage struct {
	Blocks, BlocksUsed uint32 // data blocks
	Inodes, InodesUsed uint32
	Dirs               uint32
}

// Usage adds up the groups' counters. It reads every descriptor, and so
// conflicts with every allocation.
func (fs *FS) Usage(tx Tx) (Usage, error) {
	u := Usage{Blocks: fs.data, Inodes: fs.inodes}
	for first := uint32(0); first < fs.groups; first += batchBlocks {
		rels := make([]uint32, 0, batchBlocks)
		for g := first; g < fs.groups && len(rels) < batchBlocks; g++ {
			rels = append(rels, fs.descriptor(g))
		}
		blocks, err := fs.readMany(tx, rels)
		if err != nil {
			return Usage{}, fmt.Errorf("fsim: usage: %w", err)
		}
		for _, d := range blocks {
			u.BlocksUsed += le.Uint32(d[usedBlocks:])
			u.InodesUsed += le.Uint32(d[usedInodes:])
			u.Dirs += le.Uint32(d[usedDirs:])
		}
	}
	return u, nil
}
