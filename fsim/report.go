package fsim

import "fmt"

// Problem kinds, as Check reports them.
const (
	// BadGroup: a descriptor or bitmap with bits where there is nothing to
	// describe.
	BadGroup ProblemKind = "bad group"
	// WrongCount: a group's counter differs from its bitmap or inodes.
	WrongCount ProblemKind = "wrong count"
	// DoubleUse: a block that two pointers name.
	DoubleUse ProblemKind = "doubly used block"
	// Leaked: a block marked used that no pointer names.
	Leaked ProblemKind = "leaked block"
	// UsedButFree: a block marked free that a pointer names.
	UsedButFree ProblemKind = "used block marked free"
	// LeakedInode: a free inode marked used.
	LeakedInode ProblemKind = "free inode marked used"
	// InodeMarkedFree: an inode in use marked free.
	InodeMarkedFree ProblemKind = "used inode marked free"
	// BadInode: an inode of no kind, with reserved bytes set or something
	// left over in a free one, or a root that is not a directory.
	BadInode ProblemKind = "bad inode"
	// BadPointer: a pointer to something that is not a data block.
	BadPointer ProblemKind = "bad pointer"
	// BadSize: an impossible size, a block past the size, bytes other than
	// zero past it, or a hole in a directory.
	BadSize ProblemKind = "bad size"
	// WrongBlocks: an inode that counts its blocks wrongly.
	WrongBlocks ProblemKind = "wrong block count"
	// WrongLinks: an inode that counts its entries wrongly, or a directory
	// with more than one.
	WrongLinks ProblemKind = "wrong link count"
	// WrongParent: a directory whose parent is not the directory that has its
	// entry.
	WrongParent ProblemKind = "wrong parent"
	// Orphan: an inode in use without an entry. What is below an orphaned
	// directory is not reported again.
	Orphan ProblemKind = "orphan inode"
	// Dangling: an entry whose inode is free, of another generation or of
	// another kind.
	Dangling ProblemKind = "dangling entry"
	// DuplicateName: a second entry of a name in a directory.
	DuplicateName ProblemKind = "duplicate name"
	// BadRecord: a directory record with a bad length, name or kind. The
	// rest of its block is not looked at.
	BadRecord ProblemKind = "bad record"
	// Cycle: a directory that is its own ancestor.
	Cycle ProblemKind = "directory cycle"
)

// ProblemKind sorts problems.
type ProblemKind string

// Problem is one inconsistency.
type Problem struct {
	Kind   ProblemKind
	Place  string // the structure, as in CorruptError
	Detail string
}

// String returns kind, place and detail on one line.
func (p Problem) String() string { return fmt.Sprintf("%s: %s: %s", p.Kind, p.Place, p.Detail) }

// maxProblems bounds a report; a volume of garbage has a problem per byte.
const maxProblems = 1000

// Report is the outcome of Check.
type Report struct {
	// Problems holds the first 1000 problems; More counts the rest.
	Problems []Problem
	More     int
	// What was found in use.
	Files, Dirs, Symlinks, Blocks uint32
}

// OK reports whether the volume is consistent.
func (r *Report) OK() bool { return len(r.Problems) == 0 }

// Err returns nil for a consistent volume, else an error that matches
// ErrCorrupt and tells the first problem and the number of all.
func (r *Report) Err() error {
	if r.OK() {
		return nil
	}
	return fmt.Errorf("fsim: check: %d problems, the first: %w", len(r.Problems)+r.More,
		corrupt(r.Problems[0].Place, "%s: %s", r.Problems[0].Kind, r.Problems[0].Detail))
}

func (r *Report) add(kind ProblemKind, place, format string, args ...any) {
	if len(r.Problems) == maxProblems {
		r.More++
		return
	}
	r.Problems = append(r.Problems, Problem{kind, place, fmt.Sprintf(format, args...)})
}
