package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"
)

// ErrCrashed is what a Memory answers once it has stopped.
var ErrCrashed = errors.New("the disk has stopped")

// Memory is a Disk in memory. It remembers what is durable and, in order,
// every change that is not.
type Memory struct {
	mu struct {
		sync.Mutex
		names   map[string]*inode // what the program sees
		durable map[string]*inode // what a crash leaves for certain
		pending []change          // what a crash may leave, in order
		done    int               // operations carried out
		left    int               // operations until the disk stops; below 0: it does not
		stopped bool
	}
}

// inode is a file, whatever its name.
type inode struct {
	data []byte // what the program sees
	safe []byte // what a crash leaves for certain
}

// NewMemory returns an empty disk.
func NewMemory() *Memory {
	m := &Memory{}
	m.mu.names = make(map[string]*inode)
	m.mu.durable = make(map[string]*inode)
	m.mu.left = -1
	return m
}

// StopAfter lets n more operations pass and stops the disk in the middle of
// the next one: that one and all later ones, reads included, return
// ErrCrashed, and what it was to change counts as a change that is not
// durable. Operations are what changes the disk: to create, rename or remove
// a file, to write, to truncate, to sync.
func (m *Memory) StopAfter(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.left = n
}

// Operations returns how many operations were carried out.
func (m *Memory) Operations() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mu.done
}

// step counts an operation and reports whether the disk stops in it.
func (m *Memory) step() error {
	if m.mu.stopped || m.mu.left == 0 {
		m.mu.stopped = true
		return ErrCrashed
	}
	if m.mu.left > 0 {
		m.mu.left--
	}
	m.mu.done++
	return nil
}

func (m *Memory) alive() error {
	if m.mu.stopped {
		return ErrCrashed
	}
	return nil
}

// change makes a change, which is not durable yet. The change in which the
// disk stops is noted but not seen by the program.
func (m *Memory) change(c change) error {
	if err := m.alive(); err != nil {
		return err
	}
	err := m.step()
	m.mu.pending = append(m.mu.pending, c)
	if err == nil && c.file != nil {
		c.file.data = c.applyTo(c.file.data)
	} else if err == nil {
		c.rename(m.mu.names)
	}
	return err
}

func notExist(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist} }

// Open implements Disk.
func (m *Memory) Open(name string) (File, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.alive(); err != nil {
		return nil, err
	}
	f, ok := m.mu.names[name]
	if !ok {
		f = &inode{}
		if err := m.change(change{to: name, linked: f}); err != nil {
			return nil, err
		}
	}
	return &memoryFile{disk: m, file: f}, nil
}

// Remove implements Disk.
func (m *Memory) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.names[name] == nil && m.alive() == nil {
		return notExist("remove", name)
	}
	return m.change(change{from: name})
}

// Rename implements Disk.
func (m *Memory) Rename(from, to string) error {
	if err := checkName(to); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.names[from] == nil && m.alive() == nil {
		return notExist("rename", from)
	}
	return m.change(change{from: from, to: to, linked: m.mu.names[from]})
}

// List implements Disk.
func (m *Memory) List() ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.mu.names)), m.alive()
}

// SyncDir implements Disk.
func (m *Memory) SyncDir() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(); err != nil {
		return err
	}
	m.mu.durable = maps.Clone(m.mu.names)
	m.mu.pending = slices.DeleteFunc(m.mu.pending, func(c change) bool { return c.file == nil })
	return nil
}

// memoryFile is an open file.
type memoryFile struct {
	disk *Memory
	file *inode
}

func (f *memoryFile) ReadAt(p []byte, off int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.alive(); err != nil {
		return 0, err
	}
	if off < 0 || off >= int64(len(f.file.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.file.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memoryFile) WriteAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("write at offset %d", off)
	}
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.change(change{file: f.file, at: off, data: slices.Clone(p)}); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (f *memoryFile) Truncate(size int64) error {
	if size < 0 {
		return fmt.Errorf("truncate to %d bytes", size)
	}
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.disk.change(change{file: f.file, at: size, truncates: true})
}

func (f *memoryFile) Sync() error {
	m := f.disk
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(); err != nil {
		return err
	}
	m.mu.pending = slices.DeleteFunc(m.mu.pending, func(c change) bool {
		if c.file == f.file {
			f.file.safe = c.applyTo(f.file.safe)
		}
		return c.file == f.file
	})
	return nil
}

// lose forgets that changes are not durable, so that they never will be.
func (f *memoryFile) lose() {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.disk.mu.pending = slices.DeleteFunc(f.disk.mu.pending, func(c change) bool { return c.file == f.file })
}

func (f *memoryFile) Size() (int64, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return int64(len(f.file.data)), f.disk.alive()
}

func (f *memoryFile) Close() error { return nil }
