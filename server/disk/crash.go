package disk

import (
	"maps"
	"slices"
)

// change is something done to a file's content or, if file is nil, to names.
type change struct {
	file      *inode
	at        int64 // offset of data, or the new size
	data      []byte
	truncates bool

	from, to string // the name that goes, the name that comes
	linked   *inode // the file that to names
}

// rename carries a change of names out. A name that a crash has undone cannot
// go.
func (c change) rename(names map[string]*inode) {
	if c.from != "" {
		delete(names, c.from)
	}
	if c.to != "" {
		names[c.to] = c.linked
	}
}

// resize gives b a size; what is new are zeros.
func resize(b []byte, size int64) []byte {
	if size <= int64(len(b)) {
		clear(b[size:])
		return b[:size]
	}
	grown := slices.Grow(b, int(size)-len(b))[:size]
	clear(grown[len(b):])
	return grown
}

func (c change) applyTo(b []byte) []byte {
	if c.truncates {
		return resize(b, c.at)
	}
	if end := c.at + int64(len(c.data)); end > int64(len(b)) && len(c.data) > 0 {
		b = resize(b, end)
	}
	copy(b[min(c.at, int64(len(b))):], c.data)
	return b
}

// Unsynced names a part of a change that was not durable when the disk
// crashed.
type Unsynced struct {
	// Change counts the changes in the order in which they were made.
	Change int
	// Sector counts the sectors of a write; it is -1 for the size to which
	// a write extends a file, and for a change that has no parts.
	Sector int
}

// Crash returns the disk as it is found after a crash at this moment: what is
// durable, and of the changes that are not, in order, each part for which
// keep returns true. The disk itself is left as it is.
func (m *Memory) Crash(keep func(Unsynced) bool) *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	after := NewMemory()
	copies := make(map[*inode]*inode)
	found := func(f *inode) *inode {
		if copies[f] == nil {
			copies[f] = &inode{data: slices.Clone(f.safe)}
		}
		return copies[f]
	}
	names := maps.Clone(m.mu.durable)
	for i, c := range m.mu.pending {
		switch whole := (Unsynced{Change: i, Sector: -1}); {
		case c.file == nil:
			if keep(whole) {
				c.rename(names)
			}
		case c.truncates:
			if keep(whole) {
				f := found(c.file)
				f.data = c.applyTo(f.data)
			}
		default:
			c.keepParts(found(c.file), i, keep)
		}
	}
	for name, f := range names {
		after.mu.names[name] = found(f)
		after.mu.durable[name] = found(f)
	}
	for _, f := range copies {
		f.safe = slices.Clone(f.data)
	}
	return after
}

// keepParts carries the sectors of a write out that survive.
func (c change) keepParts(f *inode, index int, keep func(Unsynced) bool) {
	if end := c.at + int64(len(c.data)); end > int64(len(f.data)) && keep(Unsynced{Change: index, Sector: -1}) {
		f.data = resize(f.data, end)
	}
	for sector, at := 0, 0; at < len(c.data); sector++ {
		n := min(SectorSize-int(c.at+int64(at))%SectorSize, len(c.data)-at)
		if keep(Unsynced{Change: index, Sector: sector}) {
			part := change{at: c.at + int64(at), data: c.data[at : at+n]}
			f.data = part.applyTo(f.data)
		}
		at += n
	}
}
