package fsim

import "math"

// Remove takes an entry out of a directory. The last entry of a file frees
// its inode and blocks. A directory must be empty.
func (fs *FS) Remove(tx Tx, dir Handle, name string) error {
	if err := fs.remove(tx, dir, name); err != nil {
		return nameErr("remove", dir.Ino, name, err)
	}
	return nil
}

func (fs *FS) remove(tx Tx, dir Handle, name string) error {
	var d, n inode
	if err := fs.loadDir(tx, dir, &d); err != nil {
		return err
	}
	if !validName([]byte(name)) {
		return ErrName
	}
	f, err := fs.search(tx, dir.Ino, &d, name, math.MaxInt)
	if err != nil {
		return err
	}
	if !f.found {
		return ErrNotExist
	}
	if err := fs.target(tx, &f, &n); err != nil {
		return err
	}
	if err := fs.empty(tx, f.rec.h, &n); err != nil {
		return err
	}
	e := fs.edit(tx, 0)
	if err := e.unlink(f.rec.h.Ino, &n); err != nil {
		return err
	}
	if err := e.dropRecord(&f); err != nil {
		return err
	}
	return e.flush()
}

// target loads the inode of an entry that is to be removed or renamed, and
// checks that the two agree.
func (fs *FS) target(tx Tx, f *found, n *inode) error {
	place := dirPlace(f.block.ino, f.block.at+uint64(f.rec.off))
	switch err := fs.load(tx, f.rec.h, n); {
	case err == ErrStale:
		return corrupt(place, "entry of inode %d, which is free or another file", f.rec.h.Ino)
	case err != nil:
		return err
	case n.kind != f.rec.kind || n.links == 0 || f.rec.h == fs.Root():
		return corrupt(place, "entry of inode %d does not agree with it", f.rec.h.Ino)
	}
	return nil
}

// empty refuses a directory that has entries.
func (fs *FS) empty(tx Tx, h Handle, n *inode) error {
	if n.kind != Dir {
		return nil
	}
	return fs.dirBlocks(tx, h.Ino, n, 0, n.size>>fs.shift, func(b dirBlock) (bool, error) {
		live := false
		err := b.each(func(r record) bool {
			live = !r.free()
			return live
		})
		if live {
			err = ErrNotEmpty
		}
		return false, err
	})
}

// dropRecord makes the record of an entry room of the one before it in its
// block, or else a free one. The records before it may have changed in this
// edit, but not its own place.
func (e *edit) dropRecord(f *found) error {
	b, err := e.modify(f.block.rel)
	if err != nil {
		return err
	}
	block, last := dirBlock{ino: f.block.ino, at: f.block.at, data: b}, record{off: -1}
	var here record
	err = block.each(func(r record) bool {
		here = r
		if r.off < f.rec.off {
			last = r
		}
		return r.off >= f.rec.off
	})
	switch {
	case err != nil:
		return err
	case here.off != f.rec.off:
		return corrupt(dirPlace(f.block.ino, f.block.at+uint64(f.rec.off)), "entry is also something else")
	}
	if last.off < 0 {
		putRecord(b, record{off: here.off, size: here.size}, "")
	} else {
		setRecordSize(b[last.off:], last.size+here.size)
	}
	return nil
}

// unlink counts one entry less, and frees the inode after the last.
func (e *edit) unlink(ino uint32, n *inode) error {
	if n.links--; n.links > 0 {
		return e.saveInode(ino, n)
	}
	if err := e.prune(ino, n, 0); err != nil {
		return err
	}
	return e.freeInode(ino, n)
}
