package nfsxdr

import "github.com/tidemark/tidemark/traces/capture/xdr"

// A layout says how to pass over a sequence of items, one letter for each:
//
//	i  4 bytes            h  8 bytes         t  a time, 12 bytes
//	s  16 bytes: a stateid, a session id, a device id
//	o  bytes or a string  b  a bitmap        f  attributes: a bitmap and bytes
//	c  the change of a directory, 20 bytes
//	(  an array of what follows up to ), or something optional
//	{  a list of what follows up to }
//
// and a capital letter for a union, see unions.
//
// An array begins with the number of its items. What is optional is preceded
// by a boolean, which is the same as an array of at most one. A list has a
// boolean before each item and at its end.
type layout string

// Every item of an array or a list takes at least 4 bytes, so that the number
// of steps is bounded by the size of the message.

// skip passes over what the layout says.
func (l layout) skip(a *xdr.Cursor) {
	for i := 0; i < len(l) && a.OK(); i++ {
		switch l[i] {
		case 'i':
			a.Skip(4)
		case 'h':
			a.Skip(8)
		case 't':
			a.Skip(12)
		case 's':
			a.Skip(16)
		case 'c':
			a.Skip(20)
		case 'o':
			a.SkipOpaque()
		case 'b':
			a.Words(4)
		case 'f':
			a.Words(4)
			a.SkipOpaque()
		case '(':
			inner := l.group(i)
			for n := a.Uint32(); n > 0 && a.OK(); n-- {
				inner.skip(a)
			}
			i += len(inner) + 1
		case '{':
			inner := l.group(i)
			for a.Bool() {
				inner.skip(a)
			}
			i += len(inner) + 1
		default:
			unions[l[i]].skip(a)
		}
	}
}

// group returns what is between the bracket at i and the one that ends it.
func (l layout) group(i int) layout {
	depth := 0
	for j := i; ; j++ {
		switch l[j] {
		case '(', '{':
			depth++
		case ')', '}':
			if depth--; depth == 0 {
				return l[i+1 : j]
			}
		}
	}
}

// arms are the layouts of a union by the value before it.
type arms map[uint32]layout

// skip passes over the value and its arm.
func (u arms) skip(a *xdr.Cursor) {
	arm, ok := u[a.Uint32()]
	if !ok {
		a.Refuse(xdr.ErrValue)
		return
	}
	arm.skip(a)
}

// unions are the unions by their letters.
var unions = map[byte]arms{
	'L': { // locker4, in which a boolean says that the owner is new
		0: "si", 1: "isiho",
	},
	'W': { // deleg_claim4
		1: "i", 4: "", 6: "",
	},
	'D': { // open_delegation4; 4 and 5 delegate times, too (RFC 9754)
		0: "", 1: "siiiio", 2: "siihiiio", 3: "E", 4: "siiiio", 5: "siihiiio",
	},
	'E': { // why there is no delegation
		0: "", 1: "i", 2: "i", 3: "", 4: "", 5: "", 6: "", 7: "", 8: "",
	},
	'S': { // secinfo4
		0: "", 1: "", 6: "oii",
	},
	'P': { // state_protect4_a
		0: "", 1: "bb", 2: "bb(o)(o)ii",
	},
	'R': { // state_protect4_r
		0: "", 1: "bb", 2: "bbiiii(o)",
	},
	'B': { // callback_sec_parms4
		0: "", 1: "ioii(i)", 6: "ioo",
	},
	'Y': { // layoutreturn4
		1: "hhso", 2: "", 3: "",
	},
	'N': { // netloc4
		1: "o", 2: "o", 3: "oo",
	},
	'G': { // GET_DIR_DELEGATION4res_non_fatal
		0: "hsbbb", 1: "i",
	},
}
