package pcap

import (
	"encoding/binary"

	"github.com/tidemark/tidemark/traces"
)

const (
	classicHeader = 24 // of the file
	recordHeader  = 16 // of a packet

	magicMicro = 0xa1b2c3d4
	magicNano  = 0xa1b23c4d

	linkMask = 0x03ffffff // above are the length of a checksum and flags

	// wireLimit is beyond any packet: a header that says more is none.
	wireLimit = 1 << 26
	// daySeconds is how far from the last packet the next one may be to be
	// believed after damage.
	daySeconds = 86400
)

// classic is the format pcap.
type classic struct {
	order   binary.ByteOrder
	link    uint32
	perMicr uint32 // units of the fraction in a microsecond
	snap    uint32 // the longest a packet is kept, 0 if that is not believed
	// mayswap says that a program of before 1999 wrote the file: versions
	// up to 2.3 exist with the two lengths in either order.
	maySwap bool
}

func isClassic(head []byte) bool {
	if len(head) < classicHeader {
		return false
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if m := order.Uint32(head); m == magicMicro || m == magicNano {
			return order.Uint16(head[4:]) == 2
		}
	}
	return false
}

func newClassic(head []byte) *classic {
	f := &classic{order: binary.LittleEndian, perMicr: 1}
	m := f.order.Uint32(head)
	if m != magicMicro && m != magicNano {
		f.order = binary.BigEndian
		m = f.order.Uint32(head)
	}
	if m == magicNano {
		f.perMicr = 1000
	}
	f.maySwap = f.order.Uint16(head[6:]) <= 3
	if f.snap = f.order.Uint32(head[16:]); f.snap > MaxPacket {
		f.snap = 0
	}
	f.link = f.order.Uint32(head[20:]) & linkMask
	return f
}

func (f *classic) name() string { return "pcap" }

// record is the header of a packet.
type record struct {
	seconds, fraction, kept, wire uint32
}

func (f *classic) record(b []byte) record {
	r := record{f.order.Uint32(b), f.order.Uint32(b[4:]), f.order.Uint32(b[8:]), f.order.Uint32(b[12:])}
	if f.maySwap && r.kept > r.wire {
		r.kept, r.wire = r.wire, r.kept
	}
	return r
}

func (f *classic) next(r *Reader) (Packet, bool, error) {
	b, err := r.peek(recordHeader)
	if err != nil {
		return Packet{}, false, err
	}
	if len(b) < recordHeader {
		return Packet{}, false, r.end(b)
	}
	h := f.record(b)
	plausible := func(b []byte) bool { return f.plausible(b, r.time) }
	if h.kept > MaxPacket || h.wire > wireLimit {
		return Packet{}, false, r.resync(plausible)
	}
	n := recordHeader + int(h.kept)
	if b, err = r.peek(n + plausibleNeeds); err != nil {
		return Packet{}, false, err
	}
	whole := len(b) >= n
	switch {
	case (!whole || f.doubtful(h) && !plausible(b[n:])) && contains(b, plausible):
		return Packet{}, false, r.resync(plausible) // the length is wrong and hides other packets
	case !whole:
		return Packet{}, false, r.end(b)
	}
	b = b[:n:n]
	r.used = n
	t := int64(h.seconds)*1e6 + int64(h.fraction/f.perMicr)
	return Packet{Time: r.timed(t), Link: f.link, Data: b[recordHeader:], Wire: int(max(h.wire, h.kept))}, true, nil
}

// doubtful says whether a length is more than the file says it keeps of a
// packet, or than there was. Such files exist, but it may be damage, too.
func (f *classic) doubtful(h record) bool {
	return f.snap > 0 && h.kept > f.snap || h.kept > h.wire
}

// contains says whether a packet begins within b, not at its beginning.
func contains(b []byte, plausible func([]byte) bool) bool {
	for i := 1; i < len(b)-plausibleNeeds; i++ {
		if plausible(b[i:]) {
			return true
		}
	}
	return false
}

// timed is the time t, or that of the last packet if t cannot be.
func (r *Reader) timed(t int64) int64 {
	if t < 0 || t > traces.MaxTime {
		r.counts.Timeless++
		return r.time
	}
	return t
}

// plausible says whether a packet not far from the time last begins here,
// and, as far as can be seen, another one after it.
func (f *classic) plausible(b []byte, last int64) bool {
	for range 2 {
		if len(b) < recordHeader {
			return true
		}
		h := f.record(b)
		apart := int64(h.seconds) - last/1e6
		switch {
		case h.kept == 0 || h.kept > MaxPacket || h.wire < h.kept || h.wire > wireLimit,
			h.fraction/f.perMicr >= 1e6,
			last > 0 && (apart < -daySeconds || apart > daySeconds):
			return false
		}
		b = b[min(recordHeader+int(h.kept), len(b)):]
	}
	return true
}
