package traces

import (
	"bytes"
	"fmt"
	"math"
)

// ParseAuspex parses one line of the text form, the extension included, without
// its newline. It allocates only for a place and for an error, which is a
// *LineError without file and line number. The line is not kept. Op.Line is 0.
func ParseAuspex(line []byte) (Op, error) {
	op, fault := parse(line)
	if fault.reason != "" {
		return Op{}, &LineError{Reason: fault.String()}
	}
	return op, nil
}

// fault is why a line was refused and, if one word is to blame, that word.
type fault struct {
	reason string
	word   []byte
}

// maxQuote is how many bytes of a faulty word an error message shows.
const maxQuote = 32

func (f fault) String() string {
	switch {
	case f.word == nil:
		return f.reason
	case len(f.word) == 0:
		return f.reason + ", found the end of the line"
	case len(f.word) > maxQuote:
		return fmt.Sprintf("%s, found %q...", f.reason, f.word[:maxQuote])
	}
	return fmt.Sprintf("%s, found %q", f.reason, f.word)
}

func parse(line []byte) (op Op, bad fault) {
	w := words{rest: line}

	word := w.next()
	var ok bool
	if op.Time, ok = parseTime(word); !ok {
		return op, fault{"expected a time in seconds", word}
	}
	word = w.next()
	if op.Type = typeOf(word); op.Type == 0 {
		return op, fault{"expected a type of operation", word}
	}
	word = w.next()
	switch string(word) {
	case "READ":
		op.Action = Read
	case "WRITE":
		op.Action = Write
	default:
		return op, fault{"expected READ or WRITE", word}
	}

	if word = w.next(); string(word) != "FID:" {
		return op, fault{"expected FID:", word}
	}
	word = w.next()
	if op.FID, ok = parseFID(word); !ok {
		return op, fault{"expected 1 to 16 hexadecimal digits after FID:", word}
	}
	if word = w.next(); string(word) != "OFF:" {
		return op, fault{"expected OFF:", word}
	}
	word = w.next()
	if op.Off, ok = parseDecimal(word); !ok {
		return op, fault{"expected a number from 0 to 2^63-1 after OFF:", word}
	}
	if word = w.next(); string(word) != "SIZE:" {
		return op, fault{"expected SIZE:", word}
	}
	word = w.next()
	if op.Size, ok = parseDecimal(word); !ok {
		return op, fault{"expected a number from 0 to 2^63-1 after SIZE:", word}
	}
	if word = w.next(); string(word) != "HOST:" {
		return op, fault{"expected HOST:", word}
	}
	word = w.next()
	host, ok := parseDecimal(word)
	if !ok || host > math.MaxUint32 {
		return op, fault{"expected a number from 0 to 2^32-1 after HOST:", word}
	}
	op.Host = uint32(host)

	if word = w.next(); len(word) > 0 {
		if op.Place, bad = w.place(word); bad.reason != "" {
			return op, bad
		}
	}
	return op, fault{reason: op.fault()}
}

// words cuts a line at its blanks.
type words struct{ rest []byte }

func blank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// skip passes over blanks.
func (w *words) skip() {
	i := 0
	for i < len(w.rest) && blank(w.rest[i]) {
		i++
	}
	w.rest = w.rest[i:]
}

// next returns the next word, empty (not nil) at the end of the line.
func (w *words) next() []byte {
	b := w.rest
	i := 0
	for i < len(b) && blank(b[i]) {
		i++
	}
	start := i
	for i < len(b) && !blank(b[i]) {
		i++
	}
	w.rest = b[i:]
	if start == i {
		return []byte{}
	}
	return b[start:i]
}

func typeOf(word []byte) Type {
	switch string(word) {
	case "Attr":
		return Attr
	case "Block":
		return Block
	case "Dir":
		return Dir
	case "Delete":
		return Delete
	case "Open":
		return Open
	case "Close":
		return Close
	}
	for _, t := range Types[Close:] {
		if typeNames[t] == string(word) {
			return t
		}
	}
	return 0
}

// parseTime reads seconds with an optional fraction as microseconds.
func parseTime(word []byte) (int64, bool) {
	whole, fraction, point := bytes.Cut(word, []byte{'.'})
	seconds, ok := parseDecimal(whole)
	if !ok || seconds >= math.MaxInt64/1_000_000 || point && len(fraction) == 0 {
		return 0, false
	}
	micros, unit := int64(0), int64(100_000)
	for _, c := range fraction {
		if c < '0' || c > '9' {
			return 0, false
		}
		micros += int64(c-'0') * unit
		unit /= 10 // 0 from the seventh decimal on
	}
	return seconds*1_000_000 + micros, true
}

// parseDecimal reads digits only: no sign, no overflow.
func parseDecimal(word []byte) (int64, bool) {
	if len(word) == 0 {
		return 0, false
	}
	n := int64(0)
	for _, c := range word {
		d := int64(c - '0')
		if c < '0' || c > '9' || n > (math.MaxInt64-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}

func parseFID(word []byte) (FID, bool) {
	if len(word) == 0 || len(word) > 16 {
		return 0, false
	}
	n := uint64(0)
	for _, c := range word {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		n = n<<4 | uint64(c)
	}
	return FID(n), true
}
