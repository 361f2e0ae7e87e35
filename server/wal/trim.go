package wal

import "fmt"

// Trim implements Log. It removes whole segments only, so that its cost is
// bounded by that of copying one.
func (d *Disk) Trim(upTo uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mu.closed {
		return ErrClosed
	}
	if d.mu.poison != nil {
		return fmt.Errorf("%w: %w", ErrPoisoned, d.mu.poison)
	}
	keep := 0
	for keep+1 < len(d.mu.starts) && d.mu.starts[keep+1] <= d.mu.head.Index && d.mu.starts[keep+1]-1 <= upTo {
		keep++
	}
	if keep == 0 {
		return nil
	}
	if err := d.trimTo(keep); err != nil {
		d.mu.poison = fmt.Errorf("trim up to entry %d: %w", upTo, err)
		return d.mu.poison
	}
	d.mu.starts = d.mu.starts[keep:]
	return nil
}

// trimTo removes the segments before number keep. The new first index is
// durable before anything is removed, so that a segment that a trim removed
// can be told from one that is missing.
func (d *Disk) trimTo(keep int) error {
	first := d.mu.starts[keep]
	if err := (bounds{first: first, tail: d.mu.starts[len(d.mu.starts)-1]}).write(d.files, d.dir); err != nil {
		return err
	}
	if err := d.mu.log.TruncateFront(first); err != nil {
		return err
	}
	return d.files.syncDir(d.dir)
}
