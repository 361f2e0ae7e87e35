package nfsxdr

import (
	"bytes"

	"github.com/tidemark/tidemark/traces/capture/xdr"
	"github.com/tidemark/tidemark/traces/nfs"
)

// compound is what a COMPOUND needs from its call to its reply.
//
// Operations act on a current and a saved handle. Which handles these are is
// often known only from the reply, by GETFH. So each handle has a slot, which
// is filled when the handle becomes known, and an exchange refers to slots.
type compound struct {
	ops            []step
	slots          []slot
	current, saved int32
	root           int32 // the slot of the server's root, none if it is not used
}

// step is an operation of the call.
type step struct {
	number uint32
	part   int32 // its exchange, or none
	slot   int32 // the current handle after it
}

// slot is a handle.
type slot struct {
	handle []byte // nil if unknown
	acted  bool   // an operation acted on it
}

func (c *compound) reset() {
	*c = compound{ops: c.ops[:0], slots: c.slots[:0], current: none, saved: none, root: none}
}

// fresh makes a slot the current one.
func (c *compound) fresh(handle []byte) int32 {
	if handle != nil {
		for i := range c.slots {
			if bytes.Equal(c.slots[i].handle, handle) {
				c.current = int32(i)
				return c.current
			}
		}
	}
	c.slots = append(c.slots, slot{handle: handle})
	c.current = int32(len(c.slots) - 1)
	return c.current
}

// enterRoot makes the server's root the current handle.
func (c *compound) enterRoot() {
	if c.root == none {
		c.root = c.fresh(nil)
	}
	c.current = c.root
}

// Root joins what the call tells of the server's root with what is known of
// it, nil if nothing is. If the call uses the root and does not show its
// handle, that is the known one. Root returns what is known then; bytes of the
// call are valid until the next Begin.
func (c *Call) Root(known []byte) []byte {
	switch {
	case c.root == none:
		return known
	case len(c.slots[c.root].handle) == 0:
		c.slots[c.root].handle = known
	}
	return c.slots[c.root].handle
}

// act marks a slot as acted on.
func (c *compound) act(slot int32) {
	if slot >= 0 {
		c.slots[slot].acted = true
	}
}

// resolve sets the handles of an exchange from its slots.
func (c *Call) resolve(p *part) {
	of := func(slot int32, handle *[]byte) (hidden bool) {
		if slot >= 0 {
			*handle = c.slots[slot].handle
		}
		return slot >= 0 && len(*handle) == 0
	}
	file, toDir := of(p.file, &p.File), of(p.toDir, &p.ToDir)
	p.Hidden = file || toDir
	of(p.result, &p.Result)
}

// compoundArgs reads the operations of a call.
func (c *Call) compoundArgs(a *xdr.Cursor, operation func(uint32)) {
	a.SkipOpaque() // tag
	a.Uint32()     // minor version
	for n := a.Uint32(); n > 0 && a.OK(); n-- {
		number := a.Uint32()
		o, known := operationOf(number)
		if !a.OK() {
			return
		}
		operation(number)
		if !known || len(c.ops) == MaxOperations {
			a.Refuse(xdr.ErrValue)
			return
		}
		before := c.compound
		p := part{nfs.Exchange{Proc: nfs.OperationOf(number)}, c.current, none, none}
		o.args.skip(a)
		c.arguments(number, &p, a)
		if !a.OK() {
			c.current, c.saved, c.root = before.current, before.saved, before.root
			return
		}
		s := step{number, none, c.current}
		if p.Proc != nfs.Other {
			s.part = int32(len(c.parts))
			c.parts = append(c.parts, p)
			c.act(p.file)
			c.act(p.toDir)
			c.act(p.result)
		} else if changes(number) {
			c.act(c.current)
		}
		c.ops = append(c.ops, s)
	}
}

