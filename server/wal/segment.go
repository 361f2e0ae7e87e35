package wal

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/server/storedir/durable"
)

const (
	nameDigits  = 20
	startSuffix = ".START"
	endSuffix   = ".END"
	tailTemp    = "tail" + durable.TempSuffix
)

// segment is a file of entries; first is the index of the first one.
type segment struct {
	path  string
	first uint64
}

// layout is what the names in a log directory say.
type layout struct {
	// segments are the files that make up the log, in order. When a trim was
	// interrupted, the first one may still carry the suffix ".START".
	segments []segment
	// leftovers are the files to be removed: temporary ones, and segments
	// that an interrupted trim was about to remove.
	leftovers []string
}

// segmentName is the library's name for the segment that begins at index.
func segmentName(index uint64) string { return fmt.Sprintf("%0*d", nameDigits, index) }

// started reports whether the file is the outcome of a trim that was
// interrupted before it got its final name.
func (s segment) started() bool { return strings.HasSuffix(s.path, startSuffix) }

// readLayout lists dir and checks the names against b.
func readLayout(dir string, b bounds) (layout, error) {
	l, err := arrange(dir, b)
	if err != nil {
		return l, err
	}
	return l, l.complete(dir, b)
}

// arrange tells the files that make up the log from leftovers.
//
// The library trims in four steps: it writes the new first segment N under
// the name N.START.TEMP, syncs it and renames it to N.START; removes the
// segments before it and the one that it replaces; and renames N.START to N.
// Before the first step, bounds names N. So a complete N, under either name,
// makes all older segments leftovers.
func arrange(dir string, b bounds) (layout, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return layout{}, fmt.Errorf("list commit log: %w", err)
	}
	var l layout
	var plain, started []segment
	for _, f := range files { // in the order of names, hence of indexes
		name, path := f.Name(), filepath.Join(dir, f.Name())
		if f.IsDir() {
			continue
		}
		if name == boundsName+durable.TempSuffix || name == tailTemp {
			l.leftovers = append(l.leftovers, path)
			continue
		}
		first, suffix, ok := splitName(name)
		if !ok {
			continue // not a name of the library's: it ignores it, and so do we
		}
		switch suffix {
		case "":
			plain = append(plain, segment{path, first})
		case startSuffix:
			started = append(started, segment{path, first})
		case startSuffix + durable.TempSuffix, endSuffix + durable.TempSuffix:
			l.leftovers = append(l.leftovers, path)
		case endSuffix:
			return l, &CorruptError{Segment: path, Index: first, Reason: "truncation at the end of the log, which this program never does"}
		}
	}
	if len(started) > 1 || len(started) == 1 && started[0].first != b.first {
		return l, &CorruptError{Segment: started[0].path, Index: started[0].first,
			Reason: fmt.Sprintf("unexpected leftover of a trim; the log begins at entry %d", b.first)}
	}
	l.segments = started
	for _, s := range plain {
		if len(started) == 1 && s.first <= b.first {
			l.leftovers = append(l.leftovers, s.path)
			continue
		}
		if s.first == b.first {
			for _, old := range l.segments {
				l.leftovers = append(l.leftovers, old.path)
			}
			l.segments = nil
		}
		l.segments = append(l.segments, s)
	}
	return l, nil
}

// complete checks that the segments that bounds promises are there.
func (l layout) complete(dir string, b bounds) error {
	n := len(l.segments)
	if n == 0 && !b.stored {
		return nil // a log that was never written to
	}
	if n == 0 || l.segments[0].first > b.first {
		return &CorruptError{Segment: filepath.Join(dir, segmentName(b.first)), Index: b.first, Reason: "segment is missing"}
	}
	if l.segments[n-1].first < b.tail {
		return &CorruptError{Segment: filepath.Join(dir, segmentName(b.tail)), Index: b.tail, Reason: "segment is missing"}
	}
	return nil
}

// splitName takes a file name of the library's apart.
func splitName(name string) (first uint64, suffix string, ok bool) {
	if len(name) < nameDigits {
		return 0, "", false
	}
	first, err := strconv.ParseUint(name[:nameDigits], 10, 64)
	return first, name[nameDigits:], err == nil && first > 0
}
