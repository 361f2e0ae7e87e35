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
//   - Attr READ, Block READ, Delete, Rmdir, Lookup, Link, Rename, Truncate and
//     Commit show that it existed;
//   - Create, Mkdir and Symlink show that it did not;
//   - Attr WRITE and Block WRITE show that it did not, as they create it, unless
//     a later line finds it under a name that no line has given it, or shows
//     that it is a directory, which no write makes;
//   - an Open tells nothing by itself, because it may create the file. A Close
//     before any other line for the file, an Open aside, shows that it
//     existed: its open moved no data, or began before the trace. A file with
//     no lines but Open existed, for an empty open reads the inode. One with a
//     place finds it there: what has places tells a creation apart;
//   - Dir READ and Dir WRITE show that it existed and is a directory, as a
//     directory must exist for one of its entries to be replaced. So does being
//     the directory of a place, unless a Mkdir made it.
//
// What happens to a file after its Delete has no part in the image; if its
// names are known, after that of the last.
type Image struct {
	BlockSize int64
	Files     []File // ascending by FID
	// Entries are the places that files are known to have had, a directory's
	// own before those in it. Files without any have none that is known.
	Entries []Entry

	Dirs   int   // how many of Files are directories
	Blocks int64 // the sum of all extents
	// Misplaced counts what the trace says of places that cannot be, which a
	// trace that lost something may do: a file found under a name that is
	// another's or was never given, a directory in two places or below
	// itself, an entry of what is no directory. What was said first holds.
	Misplaced int64

	traces.ReorderCounts
}

// File is a file or directory of the image.
type File struct {
	FID traces.FID
	// Dir says that the first Dir or Block line of the file is a Dir line.
	Dir bool
	// Size in bytes. Of a file, the furthest that a Block READ reached in a
	// block of the image; what was read beyond had been written before. Of a
	// directory, the furthest end of a Dir line, at least 1, which may be very
	// large, as servers may use any number for a position in a directory; 0
	// without Dir lines.
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

// Entry is an entry of a directory of the image: Name in Dir names FID, both
// of which are among the Files. A directory has one entry at most, a file may
// have several.
type Entry struct {
	Dir  traces.FID
	Name string
	FID  traces.FID
}

// Extent is a run of Count blocks from block number First of a file.
type Extent struct{ First, Count int64 }

const (
	minBlockSize = 512
	maxBlockSize = 1 << 20
)

// NewImage reads all operations, which need not be in order of time, and
// returns the image for a file system of the given block size, a power of two
// from 512 bytes to 1 MiB. Memory grows with the numbers of files, names and
// blocks in the trace, not with its length.
func NewImage(src traces.Stream, blockSize int64) (*Image, error) {
	if blockSize < minBlockSize || blockSize > maxBlockSize || blockSize&(blockSize-1) != 0 {
		return nil, fmt.Errorf("block size %d is not a power of two from %d to %d", blockSize, minBlockSize, maxBlockSize)
	}
	ordered := traces.NewReorder(src)
	p := imagePass{
		blockSize: blockSize,
		files:     map[traces.FID]*past{},
		blocks:    map[blockKey]coverage{},
		tree:      tree{names: map[entryName]named{}},
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
		if !f.wasThere() {
			continue
		}
		img.Files = append(img.Files, File{FID: fid, Dir: f.kind == traces.Dir, Size: f.size})
		if f.kind == traces.Dir {
			img.Dirs++
		}
	}
	slices.SortFunc(img.Files, func(a, b File) int { return cmp.Compare(a.FID, b.FID) })
	img.Entries, img.Misplaced = p.entries()

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
