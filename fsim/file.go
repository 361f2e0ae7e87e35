package fsim

// Read copies the bytes of a file, or of the text of a symbolic link, from
// offset off on into p and returns how many there were; fewer than len(p) only
// at the end, which is no error. Holes read as zeros. The data blocks of a call are one request.
func (fs *FS) Read(tx Tx, h Handle, off int64, p []byte) (int, error) {
	var n inode
	if err := fs.loadData(tx, h, &n); err != nil {
		return 0, opErr("read", h.Ino, err)
	}
	if off < 0 {
		return 0, opErr("read", h.Ino, ErrInvalid)
	}
	if uint64(off) >= n.size {
		return 0, nil
	}
	if left := n.size - uint64(off); uint64(len(p)) > left {
		p = p[:left]
	}
	if err := fs.readAt(tx, h.Ino, &n, uint64(off), p); err != nil {
		return 0, opErr("read", h.Ino, err)
	}
	return len(p), nil
}

// readAt fills p, which lies within the file.
func (fs *FS) readAt(tx Tx, ino uint32, n *inode, off uint64, p []byte) error {
	var c leaf
	first, start := off>>fs.shift, int(off&uint64(fs.blockSize-1))
	if start+len(p) > fs.blockSize {
		return fs.readSpan(tx, ino, n, first, start, p)
	}
	rel, err := fs.mapBlock(tx, ino, n, first, &c)
	if err != nil {
		return err
	}
	if rel == 0 {
		clear(p)
		return nil
	}
	b, err := fs.read(tx, rel)
	if err == nil {
		copy(p, b[start:])
	}
	return err
}

// readSpan fills p from several blocks, beginning at byte start of block
// first.
func (fs *FS) readSpan(tx Tx, ino uint32, n *inode, first uint64, start int, p []byte) error {
	count := fs.blocksFor(uint64(start + len(p)))
	rels := make([]uint32, 0, count)
	holes := make([]bool, count)
	var c leaf
	for i := range count {
		rel, err := fs.mapBlock(tx, ino, n, first+i, &c)
		if err != nil {
			return err
		}
		if holes[i] = rel == 0; !holes[i] {
			rels = append(rels, rel)
		}
	}
	blocks, err := fs.readMany(tx, rels)
	if err != nil {
		return err
	}
	for i := range count {
		part := p[:min(len(p), fs.blockSize-start)]
		if holes[i] {
			clear(part)
		} else {
			copy(part, blocks[0][start:])
			blocks = blocks[1:]
		}
		p, start = p[len(part):], 0
	}
	return nil
}

// Write sets the bytes of a file from offset off on to data, enlarging the
// file if need be, and its modification time to mtime microseconds, even if
// data is empty. Blocks that data covers are not read; those it covers partly
// are read in one request. Data is not kept. ErrNoSpace and ErrTooLarge leave
// the file as it was.
func (fs *FS) Write(tx Tx, h Handle, off int64, data []byte, mtime int64) error {
	if err := fs.write(tx, h, off, data, mtime); err != nil {
		return opErr("write", h.Ino, err)
	}
	return nil
}

func (fs *FS) write(tx Tx, h Handle, off int64, data []byte, mtime int64) error {
	var n inode
	if err := fs.loadFile(tx, h, &n); err != nil {
		return err
	}
	if off < 0 {
		return ErrInvalid
	}
	if uint64(off) > fs.maxSize || uint64(len(data)) > fs.maxSize-uint64(off) {
		return ErrTooLarge
	}
	group, _ := fs.inodeGroup(h.Ino)
	e := fs.edit(tx, group)
	if err := e.writeAt(h.Ino, &n, uint64(off), data); err != nil {
		return err
	}
	if len(data) > 0 {
		n.size = max(n.size, uint64(off)+uint64(len(data)))
	}
	n.mtime = mtime
	if err := e.saveInode(h.Ino, &n); err != nil {
		return err
	}
	return e.flush()
}

// partial is a block of which a write keeps something.
type partial struct {
	rel   uint32
	start int
	data  []byte
}

// writeAt puts data into the blocks of a file, allocating them.
func (e *edit) writeAt(ino uint32, n *inode, off uint64, data []byte) error {
	size := uint64(e.fs.blockSize)
	var keep []partial
	for len(data) > 0 {
		start := off & (size - 1)
		part := data[:min(uint64(len(data)), size-start)]
		rel, fresh, err := e.mapAlloc(ino, n, off>>e.fs.shift)
		if err != nil {
			return err
		}
		// Past the file's size a block holds zeros, which padding restores.
		end := off + uint64(len(part))
		switch covered := start == 0 && (len(part) == int(size) || end >= n.size); {
		case covered || fresh && start == 0:
			e.putContent(rel, part)
		case fresh:
			b := make([]byte, int(start)+len(part))
			copy(b[start:], part)
			e.putContent(rel, b)
		default:
			keep = append(keep, partial{rel, int(start), part})
		}
		off, data = end, data[len(part):]
	}
	return e.overlay(keep)
}

// overlay changes parts of existing blocks: the first and the last of a
// write at most.
func (e *edit) overlay(keep []partial) error {
	rels := make([]uint32, len(keep))
	for i, k := range keep {
		rels[i] = k.rel
	}
	blocks, err := e.fs.readMany(e.tx, rels)
	if err != nil {
		return err
	}
	for i, k := range keep {
		b := append([]byte(nil), blocks[i]...)
		copy(b[k.start:], k.data)
		e.putContent(k.rel, b)
	}
	return nil
}
