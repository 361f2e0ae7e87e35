package packet

import (
	"net/netip"
	"slices"

	"github.com/gopacket/gopacket/layers"
)

const (
	// MaxDatagrams is how many IP datagrams may wait for fragments. Each takes
	// at most MaxDatagram bytes.
	MaxDatagrams = 128
	// MaxDatagram is the size in bytes of the largest datagram that is put
	// together, that of IPv4.
	MaxDatagram = 65535
	// MaxFragments is how many separate stretches of a datagram may be known
	// while others are missing.
	MaxFragments = 512

	// fragmentWait is how long in microseconds a datagram may wait for its
	// next fragment. Identifications of IPv4 are used again after a few
	// seconds on a busy network, so that waiting longer mixes datagrams.
	fragmentWait = 30_000_000
)

// datagramID is what fragments of one datagram have in common (RFC 791,
// section 2.3).
type datagramID struct {
	src, dst netip.Addr
	id       uint32
	protocol layers.IPProtocol
}

// fragment is a part of a datagram, of which a capture may have cut the end.
type fragment struct {
	at, length int
	more       bool // it is not the last
	data       []byte
}

// stretch is a part of a datagram that has come.
type stretch struct{ from, to int }

// datagram is one that is not complete.
type datagram struct {
	last  int64     // time of the newest fragment
	order int64     // number of the datagram, for a tie
	have  []stretch // sorted, apart from each other
	cut   int       // the first byte that a capture left out
	end   int       // the length, -1 if the last fragment has not come
	data  []byte
}

// fragments are the incomplete datagrams. Their buffers are used again and
// again, without being cleared: of a datagram that is complete every byte has
// been written up to the first one that a capture left out.
type fragments struct {
	open    map[datagramID]*datagram
	begun   int64
	dropped int64
	whole   []byte   // the last one returned
	free    [][]byte // buffers of no datagram, MaxDatagrams at most
}

func newFragments() fragments { return fragments{open: make(map[datagramID]*datagram)} }

// fragment takes a part of a datagram and decodes the whole if it was the
// last that was missing.
func (d *Decoder) fragment(time int64, id datagramID, part fragment) (Packet, bool) {
	d.counts.Fragments++
	if part.length <= 0 || part.at+part.length > MaxDatagram || part.more && part.length%8 != 0 {
		d.counts.Damaged++
		return Packet{}, false
	}
	if len(part.data) > part.length {
		part.data = part.data[:part.length]
	}
	data, length := d.parts.add(time, id, part)
	if data == nil {
		return Packet{}, false
	}
	return d.transport(time, id.src, id.dst, id.protocol, data, length)
}

// add returns the known beginning and the length of a datagram that is
// complete, or nil.
func (f *fragments) add(time int64, id datagramID, part fragment) ([]byte, int) {
	f.recycle(f.whole)
	f.whole = nil
	g := f.open[id]
	if g != nil && time-g.last > fragmentWait {
		f.drop(id)
		g = nil
	}
	if g == nil {
		if len(f.open) == MaxDatagrams {
			f.dropOldest()
		}
		g = &datagram{cut: MaxDatagram, end: -1, order: f.begun, data: f.buffer()}
		f.begun++
		f.open[id] = g
	}
	g.last = time
	if !g.put(part) {
		f.drop(id)
		return nil, 0
	}
	if g.end < 0 || len(g.have) != 1 || g.have[0] != (stretch{0, g.end}) {
		return nil, 0
	}
	delete(f.open, id)
	f.whole = g.data[:min(g.end, g.cut, len(g.data))]
	return f.whole, g.end
}

// buffer returns an empty buffer, if possible one with room.
func (f *fragments) buffer() []byte {
	last := len(f.free) - 1
	if last < 0 {
		return nil
	}
	b := f.free[last]
	f.free = f.free[:last]
	return b[:0]
}

// recycle takes a buffer back.
func (f *fragments) recycle(b []byte) {
	if cap(b) > 0 && len(f.free) < MaxDatagrams {
		f.free = append(f.free, b)
	}
}

// drop gives a datagram up.
func (f *fragments) drop(id datagramID) {
	f.recycle(f.open[id].data)
	delete(f.open, id)
	f.dropped++
}

// dropOldest gives up the datagram that has waited longest.
func (f *fragments) dropOldest() {
	var oldest datagramID
	var least *datagram
	for id, g := range f.open {
		if least == nil || g.last < least.last || g.last == least.last && g.order < least.order {
			oldest, least = id, g
		}
	}
	f.drop(oldest)
}

// put adds a fragment, and says false if it contradicts the others.
func (g *datagram) put(part fragment) bool {
	to := part.at + part.length
	switch {
	case !part.more && g.end >= 0 && g.end != to,
		!part.more && len(g.have) > 0 && g.have[len(g.have)-1].to > to,
		part.more && g.end >= 0 && to > g.end:
		return false
	case !part.more:
		g.end = to
	}
	if need := part.at + len(part.data); need > len(g.data) {
		g.data = slices.Grow(g.data, need-len(g.data))[:need]
	}
	copy(g.data[part.at:], part.data)
	if len(part.data) < part.length {
		g.cut = min(g.cut, part.at+len(part.data))
	}
	// The stretches i to j touch the new one and become one with it.
	s := stretch{part.at, to}
	i, _ := slices.BinarySearchFunc(g.have, s.from, func(h stretch, from int) int { return h.to - from })
	j := i
	for ; j < len(g.have) && g.have[j].from <= s.to; j++ {
		s.from, s.to = min(s.from, g.have[j].from), max(s.to, g.have[j].to)
	}
	g.have = slices.Replace(g.have, i, j, s)
	return len(g.have) <= MaxFragments
}
