package wal

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tidemark/tidemark/occ"
)

// Entry is a whole entry that a survey met.
type Entry struct {
	// Segment is the path of the file, Offset where the entry begins there,
	// Bytes its length, both with the library's prefix.
	Segment string
	Offset  int64
	Bytes   int64

	Index uint64
	Epoch uint64
	// CRC is its checksum, Prev that of its predecessor, which it repeats.
	CRC, Prev uint32
	// Payload is valid until the function that got it returns.
	Payload []byte
}

// Place names where the entry is.
func (e Entry) Place() string {
	return fmt.Sprintf("%s, offset %d, entry %d", e.Segment, e.Offset, e.Index)
}

// Damage is a place of a log that does not hold what should stand there.
type Damage struct {
	// Segment is the path of the file, Offset where the damage begins, Bytes
	// how much of the file it takes: 0 if something is missing.
	Segment string
	Offset  int64
	Bytes   int64
	// Index is that of the first entry that should stand there, Lost how many
	// are gone, as far as what follows tells.
	Index, Lost uint64
	// Reason says what was found, and what follows it in the file.
	Reason string
	// Torn says that this is the end of the log and no whole entry follows:
	// were all else sound, Open would cut it off.
	Torn bool
}

// Visitor is told what a survey meets, in the order of the log. An error ends
// the survey and is returned as it is. Nil functions are not called.
type Visitor struct {
	Segment func(path string, bytes int64) error
	Entry   func(Entry) error
	Damage  func(Damage) error
}

// Extent is what a survey looked at.
type Extent struct {
	// Store is the one whose entries were taken for the log's.
	Store occ.StoreID
	// Segments and Bytes count the files of the log, damage included.
	Segments int
	Bytes    int64
	// Leftovers are files of an interrupted trim or replacement.
	Leftovers []string
}

// Survey reads the log in dir as far as it can be read: it goes on past
// damage with the next whole entry that can belong to the log. It changes
// nothing. A log that Open accepts has no damage, or a torn end and nothing
// else; one that Open refuses has at least one place that is not torn, and
// the first is the one that Open names. A directory that is missing is an
// empty log. The zero store stands for that of the first entry that begins a
// segment.
//
// It holds one entry in memory, and believes no length before it has seen the
// checksum. Errors are those of v, of the operating system, and a *VersionError
// for the first thing that a newer program wrote: it is whole, and no damage.
func Survey(dir string, store occ.StoreID, v Visitor) (Extent, error) {
	s := survey{visit: v}
	s.chain.store = store
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return s.extent, nil
	}
	segments, err := s.layout(dir)
	if err != nil {
		return s.extent, err
	}
	if s.chain.store == (occ.StoreID{}) {
		if s.chain.store, err = firstStore(segments); err != nil {
			return s.extent, err
		}
	}
	s.extent.Store = s.chain.store
	for i := range segments {
		if err := s.segment(segments, i); err != nil {
			return s.extent, err
		}
	}
	return s.extent, s.flush()
}

type survey struct {
	visit   Visitor
	extent  Extent
	chain   chain
	first   uint64 // index of the oldest entry kept
	bounded bool   // it was durable: there are bounds
	ordered bool   // the names are those of a log that was not tampered with
	payload []byte
	pending *Damage // waits for more of the same
}

// layout returns the segments in order, and reports what is wrong with their
// names.
func (s *survey) layout(dir string) ([]segment, error) {
	var l layout
	b, err := readBounds(dir)
	if err == nil {
		l, err = arrange(dir, b)
	}
	arranged := err == nil
	if arranged {
		s.extent.Leftovers = l.leftovers
		err = l.complete(dir, b)
	}
	s.ordered, s.bounded = err == nil, b.stored
	if err != nil {
		if err := s.misfit(err, 0); err != nil {
			return nil, err
		}
	}
	if !arranged {
		if l.segments, err = everySegment(dir); err != nil {
			return nil, err
		}
	}
	s.first = 1
	if len(l.segments) > 0 {
		s.first = l.segments[0].first
	}
	s.chain.index, s.chain.prevKnown = s.first, s.first == 1
	return l.segments, nil
}

// everySegment lists the files that hold entries, whatever else is wrong.
func everySegment(dir string) (all []segment, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list commit log: %w", err)
	}
	for _, f := range files {
		first, suffix, ok := splitName(f.Name())
		if ok && f.Type().IsRegular() && (suffix == "" || suffix == startSuffix || suffix == endSuffix) {
			all = append(all, segment{filepath.Join(dir, f.Name()), first})
		}
	}
	slices.SortStableFunc(all, func(a, b segment) int { return cmp.Compare(a.first, b.first) })
	return all, nil
}

// firstStore returns the store of the first whole entry that begins a
// segment, zero if there is none.
func firstStore(segments []segment) (store occ.StoreID, err error) {
	for _, g := range segments {
		f, err := os.Open(g.path)
		if err != nil {
			return store, fmt.Errorf("read commit log: %w", err)
		}
		h, n, reason, err := next(newWalkReader(f))
		f.Close()
		if err != nil {
			return store, fmt.Errorf("read commit log: %w", err)
		}
		if n > 0 && reason == "" {
			return h.store, nil
		}
	}
	return store, nil
}

// misfit reports what an error of verification says, about so many bytes. An
// error that is not about damage comes back.
func (s *survey) misfit(err error, bytes int64) error {
	var corrupt *CorruptError
	var store *StoreError
	d := Damage{Index: s.chain.index, Bytes: bytes}
	switch {
	case errors.As(err, &corrupt):
		d.Segment, d.Offset, d.Index, d.Reason = corrupt.Segment, corrupt.Offset, corrupt.Index, corrupt.Reason
	case errors.As(err, &store):
		d.Segment, d.Offset = store.Segment, store.Offset
		d.Reason = fmt.Sprintf("belongs to store %v, not to %v", store.Have, store.Want)
	default:
		return err
	}
	return s.damage(d)
}

// damage reports d, after it has waited for more of the same behind it: a log
// of another store is one damage, not one for each entry.
func (s *survey) damage(d Damage) error {
	if p := s.pending; p != nil && p.Segment == d.Segment && p.Bytes > 0 && p.Offset+p.Bytes == d.Offset && p.Reason == d.Reason && !d.Torn {
		p.Bytes += d.Bytes
		return nil
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.pending = &d
	return nil
}

// flush reports the damage that waits.
func (s *survey) flush() error {
	d := s.pending
	s.pending = nil
	if d == nil || s.visit.Damage == nil {
		return nil
	}
	return s.visit.Damage(*d)
}
