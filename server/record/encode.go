package record

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/tidemark/tidemark/occ"
)

// FormatVersion is the newest version that Append writes and Decode reads. A
// group is written in the oldest version that can say what is in it.
const (
	FormatVersion = pinVersion
	wholeVersion  = 1
	patchVersion  = 2 // knows ranges
	pinVersion    = 3 // knows pins
)

// Kinds on disk. Frozen: a number is never given to another record.
const (
	kindCommit     = 1
	kindSession    = 2
	kindSessionEnd = 3
	kindLease      = 4
	kindTrim       = 5
	kindHorizon    = 6
	kindEpoch      = 7
	kindPatch      = 8  // since version 2
	kindPin        = 9  // since version 3
	kindUnpin      = 10 // since version 3
)

const (
	maxVarintLen = binary.MaxVarintLen64
	sessionLen   = len(occ.SessionID{})
	digestLen    = 4
)

// Append appends the encoding of g to dst and returns the longer slice. It
// copies block data and keeps nothing. It does not enforce the limits: the
// caller forms groups by Size.
func Append(dst []byte, g Group) []byte {
	n := GroupOverhead
	for _, r := range g.Records {
		n += Size(r)
	}
	dst = slices.Grow(dst, n) // large groups would grow it many times over
	dst = append(dst, g.version())
	dst = binary.AppendUvarint(dst, uint64(len(g.Records)))
	for _, r := range g.Records {
		dst = append(dst, r.kind())
		dst = r.appendTo(dst)
	}
	return dst
}

// Size returns the bytes that r takes in the encoding of a group, exactly.
// A group takes the sum for its records plus at most GroupOverhead.
func Size(r Record) int { return 1 + r.size() }

// version is the format version of the group: there is one encoding of it.
func (g Group) version() byte {
	version := byte(wholeVersion)
	for _, r := range g.Records {
		switch r.kind() {
		case kindPatch:
			version = max(version, patchVersion)
		case kindPin, kindUnpin:
			version = pinVersion
		}
	}
	return version
}

func (c *Commit) kind() byte {
	if slices.ContainsFunc(c.Writes, func(w occ.Write) bool { return w.Ranges != nil }) {
		return kindPatch
	}
	return kindCommit
}
func (*Session) kind() byte    { return kindSession }
func (*SessionEnd) kind() byte { return kindSessionEnd }
func (*Lease) kind() byte      { return kindLease }
func (*Trim) kind() byte       { return kindTrim }
func (*Horizon) kind() byte    { return kindHorizon }
func (*Epoch) kind() byte      { return kindEpoch }
func (*Pin) kind() byte        { return kindPin }
func (*Unpin) kind() byte      { return kindUnpin }

func (c *Commit) appendTo(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(c.At))
	dst = append(dst, c.Session[:]...)
	dst = binary.AppendUvarint(dst, c.Seq)
	dst = binary.AppendUvarint(dst, c.Acked)
	dst = binary.LittleEndian.AppendUint32(dst, c.Digest)
	dst = binary.AppendUvarint(dst, uint64(len(c.Writes)))
	forms := c.kind() == kindPatch
	for i := range c.Writes {
		dst = appendWrite(dst, &c.Writes[i], forms)
	}
	return dst
}

func (s *Session) appendTo(dst []byte) []byte { return append(dst, s.ID[:]...) }

func (s *SessionEnd) appendTo(dst []byte) []byte { return append(dst, s.ID[:]...) }

func (l *Lease) appendTo(dst []byte) []byte {
	dst = append(dst, l.Session[:]...)
	dst = binary.AppendUvarint(dst, uint64(l.First))
	return binary.AppendUvarint(dst, l.Count)
}

func (t *Trim) appendTo(dst []byte) []byte {
	dst = append(dst, t.Session[:]...)
	return binary.AppendUvarint(dst, t.UpTo)
}

func (h *Horizon) appendTo(dst []byte) []byte {
	return binary.AppendUvarint(dst, uint64(h.At))
}

func (e *Epoch) appendTo(dst []byte) []byte {
	return binary.AppendUvarint(dst, e.Epoch)
}

func (p *Pin) appendTo(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(p.At))
	dst = binary.AppendUvarint(dst, uint64(p.Lease))
	return appendName(dst, p.Name)
}

func (u *Unpin) appendTo(dst []byte) []byte { return appendName(dst, u.Name) }

func appendName(dst []byte, name string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(name))), name...)
}

func (c *Commit) size() int {
	n := varintLen(uint64(c.At)) + sessionLen + varintLen(c.Seq) + varintLen(c.Acked) +
		digestLen + varintLen(uint64(len(c.Writes)))
	forms := c.kind() == kindPatch
	for i := range c.Writes {
		n += writeSize(&c.Writes[i], forms)
	}
	return n
}

func (*Session) size() int    { return sessionLen }
func (*SessionEnd) size() int { return sessionLen }
func (l *Lease) size() int {
	return sessionLen + varintLen(uint64(l.First)) + varintLen(l.Count)
}
func (t *Trim) size() int    { return sessionLen + varintLen(t.UpTo) }
func (h *Horizon) size() int { return varintLen(uint64(h.At)) }
func (e *Epoch) size() int   { return varintLen(e.Epoch) }
func (p *Pin) size() int {
	return varintLen(uint64(p.At)) + varintLen(uint64(p.Lease)) + nameSize(p.Name)
}
func (u *Unpin) size() int { return nameSize(u.Name) }

func nameSize(name string) int { return varintLen(uint64(len(name))) + len(name) }

// trimmedLen is the length of data without the zeros at its end.
func trimmedLen(data []byte) int {
	n := len(data)
	for n >= 8 && binary.LittleEndian.Uint64(data[n-8:n]) == 0 {
		n -= 8
	}
	for n > 0 && data[n-1] == 0 {
		n--
	}
	return n
}

// varintLen is the number of bytes of the varint of v.
func varintLen(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }
