package pcap

import "encoding/binary"

// The types of blocks that matter.
const (
	blockSection   = 0x0a0d0d0a
	blockInterface = 1
	blockObsolete  = 2
	blockSimple    = 3
	blockEnhanced  = 6
)

const (
	byteOrderMagic = 0x1a2b3c4d
	blockFrame     = 12 // type, length, and length again at the end

	// MaxBlock is the size in bytes of the largest block.
	MaxBlock = 16 << 20
)

// blocks is the format pcapng.
type blocks struct {
	order      binary.ByteOrder // of this section, nil before the first
	interfaces []iface
}

// isBlocks says whether a section begins here, which also is how a file does.
func isBlocks(b []byte) bool {
	return len(b) >= blockFrame && binary.LittleEndian.Uint32(b) == blockSection && sectionOrder(b) != nil
}

func sectionOrder(b []byte) binary.ByteOrder {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if order.Uint32(b[8:]) == byteOrderMagic {
			return order
		}
	}
	return nil
}

func (f *blocks) name() string { return "pcapng" }

func (f *blocks) next(r *Reader) (Packet, bool, error) {
	b, err := r.peek(blockFrame)
	if err != nil {
		return Packet{}, false, err
	}
	if len(b) < blockFrame {
		return Packet{}, false, r.end(b)
	}
	if isBlocks(b) {
		f.order, f.interfaces = sectionOrder(b), nil
	}
	size := int64(f.order.Uint32(b[4:]))
	if size < blockFrame || size%4 != 0 || size > MaxBlock {
		return Packet{}, false, r.resync(f.plausible)
	}
	n := int(min(size, bufferSize))
	if b, err = r.peek(n); err != nil {
		return Packet{}, false, err
	}
	if len(b) < n {
		return Packet{}, false, r.end(b)
	}
	if n == int(size) && int64(f.order.Uint32(b[n-4:])) != size {
		return Packet{}, false, r.resync(f.plausible)
	}
	r.used = int(size)
	p, ok := f.block(r, f.order.Uint32(b), b[8:max(8, n-4)])
	return p, ok, nil
}

// plausible says whether a block of a type that matters begins here and ends
// in what can be seen.
func (f *blocks) plausible(b []byte) bool {
	if isBlocks(b) {
		return true
	}
	switch f.order.Uint32(b) {
	case blockInterface, blockObsolete, blockSimple, blockEnhanced:
	default:
		return false
	}
	size := int64(f.order.Uint32(b[4:]))
	return size > blockFrame && size%4 == 0 && size <= int64(len(b)) && int64(f.order.Uint32(b[size-4:])) == size
}

// block takes what is between the lengths of a block, or its beginning if it
// is larger than the buffer.
func (f *blocks) block(r *Reader, kind uint32, b []byte) (Packet, bool) {
	switch kind {
	case blockInterface:
		f.describe(r, b)
		return Packet{}, false
	case blockEnhanced:
		if len(b) >= 20 {
			return f.packet(r, f.order.Uint32(b), b[4:], false)
		}
	case blockObsolete: // the interface in 16 bits, then 16 bits of drops
		if len(b) >= 20 {
			return f.packet(r, uint32(f.order.Uint16(b)), b[4:], false)
		}
	case blockSimple: // of the first interface, without time and kept length
		if len(b) >= 4 {
			return f.packet(r, 0, b, true)
		}
	default:
		return Packet{}, false
	}
	r.counts.Damaged++
	return Packet{}, false
}

// packet takes a packet of an interface. Before its data are two words of
// time and the length kept, which a simple block lacks, and the length on
// the wire.
func (f *blocks) packet(r *Reader, number uint32, b []byte, simple bool) (Packet, bool) {
	if uint64(number) >= uint64(len(f.interfaces)) {
		r.counts.Unknown++
		return Packet{}, false
	}
	in := &f.interfaces[number]
	p := Packet{Link: in.link, Time: r.time}
	var kept, wire uint32
	if simple {
		wire = f.order.Uint32(b)
		b = b[4:]
		kept = min(wire, uint32(len(b)))
		if in.snap > 0 {
			kept = min(kept, in.snap)
		}
		r.counts.Timeless++
	} else {
		p.Time = in.micros(r, uint64(f.order.Uint32(b))<<32|uint64(f.order.Uint32(b[4:])))
		kept, wire = f.order.Uint32(b[8:]), f.order.Uint32(b[12:])
		b = b[16:]
	}
	if uint64(kept) > uint64(len(b)) || kept > MaxPacket || wire > wireLimit {
		r.counts.Damaged++
		return Packet{}, false
	}
	p.Data, p.Wire = b[:kept:kept], int(max(kept, wire))
	return p, true
}
