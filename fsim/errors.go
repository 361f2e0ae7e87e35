package fsim

import (
	"errors"
	"fmt"
)

// Errors that operations return, wrapped with the operation and its subject.
// Errors of the transaction are wrapped too, and never replaced.
var (
	// ErrNotExist: the directory has no such entry.
	ErrNotExist = errors.New("no such entry")
	// ErrExist: the directory already has an entry of that name.
	ErrExist = errors.New("entry exists")
	// ErrNotDir: the handle is not that of a directory.
	ErrNotDir = errors.New("not a directory")
	// ErrIsDir: the handle is that of a directory.
	ErrIsDir = errors.New("is a directory")
	// ErrIsSymlink: the handle is that of a symbolic link.
	ErrIsSymlink = errors.New("is a symbolic link")
	// ErrNotEmpty: the directory to be removed or replaced has entries.
	ErrNotEmpty = errors.New("directory not empty")
	// ErrNoSpace: no block, or no inode, is free in any group.
	ErrNoSpace = errors.New("no space left on volume")
	// ErrStale: the handle's inode was freed, or reused for another file.
	ErrStale = errors.New("stale file handle")
	// ErrName: a name that is empty, longer than MaxName, "." or "..", or
	// has a '/' or a zero byte.
	ErrName = errors.New("invalid name")
	// ErrTooLarge: an offset or size beyond what an inode can map.
	ErrTooLarge = errors.New("file too large")
	// ErrTooManyLinks: the link count is at its maximum, 65535.
	ErrTooManyLinks = errors.New("too many links")
	// ErrLoop: a directory would come to lie in itself or below itself.
	ErrLoop = errors.New("directory would contain itself")
	// ErrTooDeep: the target of a rename lies deeper than MaxDepth.
	ErrTooDeep = errors.New("directories nested too deeply")
	// ErrInvalid: an argument that is out of its domain, such as a negative
	// offset.
	ErrInvalid = errors.New("invalid argument")
	// ErrGeometry: a shape that a volume cannot have.
	ErrGeometry = errors.New("invalid geometry")
	// ErrNotBlank: Mkfs found something where the superblock goes.
	ErrNotBlank = errors.New("volume is not blank")
	// ErrCorrupt matches every *CorruptError.
	ErrCorrupt = errors.New("corrupt volume")
)

// CorruptError says that a block holds something that cannot be right.
type CorruptError struct {
	// Place names the structure, such as "inode 17" or "directory 1 offset
	// 4096".
	Place string
	// Detail says what is wrong with it.
	Detail string
}

// Error returns the place and the detail.
func (e *CorruptError) Error() string {
	return "corrupt volume: " + e.Place + ": " + e.Detail
}

// Is reports whether target is ErrCorrupt.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

func corrupt(place, format string, args ...any) error {
	return &CorruptError{Place: place, Detail: fmt.Sprintf(format, args...)}
}

func inodePlace(ino uint32) string { return fmt.Sprintf("inode %d", ino) }

func opErr(op string, ino uint32, err error) error {
	return fmt.Errorf("fsim: %s inode %d: %w", op, ino, err)
}

func nameErr(op string, dir uint32, name string, err error) error {
	return fmt.Errorf("fsim: %s %q in directory %d: %w", op, name, dir, err)
}
