package fsim

// route is the way from an inode to a block of its file: a pointer of the
// inode, and an index into each of depth indirect blocks, outermost first.
type route struct {
	slot, depth int
	idx         [3]uint32
}

// route returns the way to block fb of a file; fb is below maxSize's.
func (l *layout) route(fb uint64) route {
	if fb < directPtrs {
		return route{slot: int(fb)}
	}
	fb -= directPtrs
	r := route{slot: directPtrs, depth: 1}
	for fb >= l.span(r.depth) {
		fb -= l.span(r.depth)
		r.slot++
		r.depth++
	}
	for i := r.depth - 1; i >= 0; i-- {
		r.idx[i] = uint32(fb & (l.span(1) - 1))
		fb >>= l.ptrShift
	}
	return r
}

// span is the number of file blocks under a pointer of the given depth.
func (l *layout) span(depth int) uint64 { return 1 << (uint(depth) * l.ptrShift) }

// slotBase returns the first file block under a pointer of the inode, and
// the pointer's depth.
func (l *layout) slotBase(slot int) (base uint64, depth int) {
	if slot < directPtrs {
		return uint64(slot), 0
	}
	base = directPtrs
	for depth = 1; depth < slot-directPtrs+1; depth++ {
		base += l.span(depth)
	}
	return base, depth
}

// leaf remembers the last indirect block that pointed to data, so that a run
// of blocks passes the levels above it once. The zero leaf remembers none.
type leaf struct {
	first uint64
	data  []byte
}

// mapBlock returns the block that holds block fb of a file, 0 for a hole.
func (fs *FS) mapBlock(tx Tx, ino uint32, n *inode, fb uint64, c *leaf) (uint32, error) {
	if c.data != nil && fb-c.first < fs.span(1) {
		return fs.pointer(ino, le.Uint32(c.data[4*(fb-c.first):]))
	}
	r := fs.route(fb)
	p, err := fs.pointer(ino, n.ptr[r.slot])
	for i := 0; i < r.depth && p != 0 && err == nil; i++ {
		var b []byte
		if b, err = fs.read(tx, p); err != nil {
			return 0, err
		}
		if i == r.depth-1 {
			*c = leaf{first: fb - uint64(r.idx[i]), data: b}
		}
		p, err = fs.pointer(ino, le.Uint32(b[4*r.idx[i]:]))
	}
	return p, err
}

// pointer checks a pointer read from disk.
func (fs *FS) pointer(ino, p uint32) (uint32, error) {
	if p == 0 {
		return 0, nil
	}
	if _, _, ok := fs.locate(p); !ok {
		return 0, corrupt(inodePlace(ino), "points to block %d, which is not a data block", p)
	}
	return p, nil
}

// mapAlloc is mapBlock with every hole on the way filled by a new block.
// Fresh says that the data block is new; its content is then whatever it was
// in its last use, and the caller puts it. The caller saves the inode.
func (e *edit) mapAlloc(ino uint32, n *inode, fb uint64) (rel uint32, fresh bool, err error) {
	r := e.fs.route(fb)
	if rel, fresh, err = e.fill(ino, n, n.ptr[r.slot], r.depth); err != nil {
		return 0, false, err
	}
	n.ptr[r.slot] = rel
	for i := 0; i < r.depth; i++ {
		b, err := e.read(rel)
		if err != nil {
			return 0, false, err
		}
		at := 4 * r.idx[i]
		next, isNew, err := e.fill(ino, n, le.Uint32(b[at:]), r.depth-1-i)
		if err != nil {
			return 0, false, err
		}
		if isNew {
			if b, err = e.modify(rel); err != nil {
				return 0, false, err
			}
			le.PutUint32(b[at:], next)
		}
		rel, fresh = next, isNew
	}
	return rel, fresh, nil
}

// fill returns the block of a pointer, a new one if it is a hole. A new block
// that will hold pointers begins as zeros.
func (e *edit) fill(ino uint32, n *inode, p uint32, depth int) (rel uint32, fresh bool, err error) {
	if p != 0 {
		p, err = e.fs.pointer(ino, p)
		return p, false, err
	}
	if p, err = e.allocBlock(); err != nil {
		return 0, false, err
	}
	n.blocks++
	if depth > 0 {
		e.put(p, make([]byte, e.fs.blockSize))
	}
	return p, true, nil
}
