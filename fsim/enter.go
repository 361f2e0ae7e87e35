package fsim

// place loads a directory and finds room for a new entry there.
func (fs *FS) place(tx Tx, dir Handle, d *inode, name string) (found, error) {
	if err := fs.loadDir(tx, dir, d); err != nil {
		return found{}, err
	}
	if !validName([]byte(name)) {
		return found{}, ErrName
	}
	f, err := fs.search(tx, dir.Ino, d, name, recordSize(len(name)))
	if err == nil && f.found {
		err = ErrExist
	}
	return f, err
}

// enter puts a new entry where place found room, or else in a new block at
// the end of the directory; only then does the directory's inode change.
func (e *edit) enter(dir Handle, d *inode, at found, name string, h Handle, kind Kind, mtime int64) error {
	if !at.roomy {
		return e.grow(dir, d, name, record{size: e.fs.blockSize, h: h, kind: kind}, mtime)
	}
	b, err := e.modify(at.roomBlock.rel)
	if err != nil {
		return err
	}
	r := record{off: at.room.off, size: at.room.size, h: h, kind: kind}
	if !at.room.free() {
		used := recordSize(len(at.room.name))
		setRecordSize(b[r.off:], used)
		r.off += used
		r.size -= used
	}
	putRecord(b, r, name)
	return nil
}

func (e *edit) grow(dir Handle, d *inode, name string, r record, mtime int64) error {
	if d.size+uint64(e.fs.blockSize) > e.fs.maxSize {
		return ErrTooLarge
	}
	rel, fresh, err := e.mapAlloc(dir.Ino, d, d.size>>e.fs.shift)
	if err != nil {
		return err
	}
	if !fresh {
		return corrupt(inodePlace(dir.Ino), "has a block beyond its size")
	}
	b := make([]byte, e.fs.blockSize)
	putRecord(b, r, name)
	e.put(rel, b)
	d.size += uint64(e.fs.blockSize)
	d.mtime = mtime
	return e.saveInode(dir.Ino, d)
}
