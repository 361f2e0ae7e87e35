package fsim

import (
	"fmt"
	"math"
)

// Entry is one entry of a directory.
type Entry struct {
	Name   string
	Handle Handle
	Kind   Kind
	// Off is the place of the entry in the directory in bytes. It is the
	// entry's until it is removed.
	Off int64
}

// Lookup returns the handle of an entry of a directory.
func (fs *FS) Lookup(tx Tx, dir Handle, name string) (Handle, error) {
	h, err := fs.lookup(tx, dir, name)
	if err != nil {
		return Handle{}, nameErr("look up", dir.Ino, name, err)
	}
	return h, nil
}

func (fs *FS) lookup(tx Tx, dir Handle, name string) (Handle, error) {
	var d inode
	if err := fs.loadDir(tx, dir, &d); err != nil {
		return Handle{}, err
	}
	if !validName([]byte(name)) {
		return Handle{}, ErrName
	}
	s, err := fs.search(tx, dir.Ino, &d, name, math.MaxInt)
	if err == nil && !s.found {
		err = ErrNotExist
	}
	return s.rec.h, err
}

// ReadDir returns all entries of a directory in the order of their offsets.
func (fs *FS) ReadDir(tx Tx, dir Handle) ([]Entry, error) {
	return fs.ReadDirRange(tx, dir, 0, math.MaxInt64)
}

// ReadDirRange returns the entries that begin in the bytes [off, off+size) of
// a directory, in the order of their offsets, and reads only the blocks that
// hold these bytes. A range past the end has no entries.
func (fs *FS) ReadDirRange(tx Tx, dir Handle, off, size int64) ([]Entry, error) {
	list, err := fs.readDirRange(tx, dir, off, size)
	if err != nil {
		return nil, opErr("read directory", dir.Ino, err)
	}
	return list, nil
}

func (fs *FS) readDirRange(tx Tx, dir Handle, off, size int64) ([]Entry, error) {
	var d inode
	if err := fs.loadDir(tx, dir, &d); err != nil {
		return nil, err
	}
	if off < 0 || size < 0 {
		return nil, ErrInvalid
	}
	from := min(uint64(off), d.size)
	end := from + min(uint64(size), d.size-from)
	var list []Entry
	err := fs.dirBlocks(tx, dir.Ino, &d, from>>fs.shift, fs.blocksFor(end), func(b dirBlock) (bool, error) {
		return false, b.each(func(r record) bool {
			at := b.at + uint64(r.off)
			if !r.free() && at >= from && at < end {
				list = append(list, Entry{Name: string(r.name), Handle: r.h, Kind: r.kind, Off: int64(at)})
			}
			return false
		})
	})
	return list, err
}

// dirBlock is a block of a directory.
type dirBlock struct {
	ino  uint32
	at   uint64 // offset in the directory
	rel  uint32
	data []byte
}

// each calls visit for each record of the block until it returns true.
func (b *dirBlock) each(visit func(record) bool) error {
	for off := 0; off < len(b.data); {
		r, why := recordAt(b.data, off)
		if why != "" {
			return corrupt(dirPlace(b.ino, b.at+uint64(off)), "%s", why)
		}
		if visit(r) {
			return nil
		}
		off += r.size
	}
	return nil
}

func dirPlace(ino uint32, off uint64) string {
	return fmt.Sprintf("directory %d offset %d", ino, off)
}

// dirBlocks calls visit for the blocks [first, end) of a directory in order,
// until it returns true or an error. A block that cannot be found is an error
// after those before it were visited.
func (fs *FS) dirBlocks(tx Tx, ino uint32, d *inode, first, end uint64, visit func(dirBlock) (bool, error)) error {
	var c leaf
	for first < end {
		var lost error
		rels := make([]uint32, 0, min(batchBlocks, end-first))
		for fb := first; fb < end && len(rels) < batchBlocks; fb++ {
			rel, err := fs.mapBlock(tx, ino, d, fb, &c)
			if rel == 0 && err == nil {
				err = corrupt(dirPlace(ino, fb<<fs.shift), "hole in a directory")
			}
			if err != nil {
				lost = err
				break
			}
			rels = append(rels, rel)
		}
		blocks, err := fs.readMany(tx, rels)
		if err != nil {
			return err
		}
		for i, data := range blocks {
			done, err := visit(dirBlock{ino: ino, at: first << fs.shift, rel: rels[i], data: data})
			if done || err != nil {
				return err
			}
			first++
		}
		if lost != nil {
			return lost
		}
	}
	return nil
}

// found is where search found things.
type found struct {
	// The entry of the name.
	found bool
	rec   record
	block dirBlock
	// The first record with enough room for a new one.
	roomy     bool
	room      record
	roomBlock dirBlock
}

// search looks for a name in a directory, and on the way for a record with
// need bytes of room.
func (fs *FS) search(tx Tx, ino uint32, d *inode, name string, need int) (found, error) {
	var f found
	err := fs.dirBlocks(tx, ino, d, 0, d.size>>fs.shift, func(b dirBlock) (bool, error) {
		err := b.each(func(r record) bool {
			if !r.free() && string(r.name) == name {
				f.found, f.rec, f.block = true, r, b
				return true
			}
			if !f.roomy && r.room() >= need {
				f.roomy, f.room, f.roomBlock = true, r, b
			}
			return false
		})
		return f.found, err
	})
	return f, err
}
