// Package nfsxdr decodes the arguments and results of NFS: version 2 (RFC
// 1094), version 3 (RFC 1813) and version 4 with its minor versions (RFC 7530,
// RFC 8881, RFC 7862, RFC 8276). What it makes of a call are the exchanges of
// package nfs: one in versions 2 and 3, any number in a COMPOUND.
package nfsxdr

import (
	"github.com/tidemark/tidemark/traces/capture/xdr"
	"github.com/tidemark/tidemark/traces/nfs"
)

const (
	// MaxOperations is how many operations of a COMPOUND are decoded. Servers
	// of today take far fewer in one call.
	MaxOperations = 256

	maxHandle2 = 32  // bytes; the only size of version 2
	maxHandle3 = 64  // bytes
	maxHandle4 = 128 // bytes
	maxString  = 1024
)

// Call is a call and what its reply adds. The zero Call is ready for Begin, and
// can be used again by another Begin.
type Call struct {
	version, procedure uint32
	parts              []part
	arena              []byte // what the exchanges point into
	compound
}

// part is an exchange, in a COMPOUND with the handles that it will have.
type part struct {
	nfs.Exchange
	file, toDir, result int32 // slots, or none
}

// none is no slot.
const none = -1

// keep copies bytes that the call keeps.
func (c *Call) keep(b []byte) []byte {
	n := len(c.arena)
	c.arena = append(c.arena, b...)
	return c.arena[n:len(c.arena):len(c.arena)]
}

// Begin decodes the arguments of a call that a host made at a time. It
// returns nil, or why the cursor could not be read to the end of what
// matters; the exchanges are then those that it was read far enough for. Each
// operation of a COMPOUND that is decoded is given to operation by its number.
func (c *Call) Begin(time int64, host, version, procedure uint32, args *xdr.Cursor, operation func(uint32)) error {
	c.version, c.procedure = version, procedure
	c.parts, c.arena = c.parts[:0], c.arena[:0]
	c.compound.reset()
	switch {
	case version == 4 && procedure == 1:
		c.compoundArgs(args, operation)
	case version == 2 || version == 3:
		x := nfs.Exchange{Proc: nfs.ProcOf(version, procedure)}
		if x.Proc == nfs.Other {
			return nil
		}
		if version == 2 {
			c.args2(&x, args)
		} else {
			c.args3(&x, args)
		}
		if args.OK() {
			c.parts = append(c.parts, part{x, none, none, none})
		}
	}
	for i := range c.parts {
		c.parts[i].Time, c.parts[i].Host = time, host
	}
	return args.Err()
}

// Size is about how many bytes the call keeps.
func (c *Call) Size() int { return len(c.arena) + 256*len(c.parts) + 16*len(c.ops) }

const (
	keepArena = 512 // bytes that a call keeps for the next one
	keepParts = 4
)

// Release ends the use of a call, and frees memory beyond what most calls
// need.
func (c *Call) Release() {
	if cap(c.arena) > keepArena {
		c.arena = nil
	}
	if cap(c.parts) > keepParts {
		c.parts = nil
	}
	if cap(c.ops) > 4*keepParts {
		c.ops, c.slots = nil, nil
	}
}

// Reply decodes the results. It returns the status, and nil or why they could
// not be read as far as they matter.
func (c *Call) Reply(results *xdr.Cursor) (status uint32, err error) {
	switch {
	case c.procedure == 0 || c.version < 2 || c.version > 4:
		return 0, nil
	case c.version == 4:
		return c.compoundResults(results)
	case c.version == 2 && (c.procedure == 3 || c.procedure == 7): // ROOT and WRITECACHE
		return 0, nil
	}
	status = results.Uint32()
	if !results.OK() {
		return 0, results.Err()
	}
	if len(c.parts) == 0 {
		return status, nil
	}
	x := &c.parts[0].Exchange
	x.Answered, x.Status = true, status
	if status != 0 {
		return status, nil
	}
	if c.version == 2 {
		c.results2(x, results)
	} else {
		c.results3(x, results)
	}
	return status, results.Err()
}

// Fail says that the server answered without carrying the call out.
func (c *Call) Fail() {
	for i := range c.parts {
		c.parts[i].Answered, c.parts[i].Status = true, statusServerFault
	}
}

// statusServerFault is an NFS status for failures that have none.
const statusServerFault = 10006

// Exchanges gives out the exchanges, with what is known of their handles in
// the end. What they point to is valid until the next Begin.
func (c *Call) Exchanges(yield func(*nfs.Exchange)) {
	for i := range c.parts {
		p := &c.parts[i]
		c.resolve(p)
		yield(&p.Exchange)
	}
}
