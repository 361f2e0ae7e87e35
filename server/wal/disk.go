package wal

import (
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"sync"

	tidwall "github.com/tidwall/wal"

	"github.com/tidemark/tidemark/occ"
)

// keepBuffer bounds the buffer kept between appends.
const keepBuffer = 2 << 20

// Disk is a log in a directory of its own. The directory must be locked by
// the caller against other processes.
type Disk struct {
	dir     string
	store   occ.StoreID
	files   files
	segment int64 // the library begins a new one at this size

	mu struct {
		sync.Mutex
		log    *tidwall.Log
		starts []uint64 // first index of every segment, in order
		tail   int64    // bytes in the newest segment
		marked bool     // the file "bounds" is there
		head   Head
		epoch  uint64 // of the writer, 0 before the first Fence
		buf    []byte
		poison error // first failure of a write or sync
		closed bool
	}
}

var _ Log = (*Disk)(nil)

// Fence implements Log. The epoch must be above that of every entry.
func (d *Disk) Fence(epoch uint64) (Head, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mu.closed {
		return Head{}, ErrClosed
	}
	if highest := d.highest(); epoch <= highest {
		return Head{}, fmt.Errorf("%w: epoch %d is not above %d", ErrFenced, epoch, highest)
	}
	d.mu.epoch = epoch
	return d.mu.head, nil
}

// Epoch implements Log.
func (d *Disk) Epoch() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.highest()
}

// highest is the epoch that the next writer must exceed. The mutex is held.
func (d *Disk) highest() uint64 { return max(d.mu.epoch, d.mu.head.Epoch) }

// Append implements Log.
func (d *Disk) Append(payload []byte) (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.mu.closed:
		return 0, ErrClosed
	case d.mu.poison != nil:
		return 0, fmt.Errorf("%w: %w", ErrPoisoned, d.mu.poison)
	case d.mu.epoch == 0:
		return 0, fmt.Errorf("%w: append before Fence", ErrFenced)
	case len(payload) > MaxPayload:
		return 0, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(payload), MaxPayload)
	}
	index := d.mu.head.Index + 1
	entry, crc := appendEntry(d.mu.buf[:0], header{
		store: d.store, epoch: d.mu.epoch, index: index, prev: d.mu.head.CRC,
	}, payload)
	if cap(entry) <= keepBuffer {
		d.mu.buf = entry
	}
	err := d.mu.log.Write(index, entry) // writes and syncs
	if d.mu.tail += int64(uvarintLen(len(entry)) + len(entry)); err == nil && d.mu.tail >= d.segment {
		err = d.noteRoll(index)
	}
	if err == nil && !d.mu.marked {
		err = d.mark()
	}
	if err != nil {
		d.mu.poison = fmt.Errorf("append entry %d: %w", index, err)
		return 0, fmt.Errorf("%w: %w", ErrUnknown, d.mu.poison)
	}
	d.mu.head = Head{Index: index, CRC: crc, Epoch: d.mu.epoch}
	return index, nil
}

// uvarintLen is the length of the prefix that the library gives an entry of n
// bytes.
func uvarintLen(n int) int { return (bits.Len64(uint64(n)|1) + 6) / 7 }

// noteRoll looks whether the library began a segment before or after writing
// entry index, and makes its name durable: the library does not. It begins one
// only when the newest has reached its full size.
func (d *Disk) noteRoll(index uint64) error {
	rolled := false
	for _, first := range [2]uint64{index, index + 1} {
		if first <= d.mu.starts[len(d.mu.starts)-1] {
			continue
		}
		ok, err := exists(filepath.Join(d.dir, segmentName(first)))
		if err != nil {
			return err
		}
		if ok {
			d.mu.starts = append(d.mu.starts, first)
			rolled = true
		}
	}
	if !rolled {
		return nil
	}
	if err := d.measureTail(); err != nil {
		return err
	}
	if err := d.files.syncDir(d.dir); err != nil {
		return err
	}
	return d.mark()
}

// mark makes durable that the segments hold entries, so that their loss is
// noticed.
func (d *Disk) mark() error {
	err := bounds{first: d.mu.starts[0], tail: d.mu.starts[len(d.mu.starts)-1]}.write(d.files, d.dir)
	d.mu.marked = err == nil
	return err
}

// measureTail takes the size of the newest segment from its file.
func (d *Disk) measureTail() error {
	info, err := os.Stat(filepath.Join(d.dir, segmentName(d.mu.starts[len(d.mu.starts)-1])))
	if err != nil {
		return err
	}
	d.mu.tail = info.Size()
	return nil
}

// Head implements Log.
func (d *Disk) Head() Head {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.mu.head
}

// Close implements Log.
func (d *Disk) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mu.closed {
		return ErrClosed
	}
	d.mu.closed = true
	if err := d.mu.log.Close(); err != nil && d.mu.poison == nil {
		return fmt.Errorf("close commit log: %w", err)
	}
	return nil
}
