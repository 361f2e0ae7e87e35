package nfsxdr

import (
	"github.com/tidemark/tidemark/traces/capture/xdr"
	"github.com/tidemark/tidemark/traces/nfs"
)

// compoundResults reads the results of a COMPOUND. It ends with the first
// operation that fails, whose status is that of the whole. So the number of
// results tells the status of every operation, even if the results cannot be
// read.
func (c *Call) compoundResults(r *xdr.Cursor) (status uint32, err error) {
	status = r.Uint32()
	r.SkipOpaque() // tag
	n := r.Uint32()
	if !r.OK() {
		return 0, r.Err()
	}
	for i, s := range c.ops {
		if s.part < 0 {
			continue
		}
		x := &c.parts[s.part].Exchange
		switch {
		case uint64(i)+1 < uint64(n):
			x.Answered = true
		case uint64(i)+1 == uint64(n):
			x.Answered, x.Status = true, status
		default:
			x.Proc = nfs.Other // it was not carried out
		}
	}
	for i, s := range c.ops {
		if uint64(i) == uint64(n) || !r.OK() {
			break
		}
		if number, failed := r.Uint32(), r.Uint32(); number != s.number {
			r.Refuse(xdr.ErrValue)
		} else if failed != 0 {
			break
		}
		c.result(s, r)
	}
	return status, r.Err()
}

// result reads the results of an operation that succeeded.
func (c *Call) result(s step, r *xdr.Cursor) {
	operations[s.number].results.skip(r)
	var x *nfs.Exchange
	if s.part >= 0 {
		x = &c.parts[s.part].Exchange
	}
	switch s.number {
	case opGetFH:
		h := c.keep(r.Opaque(maxHandle4))
		if r.OK() && s.slot >= 0 && len(c.slots[s.slot].handle) == 0 {
			c.slots[s.slot].handle = h
		}
	case opOpen:
		opened(x, r)
	case opRead:
		r.Uint32() // end of file
		done(x, uint64(r.SkipOpaque()), r)
	case opReadPlus:
		r.Uint32()
		total := uint64(0)
		for n := r.Uint32(); n > 0 && r.OK(); n-- {
			switch r.Uint32() {
			case 0: // data
				r.Uint64()
				total += uint64(r.SkipOpaque())
			case 1: // a hole
				r.Uint64()
				total += min(r.Uint64(), 1<<32)
			default:
				r.Refuse(xdr.ErrValue)
			}
		}
		done(x, total, r)
	case opWrite:
		n := r.Uint32()
		r.Skip(4 + verifier)
		done(x, uint64(n), r)
	case opReadLink:
		if n := r.SkipOpaque(); r.OK() {
			x.Count = uint64(n)
		}
	}
}

// opened reads the results of OPEN. A directory that did not change in it, as
// the server knows if it looked at both numbers and the file in one step
// (change_info4 of RFC 8881, section 18.16), held the file before.
func opened(x *nfs.Exchange, r *xdr.Cursor) {
	r.Skip(stateid)
	atomic, before, after := r.Bool(), r.Uint64(), r.Uint64()
	if r.OK() && atomic && before == after {
		x.Creates = false
	}
	layout("ibD").skip(r) // flags, attributes set, delegation
}

// done sets how many bytes were moved, if that could be read.
func done(x *nfs.Exchange, n uint64, r *xdr.Cursor) {
	if r.OK() {
		x.Done, x.HasDone = n, true
	}
}
