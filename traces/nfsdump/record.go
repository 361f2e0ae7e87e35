package nfsdump

import "github.com/tidemark/tidemark/traces/nfs"

// record is a call and what its reply adds. It owns the bytes of its exchange.
type record struct {
	x                  nfs.Exchange
	version, procedure uint32
	line               int64  // of the call
	held               []byte // the handles and names of the call
	result             []byte
}

// maxHeld is how many bytes a record keeps for the next call that uses it.
const maxHeld = 512

// reset empties a record for a call on a line of some length.
func (r *record) reset(length int) {
	held, result := r.held[:0], r.result[:0]
	if cap(held) < length || cap(held) > maxHeld {
		// What it holds is shorter than the line: it never moves.
		held = make([]byte, 0, length)
	}
	*r = record{held: held, result: result}
}

// has says which fields a call has.
type has uint8

const (
	hasHandle has = 1 << iota
	hasHandle2
	hasName
	hasName2
	hasOffset
	hasCount
	hasText
)

// needed are the fields that a call must have; a handle where there is no row.
var needed = [...]has{
	nfs.Lookup:  hasHandle | hasName,
	nfs.Read:    hasHandle | hasOffset | hasCount,
	nfs.Write:   hasHandle | hasOffset | hasCount,
	nfs.Create:  hasHandle | hasName,
	nfs.Mkdir:   hasHandle | hasName,
	nfs.Symlink: hasHandle | hasName | hasText,
	nfs.Mknod:   hasHandle | hasName,
	nfs.Remove:  hasHandle | hasName,
	nfs.Rmdir:   hasHandle | hasName,
	nfs.Rename:  hasHandle | hasName | hasHandle2 | hasName2,
	nfs.Link:    hasHandle | hasHandle2 | hasName,
	nfs.ReadDir: hasHandle | hasOffset | hasCount,
	nfs.Commit:  hasHandle | hasOffset | hasCount,
}

// take reads the fields of a call. A call with a fault makes no operation.
func (r *record) take(fields []byte) (what odd) {
	proc := r.x.Proc
	if proc == nfs.Other {
		return 0
	}
	w := words{fields}
	seen, ok := has(0), true
	for ok {
		key := w.next()
		if len(key) == 0 {
			break
		}
		switch string(key) {
		case "fh", "file":
			r.x.File, ok = r.handle(w.next())
			seen |= hasHandle
		case "fh2":
			r.x.ToDir, ok = r.handle(w.next())
			seen |= hasHandle2
		case "name", "fn":
			r.x.Name, ok = r.name(w.next())
			seen |= hasName
		case "name2", "fn2":
			if proc == nfs.Symlink { // version 2 calls the text so
				r.x.Count, ok = nameLength(w.next())
				seen |= hasText
				break
			}
			r.x.ToName, ok = r.name(w.next())
			seen |= hasName2
		case "sdata":
			r.x.Count, ok = nameLength(w.next())
			seen |= hasText
		case "off", "offset", "cookie":
			r.x.Offset, ok = parseHex(w.next())
			seen |= hasOffset
		case "count", "maxcnt":
			r.x.Count, ok = parseHex(w.next())
			seen |= hasCount
		case "tcount":
			if total, valid := parseHex(w.next()); !valid {
				ok = false
			} else if seen&hasCount == 0 { // a read has a count of its own
				r.x.Count = total
				seen |= hasCount
			}
		case "size":
			var swap bool
			if swap, ok = r.size(w.next()); swap {
				what |= swappedSize
			}
		default: // all others have a value, too
			w.next()
		}
	}
	if proc == nfs.Link {
		r.x.ToName, r.x.Name = r.x.Name, nil
	}
	need := hasHandle
	if int(proc) < len(needed) && needed[proc] != 0 {
		need = needed[proc]
	}
	if !ok {
		what |= impossibleValue
	} else if seen&need != need {
		what |= missingField
	}
	if what&(impossibleValue|missingField) != 0 {
		r.x.Proc = nfs.Other
	}
	return what
}

// handle and name keep a value and return it.
func (r *record) handle(word []byte) ([]byte, bool) {
	from := len(r.held)
	held, ok := appendHandle(r.held, word)
	r.held = held
	return held[from:], ok
}

func (r *record) name(word []byte) ([]byte, bool) {
	from := len(r.held)
	held, ok := appendName(r.held, word)
	r.held = held
	return held[from:], ok
}

// swappedUntil is when the collector no longer swapped the halves of sizes:
// 9 September 2003.
const swappedUntil int64 = 1063065600_000000

// size reads a size that is set.
func (r *record) size(word []byte) (swap, ok bool) {
	size, ok := parseHex(word)
	if !ok {
		return false, false
	}
	if r.version == 2 && size == 0xffffffff { // RFC 1094, 2.3.6: not to be set
		return false, true
	}
	upper, lower := size>>32, size&0xffffffff
	if r.version == 3 && r.x.Time < swappedUntil && upper > 0 {
		// A size below 4 GiB has nothing in its upper half; one far above
		// has little there, but then what seems the size is beyond 1 TiB.
		if swap = lower == 0 || lower < 16 && upper >= 256; swap {
			size = lower<<32 | upper
		}
	}
	r.x.SetSize, r.x.Size = true, size
	return swap, true
}
