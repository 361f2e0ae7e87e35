package fsim

const (
	rootIno    = 1
	directPtrs = 12
	inodePtrs  = directPtrs + 3
	ptrsOffset = 32
	ptrsEnd    = ptrsOffset + 4*inodePtrs
)

// Kind says what an inode is.
type Kind uint8

// The kinds of inodes. The values are part of the format.
const (
	Free Kind = iota
	File
	Dir
	Symlink
)

// String returns the kind as it is printed in reports.
func (k Kind) String() string {
	switch k {
	case Free:
		return "free"
	case File:
		return "file"
	case Dir:
		return "directory"
	case Symlink:
		return "symbolic link"
	}
	return "invalid"
}

// Handle names a file or directory for as long as it exists, as an NFS file
// handle does. The zero handle names nothing.
type Handle struct {
	Ino uint32
	// Gen tells apart the files that an inode has been used for.
	Gen uint32
}

// Info is what Stat tells.
type Info struct {
	Kind   Kind
	Links  uint16
	Size   int64  // bytes
	MTime  int64  // microseconds
	Blocks uint32 // allocated, indirect ones included
}

// inode is a decoded inode.
type inode struct {
	kind   Kind
	links  uint16
	gen    uint32
	size   uint64
	mtime  int64
	blocks uint32
	parent uint32 // of a directory
	ptr    [inodePtrs]uint32
}

// decode sets n from the 128 bytes of b. ok is false if the kind is none, if
// what is no directory has a parent, or if a reserved byte is not zero.
func (n *inode) decode(b []byte) (ok bool) {
	b = b[:inodeSize]
	kind := le.Uint16(b)
	n.kind = Kind(kind)
	n.links = le.Uint16(b[2:])
	n.gen = le.Uint32(b[4:])
	n.size = le.Uint64(b[8:])
	n.mtime = int64(le.Uint64(b[16:]))
	n.blocks = le.Uint32(b[24:])
	n.parent = le.Uint32(b[28:])
	for i := range n.ptr {
		n.ptr[i] = le.Uint32(b[ptrsOffset+4*i:])
	}
	return kind <= uint16(Symlink) && (n.kind == Dir || n.parent == 0) && allZero(b[ptrsEnd:])
}

// encode writes n to the 128 bytes of b.
func (n *inode) encode(b []byte) {
	b = b[:inodeSize]
	clear(b)
	le.PutUint16(b, uint16(n.kind))
	le.PutUint16(b[2:], n.links)
	le.PutUint32(b[4:], n.gen)
	le.PutUint64(b[8:], n.size)
	le.PutUint64(b[16:], uint64(n.mtime))
	le.PutUint32(b[24:], n.blocks)
	le.PutUint32(b[28:], n.parent)
	for i, p := range n.ptr {
		le.PutUint32(b[ptrsOffset+4*i:], p)
	}
}

func (n *inode) info() Info {
	return Info{Kind: n.kind, Links: n.links, Size: int64(n.size), MTime: n.mtime, Blocks: n.blocks}
}

// load reads the inode of a handle into n and checks everything about it
// that can be checked alone.
func (fs *FS) load(tx Tx, h Handle, n *inode) error {
	if h.Ino == 0 || h.Ino > fs.inodes {
		return ErrStale
	}
	rel, off := fs.inodeBlock(h.Ino)
	b, err := fs.read(tx, rel)
	if err != nil {
		return err
	}
	return fs.take(h, n, b[off:])
}

// take decodes the inode of a handle from the front of b.
func (fs *FS) take(h Handle, n *inode, b []byte) error {
	if !n.decode(b) {
		return corrupt(inodePlace(h.Ino), "bad kind or reserved bytes")
	}
	if n.kind == Free || n.gen != h.Gen {
		return ErrStale
	}
	if why := fs.badInode(n); why != "" {
		return corrupt(inodePlace(h.Ino), "%s", why)
	}
	return nil
}

// badInode says what is impossible about the numbers of an inode in use. The
// bounds it sets are those of all loops over an inode's blocks.
func (fs *FS) badInode(n *inode) string {
	switch {
	case n.size > fs.maxSize:
		return "size beyond the largest"
	case n.blocks > fs.data:
		return "more blocks than the volume has"
	case n.kind == Dir && n.size&(uint64(fs.blockSize)-1) != 0:
		return "directory size is not a multiple of the block size"
	case n.kind == Dir && n.size>>fs.shift > uint64(n.blocks):
		return "directory larger than its blocks"
	case n.kind == Symlink && (n.size == 0 || n.size > MaxTarget):
		return "symbolic link with an impossible length"
	}
	return ""
}

func (fs *FS) loadFile(tx Tx, h Handle, n *inode) error {
	if err := fs.load(tx, h, n); err != nil {
		return err
	}
	switch n.kind {
	case File:
		return nil
	case Symlink:
		return ErrIsSymlink
	}
	return ErrIsDir
}

// loadData loads the inode of a file or symbolic link.
func (fs *FS) loadData(tx Tx, h Handle, n *inode) error {
	if err := fs.load(tx, h, n); err != nil {
		return err
	}
	if n.kind == Dir {
		return ErrIsDir
	}
	return nil
}

func (fs *FS) loadDir(tx Tx, h Handle, n *inode) error {
	if err := fs.load(tx, h, n); err != nil {
		return err
	}
	if n.kind != Dir {
		return ErrNotDir
	}
	return nil
}
