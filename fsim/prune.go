package fsim

import "bytes"

// prune frees the blocks of a file from block `from` on, and the indirect
// blocks that then point to nothing. The caller saves the inode.
func (e *edit) prune(ino uint32, n *inode, from uint64) error {
	for slot := range n.ptr {
		base, depth := e.fs.slotBase(slot)
		p, err := e.pruneAt(ino, n, n.ptr[slot], depth, base, from)
		if err != nil {
			return err
		}
		n.ptr[slot] = p
	}
	return nil
}

// pruneAt is prune for the tree under one pointer, whose first file block is
// base. It returns what becomes of the pointer: itself or 0.
func (e *edit) pruneAt(ino uint32, n *inode, p uint32, depth int, base, from uint64) (uint32, error) {
	if p == 0 || base+e.fs.span(depth) <= from {
		return p, nil
	}
	if base >= from {
		return 0, e.freeTree(ino, n, p, depth)
	}
	if _, err := e.fs.pointer(ino, p); err != nil {
		return 0, err
	}
	b, err := e.read(p)
	if err != nil {
		return 0, err
	}
	kept := bytes.Clone(b)
	for i := 0; i < e.fs.blockSize; i += 4 {
		child := le.Uint32(b[i:])
		first := base + uint64(i/4)*e.fs.span(depth-1)
		if child, err = e.pruneAt(ino, n, child, depth-1, first, from); err != nil {
			return 0, err
		}
		le.PutUint32(kept[i:], child)
	}
	switch {
	case allZero(kept):
		return 0, e.freeOne(ino, n, p)
	case !bytes.Equal(kept, b):
		e.put(p, kept)
	}
	return p, nil
}

// freeTree frees a block and everything under it. The block goes before what
// it points to: a pointer that leads back then meets a block already free,
// which is an error, and so every loop ends.
func (e *edit) freeTree(ino uint32, n *inode, p uint32, depth int) error {
	if err := e.freeOne(ino, n, p); err != nil || depth == 0 {
		return err
	}
	b, err := e.read(p)
	if err != nil {
		return err
	}
	for i := 0; i < e.fs.blockSize; i += 4 {
		if child := le.Uint32(b[i:]); child != 0 {
			if err := e.freeTree(ino, n, child, depth-1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *edit) freeOne(ino uint32, n *inode, p uint32) error {
	if n.blocks == 0 {
		return corrupt(inodePlace(ino), "has more blocks than it counts")
	}
	n.blocks--
	return e.freeBlock(p)
}
