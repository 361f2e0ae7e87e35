package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/tidemark/tidemark/occ"
)

// Report says what verification found in a log directory.
type Report struct {
	// Segments and Bytes count the files of the log, without Leftovers.
	Segments int
	Bytes    int64
	// First and Last are the indexes of the oldest and newest whole entry;
	// Last is First-1 when there is none.
	First, Last uint64
	// Epoch is that of the newest entry.
	Epoch uint64
	// Torn is the torn end of the log, nil if there is none.
	Torn *Torn
	// Leftovers are files of an interrupted trim or replacement.
	Leftovers []string
}

// Torn is what a crash left of an append that was never confirmed.
type Torn struct {
	// Segment is the path of the file, Offset where the torn part begins,
	// Bytes its length.
	Segment string
	Offset  int64
	Bytes   int64
	// Index is that of the entry that was being written.
	Index  uint64
	Reason string
}

// Verify checks every byte of the log in dir without changing anything. A log
// that Open would refuse gives the same error here. A directory that is missing
// is an empty log.
func Verify(dir string, store occ.StoreID) (Report, error) {
	v, err := verify(dir, store)
	return v.report, err
}

// verified is the state of a log directory that was found sound, apart from
// what settle mends.
type verified struct {
	report Report
	layout layout
	bounds bounds
	// tail is the chain at the beginning of the last segment, head at its
	// end; kept is how much of that segment is whole.
	tail, head chain
	kept       int64
}

func verify(dir string, store occ.StoreID) (verified, error) {
	var v verified
	there, err := exists(dir)
	if err != nil {
		return v, fmt.Errorf("look for commit log: %w", err)
	}
	if v.bounds, err = readBounds(dir); err != nil {
		return v, err
	}
	if there {
		if v.layout, err = readLayout(dir, v.bounds); err != nil {
			return v, err
		}
	}
	v.report.Leftovers = v.layout.leftovers
	v.report.First = 1 // and Last 0: a log that was never written to
	if len(v.layout.segments) > 0 {
		v.report.First = v.layout.segments[0].first
	}
	v.head = chain{store: store, index: v.report.First, prevKnown: v.report.First == 1}
	for i := range v.layout.segments {
		if err := v.segment(i); err != nil {
			return v, err
		}
	}
	return v, nil
}

// noFirst says that the entry is missing that every log has as soon as it has
// bounds: the first one ever, or the one that a trim kept.
const noFirst = "the first entry was durable, and is missing"

// segment verifies one segment after those before it.
func (v *verified) segment(i int) error {
	s, last := v.layout.segments[i], i == len(v.layout.segments)-1
	if s.first != v.head.index {
		before := v.layout.segments[i-1]
		return &CorruptError{Segment: before.path, Offset: v.kept, Index: v.head.index,
			Reason: fmt.Sprintf("segment is short, or one is missing: the next segment begins with entry %d", s.first)}
	}
	v.tail = v.head
	end, bad, err := walk(s.path, &v.head)
	if err != nil {
		return err
	}
	v.kept = end
	v.report.Last, v.report.Epoch = v.head.index-1, v.head.epoch
	v.report.Segments++
	v.report.Bytes += end
	corrupt := func(reason string) error {
		return &CorruptError{Segment: s.path, Offset: end, Index: v.head.index, Reason: reason}
	}
	switch promised := v.bounds.stored && v.head.index == v.report.First; {
	case bad == nil && last && promised:
		return corrupt(noFirst)
	case bad == nil:
		return nil
	case !last:
		return corrupt(bad.reason + ", in a segment that was complete before the next one was begun")
	case s.started():
		return corrupt(bad.reason + ", in a segment that was complete before it got its name")
	case promised:
		return corrupt(bad.reason + ", in the first entry, which was durable")
	}
	found, err := scanBehind(s.path, bad.offset, v.head)
	if err != nil {
		return err
	}
	if found != "" {
		return corrupt(bad.reason + ", and " + found)
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return fmt.Errorf("read commit log: %w", err)
	}
	v.report.Torn = &Torn{Segment: s.path, Offset: end, Bytes: info.Size() - end, Index: v.head.index, Reason: bad.reason}
	return nil
}

// exists reports whether there is a file at path.
func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
