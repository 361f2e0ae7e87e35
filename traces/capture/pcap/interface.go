package pcap

import "math/bits"

// Options of an interface.
const (
	optionEnd        = 0
	optionResolution = 9
	optionOffset     = 14
)

// iface is an interface of a pcapng section.
type iface struct {
	link   uint32
	snap   uint32 // 0 if packets are kept whole
	binary bool   // the unit of time is a power of 2, not of 10
	power  uint   // its negated exponent
	offset int64  // seconds to be added to times
}

// describe takes the description of the next interface.
func (f *blocks) describe(r *Reader, b []byte) {
	if len(b) < 8 || len(f.interfaces) == MaxInterfaces {
		r.counts.Damaged++
		return
	}
	in := iface{link: uint32(f.order.Uint16(b)), snap: f.order.Uint32(b[4:]), power: 6}
	for b = b[8:]; len(b) >= 4; {
		kind, size := f.order.Uint16(b), int(f.order.Uint16(b[2:]))
		if b = b[4:]; kind == optionEnd || size > len(b) {
			break
		}
		switch {
		case kind == optionResolution && size == 1:
			in.binary, in.power = b[0]&0x80 != 0, uint(b[0]&0x7f)
		case kind == optionOffset && size == 8:
			in.offset = int64(f.order.Uint64(b))
		}
		b = b[min((size+3)&^3, len(b)):]
	}
	f.interfaces = append(f.interfaces, in)
}

// micros converts a time of the interface to microseconds since 1970.
func (in *iface) micros(r *Reader, ticks uint64) int64 {
	t, ok := in.scale(ticks)
	const limit = int64(1) << 61 // far beyond any time, and its double fits
	if !ok || t > uint64(limit) || in.offset > limit/1_000_000 || in.offset < -limit/1_000_000 {
		return r.timed(-1)
	}
	return r.timed(int64(t) + in.offset*1e6)
}

// scale converts ticks to microseconds, and says false if they do not fit.
func (in *iface) scale(ticks uint64) (uint64, bool) {
	switch {
	case in.binary:
		hi, lo := bits.Mul64(ticks, 1e6)
		if in.power >= 64 {
			return hi >> (in.power - 64), true
		}
		return hi<<(64-in.power) | lo>>in.power, hi>>in.power == 0
	case in.power > 6+19: // 10^20 does not fit 64 bits
		return 0, true
	case in.power >= 6:
		return ticks / pow10(in.power-6), true
	}
	hi, lo := bits.Mul64(ticks, pow10(6-in.power))
	return lo, hi == 0
}

func pow10(n uint) uint64 {
	p := uint64(1)
	for range n {
		p *= 10
	}
	return p
}
