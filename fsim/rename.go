package fsim

import "math"

// MaxDepth is how many directories deep the target of a Rename of a directory
// may lie, which bounds the way up from there.
const MaxDepth = 4096

// Rename gives the entry `from` of fromDir the name `to` in toDir, which may be
// the same directory, in one step, as POSIX has it: an entry of that name is
// replaced, a file by a file (or symbolic link) only, else ErrIsDir, and an
// empty directory by a directory only, else ErrNotDir or ErrNotEmpty. If both
// are entries of one file, nothing is done. A directory cannot be moved into
// itself or below itself (ErrLoop). Mtime is toDir's if that has to grow.
//
// Moving a directory to another one reads the inodes of all directories above
// the new place, and writes its own.
func (fs *FS) Rename(tx Tx, fromDir Handle, from string, toDir Handle, to string, mtime int64) error {
	if err := fs.rename(tx, fromDir, from, toDir, to, mtime); err != nil {
		return nameErr("rename", fromDir.Ino, from, err)
	}
	return nil
}

func (fs *FS) rename(tx Tx, fromDir Handle, from string, toDir Handle, to string, mtime int64) error {
	var d, n inode
	source, err := fs.source(tx, fromDir, from, &n)
	if err != nil {
		return err
	}
	if err := fs.loadDir(tx, toDir, &d); err != nil {
		return err
	}
	if !validName([]byte(to)) {
		return ErrName
	}
	h := source.rec.h
	if n.kind == Dir && fromDir != toDir {
		if err := fs.notBelow(tx, toDir.Ino, h.Ino); err != nil {
			return err
		}
	}
	at, err := fs.search(tx, toDir.Ino, &d, to, recordSize(len(to)))
	if err != nil || at.found && at.rec.h == h {
		return err
	}
	group, _ := fs.inodeGroup(toDir.Ino)
	e := fs.edit(tx, group)
	if at.found {
		err = e.replace(&at, h, &n)
	} else {
		err = e.enter(toDir, &d, at, to, h, n.kind, mtime)
	}
	if err != nil {
		return err
	}
	if err := e.dropRecord(&source); err != nil {
		return err
	}
	if n.kind == Dir && n.parent != toDir.Ino {
		n.parent = toDir.Ino
		if err := e.saveInode(h.Ino, &n); err != nil {
			return err
		}
	}
	return e.flush()
}

// source finds the entry to be renamed and loads its inode.
func (fs *FS) source(tx Tx, dir Handle, name string, n *inode) (found, error) {
	var d inode
	if err := fs.loadDir(tx, dir, &d); err != nil {
		return found{}, err
	}
	if !validName([]byte(name)) {
		return found{}, ErrName
	}
	f, err := fs.search(tx, dir.Ino, &d, name, math.MaxInt)
	if err != nil {
		return found{}, err
	}
	if !f.found {
		return found{}, ErrNotExist
	}
	return f, fs.target(tx, &f, n)
}

// replace makes an existing entry name the inode n with handle h, and takes
// the entry away from what it named.
func (e *edit) replace(at *found, h Handle, n *inode) error {
	var old inode
	if err := e.fs.target(e.tx, at, &old); err != nil {
		return err
	}
	switch {
	case n.kind == Dir && old.kind != Dir:
		return ErrNotDir
	case n.kind != Dir && old.kind == Dir:
		return ErrIsDir
	}
	if err := e.fs.empty(e.tx, at.rec.h, &old); err != nil {
		return err
	}
	if err := e.unlink(at.rec.h.Ino, &old); err != nil {
		return err
	}
	b, err := e.modify(at.block.rel)
	if err != nil {
		return err
	}
	putRecord(b, record{off: at.rec.off, size: at.rec.size, h: h, kind: n.kind}, string(at.rec.name))
	return nil
}

// notBelow refuses if directory dir is ino or lies below it.
func (fs *FS) notBelow(tx Tx, dir, ino uint32) error {
	for range MaxDepth {
		switch dir {
		case ino:
			return ErrLoop
		case rootIno:
			return nil
		}
		if dir == 0 || dir > fs.inodes {
			return corrupt(inodePlace(dir), "is the parent of a directory")
		}
		rel, off := fs.inodeBlock(dir)
		b, err := fs.read(tx, rel)
		if err != nil {
			return err
		}
		var n inode
		if !n.decode(b[off:]) || n.kind != Dir {
			return corrupt(inodePlace(dir), "is no directory, but the parent of one")
		}
		dir = n.parent
	}
	return ErrTooDeep
}
