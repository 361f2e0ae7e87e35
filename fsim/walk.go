package fsim

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// MaxPath is about how long in bytes the path of a directory may be before
// Walk shortens it.
const MaxPath = 4096

// Walk calls fn for the root, whose path is "/", and for everything below it,
// each directory before what is in it and entries in the byte order of their
// names. A file with several entries is visited at each. What lies in a
// directory whose path is longer than MaxPath has, in place of that, a path
// that begins with a hash of it: "/...", 64 hexadecimal digits. An error of fn ends
// the walk and is returned as it is. A directory that is met twice is
// corruption.
func (fs *FS) Walk(tx Tx, fn func(path string, info Info, h Handle) error) error {
	type visit struct {
		path string
		h    Handle
	}
	seen := map[uint32]bool{}
	for stack := []visit{{"/", fs.Root()}}; len(stack) > 0; {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		info, err := fs.Stat(tx, v.h)
		if err != nil {
			return fmt.Errorf("fsim: walk %q: %w", v.path, err)
		}
		if err := fn(v.path, info, v.h); err != nil {
			return err
		}
		if info.Kind != Dir {
			continue
		}
		if seen[v.h.Ino] {
			return fmt.Errorf("fsim: walk %q: %w", v.path, corrupt(inodePlace(v.h.Ino), "directory with two entries"))
		}
		seen[v.h.Ino] = true
		list, err := fs.ReadDir(tx, v.h)
		if err != nil {
			return fmt.Errorf("fsim: walk %q: %w", v.path, err)
		}
		// Last name first, as the stack turns them round.
		slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(b.Name, a.Name) })
		prefix := strings.TrimSuffix(v.path, "/") + "/"
		if len(prefix) > MaxPath {
			prefix = fmt.Sprintf("/...%x/", sha256.Sum256([]byte(prefix)))
		}
		for _, entry := range list {
			stack = append(stack, visit{prefix + entry.Name, entry.Handle})
		}
	}
	return nil
}

// eachBlock calls visit for the allocated data blocks of an inode in order.
// Holes cost nothing, so an enormous sparse file is no trouble. Meeting more
// blocks than the inode counts is corruption, which bounds the work where
// pointers form a cycle.
func (fs *FS) eachBlock(tx Tx, ino uint32, n *inode, visit func(fb uint64, rel uint32) error) error {
	left := n.blocks
	var descend func(p uint32, depth int, base uint64) error
	descend = func(p uint32, depth int, base uint64) error {
		if p, err := fs.pointer(ino, p); p == 0 || err != nil {
			return err
		}
		if left == 0 {
			return corrupt(inodePlace(ino), "has more blocks than it counts")
		}
		left--
		if depth == 0 {
			return visit(base, p)
		}
		b, err := fs.read(tx, p)
		if err != nil {
			return err
		}
		for i := 0; i < fs.blockSize; i += 4 {
			if err := descend(le.Uint32(b[i:]), depth-1, base+uint64(i/4)*fs.span(depth-1)); err != nil {
				return err
			}
		}
		return nil
	}
	for slot, p := range n.ptr {
		base, depth := fs.slotBase(slot)
		if err := descend(p, depth, base); err != nil {
			return err
		}
	}
	return nil
}
