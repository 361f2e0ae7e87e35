package wal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	tidwall "github.com/tidwall/wal"

	"github.com/tidemark/tidemark/occ"
)

const (
	// DefaultSegmentBytes is the segment size of the zero Options. Beginning a
	// segment costs five syncs, which should be few beside those of the entries;
	// on the other hand the library holds the newest segment in a buffer that it
	// moves whenever it grows, which costs the more the larger segments are.
	DefaultSegmentBytes = 2 << 20

	filePerm = 0o640
	dirPerm  = 0o750
)

// Options of a Disk; the zero value works.
type Options struct {
	// SegmentBytes is the size at which a segment is closed and the next one
	// begun; an entry never spans two. 0 means DefaultSegmentBytes.
	SegmentBytes int
}

// Open verifies the log of the store in dir, mends what a crash left, and
// opens it; a directory that is missing or empty becomes an empty log. The
// report says what was found and mended. Damage gives a *CorruptError, and
// the directory is left untouched; see the package comment.
func Open(dir string, store occ.StoreID, opts Options) (*Disk, Report, error) {
	p, report, err := Prepare(dir, store)
	if err != nil {
		return nil, report, err
	}
	d, err := p.Open(opts)
	return d, report, err
}

// Prepared is the log of a directory that was verified, and in which nothing
// was created or changed yet.
type Prepared struct {
	dir   string
	store occ.StoreID
	files files
	verified
}

// Prepare is the first half of Open, for those who may not want what they find:
// it verifies and changes nothing.
func Prepare(dir string, store occ.StoreID) (*Prepared, Report, error) {
	v, err := verify(dir, store)
	if err != nil {
		return nil, v.report, err
	}
	return &Prepared{dir, store, osFiles(), v}, v.report, nil
}

// Open is the second half, and to be called once: it mends and opens. Nobody
// may have changed the directory meanwhile.
func (v *Prepared) Open(opts Options) (*Disk, error) {
	dir := v.dir
	if opts.SegmentBytes <= 0 {
		opts.SegmentBytes = DefaultSegmentBytes
	}
	if err := makeDir(v.files, dir); err != nil {
		return nil, fmt.Errorf("create commit log: %w", err)
	}
	if err := v.settle(v.files, dir); err != nil {
		return nil, fmt.Errorf("mend commit log: %w", err)
	}
	log, err := tidwall.Open(dir, &tidwall.Options{
		SegmentSize:      opts.SegmentBytes,
		SegmentCacheSize: 1,
		DirPerms:         dirPerm,
		FilePerms:        filePerm,
	})
	if err != nil {
		return nil, fmt.Errorf("open commit log: %w", err)
	}
	d := &Disk{dir: dir, store: v.store, files: v.files, segment: int64(opts.SegmentBytes)}
	d.mu.log = log
	d.mu.head = Head{Index: v.head.index - 1, CRC: v.head.prev, Epoch: v.head.epoch}
	d.mu.starts = []uint64{}
	for _, s := range v.layout.segments {
		d.mu.starts = append(d.mu.starts, s.first)
	}
	if len(d.mu.starts) == 0 {
		d.mu.starts = append(d.mu.starts, 1) // just created by the library
	}
	d.mu.marked = v.bounds.stored
	err = errors.Join(d.agree(), d.measureTail())
	if err == nil && !d.mu.marked && d.mu.head.Index > 0 {
		err = d.mark() // a crash was faster, or an older program wrote the log
	}
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return d, nil
}

// makeDir creates dir durably, if it does not exist.
func makeDir(f files, dir string) error {
	ok, err := exists(dir)
	if ok || err != nil {
		return err
	}
	if err := os.MkdirAll(dir, dirPerm); err != nil {
		return err
	}
	return f.syncDir(filepath.Dir(dir))
}

// agree checks that the library sees the entries that were verified, and
// makes the names in the directory durable.
func (d *Disk) agree() error {
	last, err := d.mu.log.LastIndex()
	if err != nil {
		return fmt.Errorf("open commit log: %w", err)
	}
	if last != d.mu.head.Index {
		return fmt.Errorf("open commit log: library ends at entry %d, verification at %d", last, d.mu.head.Index)
	}
	return d.files.syncDir(d.dir)
}
