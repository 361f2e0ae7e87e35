package fsim

import (
	"crypto/sha256"
	"fmt"
	"hash"
)

// Node is what Tree tells of one path.
type Node struct {
	Path string
	Kind Kind
	Size int64 // bytes of a file or of a link's text; 0 for a directory
	// Content is a hash of these bytes and their number. It does not depend on
	// the block size, on holes, or on where blocks are; a directory's is
	// zero.
	Content [sha256.Size]byte
}

// Tree returns the paths of a volume in the order of Walk, with what tells
// their contents apart. Times and inode numbers are left out: they may
// rightly differ between two runs of one load.
func (fs *FS) Tree(tx Tx) ([]Node, error) {
	var nodes []Node
	err := fs.Walk(tx, func(path string, info Info, h Handle) error {
		node := Node{Path: path, Kind: info.Kind}
		if info.Kind != Dir {
			node.Size = info.Size
			var err error
			if node.Content, err = fs.contentHash(tx, h); err != nil {
				return fmt.Errorf("fsim: tree %q: %w", path, err)
			}
		}
		nodes = append(nodes, node)
		return nil
	})
	return nodes, err
}

// Digest condenses a tree: equal trees have equal digests.
func Digest(nodes []Node) [sha256.Size]byte {
	sum := sha256.New()
	for _, n := range nodes {
		fmt.Fprintf(sum, "%q %d %d %x\n", n.Path, n.Kind, n.Size, n.Content)
	}
	return [sha256.Size]byte(sum.Sum(nil))
}

// contentHash is SHA-256 over the size and, for each stretch of MinBlockSize
// bytes that is not all zeros, its number and its bytes.
func (fs *FS) contentHash(tx Tx, h Handle) (out [sha256.Size]byte, err error) {
	var n inode
	if err := fs.loadData(tx, h, &n); err != nil {
		return out, err
	}
	s := hasher{fs: fs, tx: tx, n: &n, sum: sha256.New()}
	s.number(n.size)
	if err := fs.eachBlock(tx, h.Ino, &n, s.add); err != nil {
		return out, err
	}
	if err := s.flush(); err != nil {
		return out, err
	}
	return [sha256.Size]byte(s.sum.Sum(nil)), nil
}

// hasher reads the blocks of a file in batches and hashes them.
type hasher struct {
	fs    *FS
	tx    Tx
	n     *inode
	sum   hash.Hash
	rels  []uint32
	files []uint64 // the file blocks that rels are
}

func (s *hasher) number(v uint64) {
	var b [8]byte
	le.PutUint64(b[:], v)
	s.sum.Write(b[:])
}

func (s *hasher) add(fb uint64, rel uint32) error {
	s.rels, s.files = append(s.rels, rel), append(s.files, fb)
	if len(s.rels) < batchBlocks {
		return nil
	}
	return s.flush()
}

func (s *hasher) flush() error {
	blocks, err := s.fs.readMany(s.tx, s.rels)
	if err != nil {
		return err
	}
	for i, b := range blocks {
		start := s.files[i] << s.fs.shift
		for off := uint64(0); off < uint64(len(b)) && start+off < s.n.size; off += MinBlockSize {
			part := b[off:min(off+MinBlockSize, s.n.size-start)]
			if !allZero(part) {
				s.number((start + off) / MinBlockSize)
				s.sum.Write(part)
			}
		}
	}
	s.rels, s.files = s.rels[:0], s.files[:0]
	return nil
}
