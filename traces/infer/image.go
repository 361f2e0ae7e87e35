package infer

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/tidemark/tidemark/traces"
)

// Image is what a file system must hold before a trace can be replayed on it.
//
// A file is in it if the first line that tells shows that it existed:
//
//   - Attr READ, Block READ and Delete show that it existed;
//   - Attr WRITE and Block WRITE show that it did not: they create it;
//   - an Open tells nothing by itself, because it may create the file. A Close
//     before any other line for the file, an Open aside, shows that it
//     existed: its open moved no data, or began before the trace. A file with
//     no lines but Open existed, for an empty open reads the inode;
//   - Dir READ and Dir WRITE show that it existed and is a directory, as a
//     directory must exist for one of its entries to be replaced, and no line
//     of a trace makes one.
//
// What happens to a file after its first Delete has no part in the image.
type Image struct {
	BlockSize int64
	Files     []File // ascending by FID

	Dirs   int   // how many of Files are directories
	Blocks int64 // the sum of all extents

	traces.ReorderCounts
}

// File is a file or directory of the image.
type File struct {
	FID traces.FID
	// Dir says that the first Dir or Block line of the file is a Dir line.
	Dir bool
	// Size in bytes. Of a file, the furthest that a Block READ reached in a
	// block of the image; what was read beyond had been written before. Of a
	// directory, the furthest end of a Dir line, which may be very large, as
	// servers may use any number for a position in a directory.
	Size int64
	// Extents are the file's blocks that are read before they are written,
	// ascending and with gaps between them. The rest of the file is a hole.
	// A directory has none: its content is its entries.
	//
	// A block counts as written where writes covered it. If several writes
	// covered pieces of a block with gaps between, only the longest piece
	// counts, so an image may hold such a block without need.
	Extents []Extent
}

// Extent is a run of Count blocks from block number First of a file.
type Extent struct{ First, Count int64 }

const (
	minBlockSize = 512
	maxBlockSize = 1 << 20
)

// NewImage reads all operations, which need not be in order of time, and
// returns the image for a file system of the given block size, a power of two
// from 512 bytes to 1 MiB. Memory grows with the numbers of files and blocks
// in the trace, not with its length.
func NewImage(src traces.Stream, blockSize int64) (*Image, error) {
	if blockSize < minBlockSize || blockSize > maxBlockSize || blockSize&(blockSize-1) != 0 {
		return nil, fmt.Errorf("block size %d is not a power of two from %d to %d", blockSize, minBlockSize, maxBlockSize)
	}
	ordered := traces.NewReorder(src)
	p := imagePass{
		blockSize: blockSize,
		files:     map[traces.FID]*past{},
		blocks:    map[blockKey]coverage{},
	}
	for {
		op, err := ordered.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		p.operation(op)
	}
	img := p.image()
	img.ReorderCounts = ordered.Counts()
	return img, nil
}

// image puts what was found in order.
func (p *imagePass) image() *Image {
	img := &Image{BlockSize: p.blockSize}
	for fid, f := range p.files {
		if f.fate == created {
			continue
		}
		img.Files = append(img.Files, File{FID: fid, Dir: f.kind == traces.Dir, Size: f.size})
		if f.kind == traces.Dir {
			img.Dirs++
		}
	}
	slices.SortFunc(img.Files, func(a, b File) int { return cmp.Compare(a.FID, b.FID) })

	var keys []blockKey
	for k, c := range p.blocks {
		if c.needed {
			keys = append(keys, k)
		}
	}
	img.Blocks = int64(len(keys))
	slices.SortFunc(keys, func(a, b blockKey) int {
		return cmp.Or(cmp.Compare(a.fid, b.fid), cmp.Compare(a.block, b.block))
	})
	i := 0
	for _, k := range keys {
		for img.Files[i].FID != k.fid {
			i++
		}
		img.Files[i].add(k.block)
	}
	return img
}

// add appends a block after all others.
func (f *File) add(block int64) {
	if n := len(f.Extents); n > 0 {
		if last := &f.Extents[n-1]; last.First+last.Count == block {
			last.Count++
			return
		}
	}
	f.Extents = append(f.Extents, Extent{block, 1})
}