// arguments reads the arguments that matter, and moves the handles.
func (c *Call) arguments(number uint32, p *part, a *xdr.Cursor) {
	switch number {
	case opPutFH:
		c.fresh(c.keep(a.Opaque(maxHandle4)))
	case opPutRoot:
		c.enterRoot()
	case opPutPublic, opLookupParent, opOpenAttr:
		c.fresh(nil)
	case opSaveFH:
		c.saved = c.current
	case opRestoreFH:
		c.current = c.saved
	case opGetAttr:
		if c.current >= 0 && c.slots[c.current].acted {
			p.Proc = nfs.Other // what the operation before it left
		}
	case opLookup:
		p.Name = c.name(a)
		p.result = c.fresh(nil)
	case opCreate:
		c.create4(p, a)
	case opOpen:
		c.open4(p, a)
	case opRemove:
		p.Name = c.name(a)
	case opRename:
		p.Name, p.ToName = c.name(a), c.name(a)
		p.file, p.toDir = c.saved, c.current
	case opLink:
		p.ToName = c.name(a)
		p.file, p.toDir = c.saved, c.current
	case opSetAttr:
		a.Skip(stateid)
		settings4(&p.Exchange, a)
	case opRead, opReadPlus:
		a.Skip(stateid)
		p.Offset, p.Count = a.Uint64(), uint64(a.Uint32())
	case opWrite:
		a.Skip(stateid)
		p.Offset = a.Uint64()
		a.Uint32() // how stable
		p.Count = uint64(a.SkipOpaque())
	case opCommit:
		p.Offset, p.Count = a.Uint64(), uint64(a.Uint32())
	case opReadDir:
		p.Offset = a.Uint64()
		a.Skip(verifier + 4)
		p.Count = uint64(a.Uint32())
		a.Words(4)
	}
}

const (
	stateid = 16 // bytes

	// The bits of the attributes up to the size, the first that can be set.
	untilSize = 1<<5 - 1
	sizeOnly  = 1 << 4

	shareWrite = 2 // OPEN4_SHARE_ACCESS_WRITE
)

// settings4 reads fattr4 for the size, the first attribute if it is set.
func settings4(x *nfs.Exchange, a *xdr.Cursor) {
	first := uint32(0)
	for n := a.Uint32(); n > 0 && a.OK(); n-- {
		if word := a.Uint32(); first == 0 {
			first = word | 1<<31
		}
	}
	if first&untilSize == sizeOnly {
		if n := a.Uint32(); n >= 8 {
			x.SetSize, x.Size = true, a.Uint64()
			a.Skip(int(min(n, 1<<30)+3)&^3 - 8)
			return
		}
		a.Refuse(xdr.ErrShort)
		return
	}
	a.SkipOpaque()
}

// create4 reads CREATE, which makes everything but plain files.
func (c *Call) create4(p *part, a *xdr.Cursor) {
	switch a.Uint32() {
	case 2:
		p.Proc = nfs.Mkdir
	case 5:
		p.Proc = nfs.Symlink
		p.Count = uint64(a.SkipOpaque())
	case 3, 4: // devices
		a.Skip(8)
	}
	p.Name = c.name(a)
	layout("f").skip(a)
	p.result = c.fresh(nil)
}

// open4 reads OPEN.
func (c *Call) open4(p *part, a *xdr.Cursor) {
	a.Uint32() // sequence number
	p.WriteAccess = a.Uint32()&shareWrite != 0
	layout("iho").skip(a) // what is denied, the owner
	if p.Creates = a.Bool(); p.Creates {
		switch mode := a.Uint32(); mode {
		case 0, 1: // UNCHECKED, GUARDED
			settings4(&p.Exchange, a)
		case 2, 3: // EXCLUSIVE, EXCLUSIVE4_1
			a.Skip(verifier)
			if mode == 3 {
				settings4(&p.Exchange, a)
			}
		default:
			a.Refuse(xdr.ErrValue)
		}
	}
	switch a.Uint32() {
	case 0, 3: // by name
		p.Name = c.name(a)
	case 2: // by name, with a delegation
		a.Skip(stateid)
		p.Name = c.name(a)
	case 1: // a file that was open before the server restarted
		a.Uint32()
	case 4, 6: // the current file
	case 5:
		a.Skip(stateid)
	default:
		a.Refuse(xdr.ErrValue)
	}
	if p.Name != nil {
		p.result = c.fresh(nil)
	}
}
