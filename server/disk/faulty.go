package disk

import (
	"errors"
	"sync"
	"syscall"
)

// ErrInjected is the error of a Fault that names no other.
var ErrInjected = errors.New("an injected fault")

// Op is a kind of operation of a Disk or a File.
type Op uint8

// The operations that can go wrong.
const (
	OpOpen Op = iota
	OpRemove
	OpRename
	OpList
	OpSyncDir
	OpRead
	OpWrite
	OpSync
	OpTruncate
	opCount
)

// Kind is what goes wrong.
type Kind uint8

const (
	// Fail does nothing and returns the error.
	Fail Kind = iota
	// Short writes the first half of the bytes and returns the error.
	Short
	// Lose, of a Sync, returns the error and has what was to be synced lost in
	// the next crash, whatever is synced later; until then it can be read.
	// This is what Linux does. A Faulty around a Memory does it.
	Lose
	// Flip inverts a bit of what was read, and returns no error.
	Flip
	// Stall waits until Release is called and goes on as if nothing had been.
	Stall
)

// Fault makes one operation go wrong.
type Fault struct {
	Op   Op
	Nth  int // which operation of this kind, counted from 1 since the Faulty was made
	Kind Kind
	Err  error // nil means ErrInjected
	Bit  int   // which bit of what was read, modulo their number
}

func (f Fault) err() error {
	if f.Err == nil {
		return ErrInjected
	}
	return f.Err
}

// Faulty is a Disk on which chosen operations go wrong. It counts the
// operations, so that a test can go through all of them.
type Faulty struct {
	disk    Disk
	stalled chan struct{}
	release chan struct{}
	once    sync.Once

	mu struct {
		sync.Mutex
		counts [opCount]int
		faults []Fault
		room   int64 // bytes that may still be written; below 0: any number
	}
}

// NewFaulty returns a disk that does what d does, except for the faults. At
// most one of them may be a Stall.
func NewFaulty(d Disk, faults ...Fault) *Faulty {
	f := &Faulty{disk: d, stalled: make(chan struct{}), release: make(chan struct{})}
	f.mu.faults = faults
	f.mu.room = -1
	return f
}

// Inject adds a fault.
func (f *Faulty) Inject(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.faults = append(f.mu.faults, fault)
}

// Room lets so many bytes more be written. The write that goes beyond it
// writes what fits and returns ENOSPC, as do all later ones.
func (f *Faulty) Room(bytes int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.room = bytes
}

// Count returns how many operations of a kind there were.
func (f *Faulty) Count(op Op) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.counts[op]
}

// Stalled is closed when an operation waits for Release.
func (f *Faulty) Stalled() <-chan struct{} { return f.stalled }

// Release lets the operation that stalls, or will stall, go on.
func (f *Faulty) Release() { f.once.Do(func() { close(f.release) }) }

// next counts an operation and returns what is to go wrong with it.
func (f *Faulty) next(op Op) (Fault, bool) {
	f.mu.Lock()
	f.mu.counts[op]++
	var hit Fault
	found := false
	for _, fault := range f.mu.faults {
		if fault.Op == op && fault.Nth == f.mu.counts[op] {
			hit, found = fault, true
		}
	}
	f.mu.Unlock()
	if found && hit.Kind == Stall {
		close(f.stalled)
		<-f.release
		return Fault{}, false
	}
	return hit, found
}

// fails counts an operation that has no way to go wrong but to fail.
func (f *Faulty) fails(op Op) error {
	if fault, ok := f.next(op); ok {
		return fault.err()
	}
	return nil
}

// take returns how many of n bytes may be written.
func (f *Faulty) take(n int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.room < 0 {
		return n
	}
	n = int(min(int64(n), f.mu.room))
	f.mu.room -= int64(n)
	return n
}

// Open implements Disk.
func (f *Faulty) Open(name string) (File, error) {
	if err := f.fails(OpOpen); err != nil {
		return nil, err
	}
	file, err := f.disk.Open(name)
	if err != nil {
		return nil, err
	}
	return &faultyFile{File: file, disk: f}, nil
}

// Remove implements Disk.
func (f *Faulty) Remove(name string) error {
	if err := f.fails(OpRemove); err != nil {
		return err
	}
	return f.disk.Remove(name)
}

// Rename implements Disk.
func (f *Faulty) Rename(from, to string) error {
	if err := f.fails(OpRename); err != nil {
		return err
	}
	return f.disk.Rename(from, to)
}

// List implements Disk.
func (f *Faulty) List() ([]string, error) {
	if err := f.fails(OpList); err != nil {
		return nil, err
	}
	return f.disk.List()
}

// SyncDir implements Disk.
func (f *Faulty) SyncDir() error {
	if err := f.fails(OpSyncDir); err != nil {
		return err
	}
	return f.disk.SyncDir()
}

type faultyFile struct {
	File
	disk *Faulty
}

func (f *faultyFile) ReadAt(p []byte, off int64) (int, error) {
	fault, ok := f.disk.next(OpRead)
	if ok && fault.Kind != Flip {
		return 0, fault.err()
	}
	n, err := f.File.ReadAt(p, off)
	if ok && n > 0 {
		bit := fault.Bit % (8 * n)
		p[bit/8] ^= 1 << (bit % 8)
	}
	return n, err
}

func (f *faultyFile) WriteAt(p []byte, off int64) (int, error) {
	fault, ok := f.disk.next(OpWrite)
	switch {
	case ok && fault.Kind == Short:
		n, err := f.File.WriteAt(p[:len(p)/2], off)
		if err == nil {
			err = fault.err()
		}
		return n, err
	case ok:
		return 0, fault.err()
	}
	fits := f.disk.take(len(p))
	n, err := f.File.WriteAt(p[:fits], off)
	if err == nil && fits < len(p) {
		err = syscall.ENOSPC
	}
	return n, err
}

func (f *faultyFile) Sync() error {
	fault, ok := f.disk.next(OpSync)
	if !ok {
		return f.File.Sync()
	}
	if m, in := f.File.(*memoryFile); in && fault.Kind == Lose {
		m.lose()
	}
	return fault.err()
}

func (f *faultyFile) Truncate(size int64) error {
	if err := f.disk.fails(OpTruncate); err != nil {
		return err
	}
	return f.File.Truncate(size)
}
