package wal

import (
	"fmt"
	"path/filepath"
)

// readEach is Read of every implementation: get returns one entry of those
// from first to last, and says when it was trimmed meanwhile.
func readEach(from, first, last uint64, get func(uint64) ([]byte, error), fn func(uint64, []byte) error) error {
	if from == 0 {
		from = first
	}
	if from < first {
		return trimmed(from, first)
	}
	for index := from; index <= last; index++ {
		payload, err := get(index)
		if err != nil {
			return err
		}
		if err := fn(index, payload); err != nil {
			return err
		}
	}
	return nil
}

func trimmed(index, first uint64) error {
	return fmt.Errorf("%w: asked for %d, the oldest kept is %d", ErrTrimmed, index, first)
}

// Read implements Log. Every entry is verified again.
func (d *Disk) Read(from uint64, fn func(index uint64, payload []byte) error) error {
	d.mu.Lock()
	first, last := d.mu.starts[0], d.mu.head.Index
	d.mu.Unlock()
	return readEach(from, first, last, d.get, fn)
}

// get returns the payload of entry index in memory of its own. It locks for
// one entry only, so that a reader does not hold up the writer for longer.
func (d *Disk) get(index uint64) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch first := d.mu.starts[0]; {
	case d.mu.closed:
		return nil, ErrClosed
	case index < first:
		return nil, trimmed(index, first)
	}
	b, err := d.mu.log.Read(index)
	if err != nil {
		return nil, fmt.Errorf("read entry %d: %w", index, err)
	}
	_, payload, err := openEntry(b, index)
	if err != nil {
		s := d.mu.starts[0]
		for _, first := range d.mu.starts {
			if first <= index {
				s = first
			}
		}
		return nil, &CorruptError{Segment: filepath.Join(d.dir, segmentName(s)), Index: index, Reason: err.Error()}
	}
	return payload, nil
}
