package fsim

import "math"

// Create makes an empty file or directory and enters it in dir. Affinity,
// usually the number of a client, picks the block group where the search for
// a free inode begins: affinities that differ modulo the number of groups
// use different groups while there is space. Mtime is in microseconds; it
// becomes the directory's too if the directory has to grow.
func (fs *FS) Create(tx Tx, dir Handle, name string, kind Kind, affinity uint32, mtime int64) (Handle, error) {
	h, err := fs.create(tx, dir, name, kind, affinity, mtime)
	if err != nil {
		return Handle{}, nameErr("create", dir.Ino, name, err)
	}
	return h, nil
}

func (fs *FS) create(tx Tx, dir Handle, name string, kind Kind, affinity uint32, mtime int64) (Handle, error) {
	if kind != File && kind != Dir {
		return Handle{}, ErrInvalid
	}
	var d inode
	at, err := fs.place(tx, dir, &d, name)
	if err != nil {
		return Handle{}, err
	}
	group, _ := fs.inodeGroup(dir.Ino)
	e := fs.edit(tx, group)
	ino, gen, err := e.allocInode(affinity%fs.groups, kind)
	if err != nil {
		return Handle{}, err
	}
	h := Handle{Ino: ino, Gen: gen}
	if err := e.saveInode(ino, &inode{kind: kind, links: 1, gen: gen, mtime: mtime}); err != nil {
		return Handle{}, err
	}
	if err := e.enter(dir, &d, at, name, h, kind, mtime); err != nil {
		return Handle{}, err
	}
	return h, e.flush()
}

// Link enters an existing file in a directory once more. Directories have
// one entry only. Mtime is the directory's if it has to grow.
func (fs *FS) Link(tx Tx, dir Handle, name string, h Handle, mtime int64) error {
	if err := fs.link(tx, dir, name, h, mtime); err != nil {
		return nameErr("link", dir.Ino, name, err)
	}
	return nil
}

func (fs *FS) link(tx Tx, dir Handle, name string, h Handle, mtime int64) error {
	var d, n inode
	at, err := fs.place(tx, dir, &d, name)
	if err != nil {
		return err
	}
	if err := fs.loadFile(tx, h, &n); err != nil {
		return err
	}
	if n.links == math.MaxUint16 {
		return ErrTooManyLinks
	}
	n.links++
	group, _ := fs.inodeGroup(dir.Ino)
	e := fs.edit(tx, group)
	if err := e.saveInode(h.Ino, &n); err != nil {
		return err
	}
	if err := e.enter(dir, &d, at, name, h, File, mtime); err != nil {
		return err
	}
	return e.flush()
}

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
	e := fs.edit(tx, 0)
	if err := e.unlink(f.rec.h.Ino, &n); err != nil {
		return err
	}
	b, err := e.modify(f.block.rel)
	if err != nil {
		return err
	}
	if f.hasPrev {
		setRecordSize(b[f.prev.off:], f.prev.size+f.rec.size)
	} else {
		putRecord(b, record{off: f.rec.off, size: f.rec.size}, "")
	}
	return e.flush()
}

// target loads the inode of an entry that is to be removed, and refuses if it
// may not be.
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
	if n.kind == File {
		return nil
	}
	return fs.dirBlocks(tx, f.rec.h.Ino, n, 0, n.size>>fs.shift, func(b dirBlock) (bool, error) {
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
