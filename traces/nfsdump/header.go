package nfsdump

import (
	"bytes"
	"math"
	"net/netip"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/nfs"
)

// header is what every line begins with.
type header struct {
	nfs.Message
	reply     bool
	xid       uint32
	procedure uint32
	longTime  bool // the fraction of the second was no number of microseconds
}

// words cuts a line at its blanks.
type words struct{ rest []byte }

// next returns the next word, which is empty at the end of the line. A word
// that begins with a quote ends with one.
func (w *words) next() []byte {
	b := w.rest
	for len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	end := bytes.IndexByte(b, ' ')
	if len(b) > 0 && b[0] == '"' {
		if quote := bytes.IndexByte(b[1:], '"'); quote >= 0 {
			end = quote + 2
		}
	}
	if end < 0 {
		end = len(b)
	}
	w.rest = b[end:]
	return b[:end]
}

// parseHeader reads the first eight words of a line; the others are left in w.
// It returns what is wrong with them, or "".
func parseHeader(w *words, h *header) (fault string) {
	var ok bool
	if h.Time, h.longTime, ok = parseTime(w.next()); !ok {
		return "expected a time in seconds"
	}
	source, ok := parseEnd(w.next())
	if !ok {
		return "expected the source, as address.port"
	}
	destination, ok := parseEnd(w.next())
	if !ok {
		return "expected the destination, as address.port"
	}
	switch string(w.next()) {
	case "U":
		h.TCP = false
	case "T":
		h.TCP = true
	default:
		return "expected U or T"
	}
	kind := w.next()
	if len(kind) != 2 || kind[0] != 'C' && kind[0] != 'R' || kind[1] != '2' && kind[1] != '3' {
		return "expected C2, C3, R2 or R3"
	}
	h.Version, h.reply = uint32(kind[1]-'0'), kind[0] == 'R'
	h.Client, h.Server = source, destination
	if h.reply {
		h.Client, h.Server = destination, source
	}
	xid, ok := parseHex(w.next())
	if !ok || xid > math.MaxUint32 {
		return "expected an xid of up to 8 hexadecimal digits"
	}
	procedure, ok := parseHex(w.next())
	if !ok || procedure > math.MaxUint16 {
		return "expected the number of a procedure"
	}
	h.xid, h.procedure = uint32(xid), uint32(procedure)
	if name := w.next(); len(name) == 0 || name[0] < 'a' || name[0] > 'z' {
		return "expected the name of a procedure"
	}
	return ""
}

// parseTime reads seconds and, after a point, microseconds. Of a number of
// microseconds that is too large, the first six digits count.
func parseTime(word []byte) (micros int64, long, ok bool) {
	whole, fraction, _ := bytes.Cut(word, []byte{'.'})
	if long = len(fraction) > 6; long {
		fraction = fraction[:6]
	}
	seconds, ok := parseDecimal(whole)
	if !ok || seconds > traces.MaxTime/1_000_000 {
		return 0, false, false
	}
	if len(fraction) > 0 {
		if micros, ok = parseDecimal(fraction); !ok {
			return 0, false, false
		}
	}
	return seconds*1_000_000 + micros, long, true
}

func parseDecimal(word []byte) (n int64, ok bool) {
	if len(word) == 0 || len(word) > 18 {
		return 0, false
	}
	for _, c := range word {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// parseEnd reads an address, a point and a port. The address is a number or a
// real one.
func parseEnd(word []byte) (e nfs.End, ok bool) {
	point := bytes.LastIndexByte(word, '.')
	if point < 0 {
		return e, false
	}
	port, ok := parseHex(word[point+1:])
	if !ok || port > math.MaxUint16 {
		return e, false
	}
	e.Port = uint16(port)
	if n, ok := parseHex(word[:point]); ok {
		e.Addr = nfs.NumberAddr(n)
		return e, true
	}
	if point > maxAddress {
		return e, false
	}
	ip, err := netip.ParseAddr(string(word[:point]))
	if err != nil {
		return e, false
	}
	e.Addr = nfs.AddrOf(ip)
	return e, true
}

// maxAddress is the length of the longest IP address in text.
const maxAddress = 45

// parseHex reads 1 to 16 hexadecimal digits.
func parseHex(word []byte) (n uint64, ok bool) {
	if len(word) == 0 || len(word) > 16 {
		return 0, false
	}
	for _, c := range word {
		d := digits[c]
		if d < 0 {
			return 0, false
		}
		n = n<<4 | uint64(d)
	}
	return n, true
}

// digits are the values of hexadecimal digits, -1 for all other bytes.
var digits = func() (d [256]int8) {
	for i := range d {
		d[i] = -1
	}
	for i := range 10 {
		d['0'+i] = int8(i)
	}
	for i := range 6 {
		d['a'+i], d['A'+i] = int8(10+i), int8(10+i)
	}
	return d
}()
