package disk

import (
	"fmt"
	"io"
	"strings"
)

// SectorSize is the number of bytes that a disk writes wholly or not at all.
const SectorSize = 512

// Disk is a directory. Names have no slashes.
type Disk interface {
	// Open opens a file for reading and writing; a file that is missing is
	// created, with no bytes.
	Open(name string) (File, error)
	// Remove removes a file. One that is open can still be used.
	Remove(name string) error
	// Rename gives a file another name, in place of the file that had it.
	Rename(from, to string) error
	// List returns the names of all files in ascending order.
	List() ([]string, error)
	// SyncDir makes the names of the files durable.
	SyncDir() error
}

// File is an open file. ReadAt and WriteAt work as package io says; WriteAt
// behind the end fills the gap with zeros.
type File interface {
	io.ReaderAt
	io.WriterAt
	// Sync makes the file's content durable.
	Sync() error
	// Truncate gives the file a size, in bytes. It is lasting after Sync.
	Truncate(size int64) error
	// Size returns the file's size in bytes.
	Size() (int64, error)
	io.Closer
}

// NameError says that a name does not name a file in the directory.
type NameError struct{ Name string }

// Error returns one line.
func (e *NameError) Error() string { return fmt.Sprintf("%q names no file of a directory", e.Name) }

func checkName(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") {
		return &NameError{Name: name}
	}
	return nil
}
