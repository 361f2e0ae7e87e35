package fsim

// Stat returns what the inode of a handle says. It reads one block.
func (fs *FS) Stat(tx Tx, h Handle) (Info, error) {
	var n inode
	if err := fs.load(tx, h, &n); err != nil {
		return Info{}, opErr("stat", h.Ino, err)
	}
	return n.info(), nil
}

// SetTime sets the modification time, in microseconds, of a file or
// directory.
func (fs *FS) SetTime(tx Tx, h Handle, mtime int64) error {
	var n inode
	err := fs.load(tx, h, &n)
	if err == nil {
		n.mtime = mtime
		e := fs.edit(tx, 0)
		if err = e.saveInode(h.Ino, &n); err == nil {
			err = e.flush()
		}
	}
	if err != nil {
		return opErr("set time of", h.Ino, err)
	}
	return nil
}

// Truncate sets the size of a file, and its modification time in
// microseconds. A smaller size frees the blocks past it and zeroes the rest
// of the last one; a larger size makes a hole and allocates nothing.
func (fs *FS) Truncate(tx Tx, h Handle, size, mtime int64) error {
	if err := fs.truncate(tx, h, size, mtime); err != nil {
		return opErr("truncate", h.Ino, err)
	}
	return nil
}

func (fs *FS) truncate(tx Tx, h Handle, size, mtime int64) error {
	var n inode
	if err := fs.loadFile(tx, h, &n); err != nil {
		return err
	}
	if size < 0 {
		return ErrInvalid
	}
	if uint64(size) > fs.maxSize {
		return ErrTooLarge
	}
	e := fs.edit(tx, 0)
	if uint64(size) < n.size {
		if err := e.shrink(h.Ino, &n, uint64(size)); err != nil {
			return err
		}
	}
	n.size, n.mtime = uint64(size), mtime
	if err := e.saveInode(h.Ino, &n); err != nil {
		return err
	}
	return e.flush()
}

func (e *edit) shrink(ino uint32, n *inode, size uint64) error {
	if err := e.prune(ino, n, e.fs.blocksFor(size)); err != nil {
		return err
	}
	tail := size & uint64(e.fs.blockSize-1)
	if tail == 0 {
		return nil
	}
	// The pointers to what is kept did not change, so the transaction's own
	// blocks still lead to it.
	var c leaf
	rel, err := e.fs.mapBlock(e.tx, ino, n, size>>e.fs.shift, &c)
	if err != nil || rel == 0 {
		return err
	}
	b, err := e.modify(rel)
	if err != nil {
		return err
	}
	clear(b[tail:])
	return nil
}
