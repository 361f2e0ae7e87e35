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
	n := inode{kind: kind, links: 1, mtime: mtime}
	switch kind {
	case File:
	case Dir:
		n.parent = dir.Ino
	default:
		return Handle{}, ErrInvalid
	}
	return fs.createInode(tx, dir, name, &n, nil, affinity)
}

// createInode enters a new inode in dir, with data as its content; n has all
// but the generation and what follows from the data.
func (fs *FS) createInode(tx Tx, dir Handle, name string, n *inode, data []byte, affinity uint32) (Handle, error) {
	var d inode
	at, err := fs.place(tx, dir, &d, name)
	if err != nil {
		return Handle{}, err
	}
	group, _ := fs.inodeGroup(dir.Ino)
	e := fs.edit(tx, group)
	ino, gen, err := e.allocInode(affinity%fs.groups, n.kind)
	if err != nil {
		return Handle{}, err
	}
	h := Handle{Ino: ino, Gen: gen}
	n.gen = gen
	if err := e.writeAt(ino, n, 0, data); err != nil {
		return Handle{}, err
	}
	n.size = uint64(len(data))
	if err := e.saveInode(ino, n); err != nil {
		return Handle{}, err
	}
	if err := e.enter(dir, &d, at, name, h, n.kind, n.mtime); err != nil {
		return Handle{}, err
	}
	return h, e.flush()
}

// Link enters an existing file or symbolic link in a directory once more. Directories have
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
	if err := fs.loadData(tx, h, &n); err != nil {
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
	if err := e.enter(dir, &d, at, name, h, n.kind, mtime); err != nil {
		return err
	}
	return e.flush()
}
