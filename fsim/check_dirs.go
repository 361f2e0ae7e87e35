package fsim

import (
	"errors"
	"fmt"
)

// readDirs reads the entries of all directories, the unreachable ones too.
func (c *checker) readDirs() error {
	for i := range c.dirs {
		d := &c.dirs[i]
		names := map[string]bool{}
		err := c.fs.dirBlocks(c.tx, d.ino, &d.inode, 0, d.inode.size>>c.fs.shift, func(b dirBlock) (bool, error) {
			err := b.each(func(r record) bool {
				if !r.free() {
					c.entry(d.ino, dirPlace(d.ino, b.at+uint64(r.off)), r, names)
				}
				return false
			})
			return false, c.tell(BadRecord, err)
		})
		if err := c.tell(BadSize, err); err != nil {
			return err
		}
	}
	return nil
}

// tell turns corruption into a problem and lets other errors pass. A bad
// pointer of a directory is reported as what it does to the directory, too.
func (c *checker) tell(kind ProblemKind, err error) error {
	if bad, ok := errors.AsType[*CorruptError](err); ok {
		c.report.add(kind, bad.Place, "%s", bad.Detail)
		return nil
	}
	return err
}

// entry notes an entry of a directory.
func (c *checker) entry(dir uint32, place string, r record, names map[string]bool) {
	if names[string(r.name)] {
		c.report.add(DuplicateName, place, "second entry %q", r.name)
	}
	names[string(r.name)] = true
	n := c.inode(r.h.Ino)
	if n == nil || n.gen != r.h.Gen || n.kind != r.kind {
		why := "which is free"
		if n != nil {
			why = fmt.Sprintf("which is a %s of generation %d", n.kind, n.gen)
		}
		c.report.add(Dangling, place, "%q is the %s inode %d generation %d, %s", r.name, r.kind, r.h.Ino, r.h.Gen, why)
		return
	}
	n.entries++
	if n.kind != Dir {
		return
	}
	if r.h.Ino != rootIno && n.parent != dir {
		c.report.add(WrongParent, place, "%q is directory %d, whose parent is %d", r.name, r.h.Ino, n.parent)
	}
	if _, ok := c.parents[r.h.Ino]; !ok && r.h.Ino != rootIno {
		c.parents[r.h.Ino] = dir
	} else if len(c.extra) < maxProblems {
		c.extra = append(c.extra, edge{parent: dir, child: r.h.Ino})
	}
}

// checkPaths looks for cycles: among the first entries of directories, where
// they are cut off from the root, and made by further entries.
func (c *checker) checkPaths() {
	done := map[uint32]bool{rootIno: true}
	for i := range c.dirs {
		onPath := map[uint32]bool{}
		for ino := c.dirs[i].ino; ino != 0 && !done[ino]; ino = c.parents[ino] {
			if onPath[ino] {
				c.report.add(Cycle, inodePlace(ino), "directory is its own ancestor")
				break
			}
			onPath[ino] = true
		}
		for ino := c.dirs[i].ino; ino != 0 && !done[ino]; ino = c.parents[ino] {
			done[ino] = true
		}
	}
	for _, e := range c.extra {
		ino := e.parent
		// No path is longer than there are directories; one that is runs in
		// a cycle reported above.
		for range c.dirs {
			if ino == e.child {
				c.report.add(Cycle, inodePlace(ino), "directory %d below it has an entry of it", e.parent)
				break
			}
			ino = c.parents[ino]
		}
	}
}
