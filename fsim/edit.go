package fsim

import "bytes"

// edit gathers the blocks that one operation changes. Nothing is written
// before flush, so an operation that fails leaves no trace, and a block that
// is changed many times is written once.
type edit struct {
	fs *FS
	tx Tx
	// group is where the next block is looked for. It moves with the
	// allocations, so that a long write passes over full groups only once.
	group uint32
	index map[uint32]int
	dirty []dirtyBlock
}

type dirtyBlock struct {
	rel  uint32
	data []byte
	// content marks the bytes of a file, which may be the caller's and
	// shorter than a block; the operation itself must not use them.
	content bool
}

func (fs *FS) edit(tx Tx, group uint32) *edit {
	return &edit{fs: fs, tx: tx, group: group, index: map[uint32]int{}}
}

// read returns a block of metadata as the operation has it so far;
// read-only.
func (e *edit) read(rel uint32) ([]byte, error) {
	if i, ok := e.index[rel]; ok {
		if e.dirty[i].content {
			return nil, corrupt(blockPlace(rel), "used as pointers and as content")
		}
		return e.dirty[i].data, nil
	}
	return e.fs.read(e.tx, rel)
}

// modify returns a block to be changed in place.
func (e *edit) modify(rel uint32) ([]byte, error) {
	b, err := e.read(rel)
	if err != nil {
		return nil, err
	}
	if _, ok := e.index[rel]; !ok {
		b = bytes.Clone(b)
		e.put(rel, b)
	}
	return b, nil
}

// put sets a whole block to data, which the edit then owns.
func (e *edit) put(rel uint32, data []byte) {
	e.set(dirtyBlock{rel: rel, data: data})
}

// putContent sets a block to bytes of a file, followed by zeros. Data must
// not change before flush.
func (e *edit) putContent(rel uint32, data []byte) {
	e.set(dirtyBlock{rel: rel, data: data, content: true})
}

func (e *edit) set(d dirtyBlock) {
	if i, ok := e.index[d.rel]; ok {
		e.dirty[i] = d
		return
	}
	e.index[d.rel] = len(e.dirty)
	e.dirty = append(e.dirty, d)
}

// flush writes the changed blocks in the order in which they were first
// changed.
func (e *edit) flush() error {
	for _, d := range e.dirty {
		if err := e.tx.Write(e.fs.id(d.rel), d.data); err != nil {
			return err
		}
	}
	return nil
}

func (e *edit) saveInode(ino uint32, n *inode) error {
	rel, off := e.fs.inodeBlock(ino)
	b, err := e.modify(rel)
	if err != nil {
		return err
	}
	n.encode(b[off:])
	return nil
}
