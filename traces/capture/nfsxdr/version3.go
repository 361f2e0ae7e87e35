package nfsxdr

import (
	"github.com/tidemark/tidemark/traces/capture/xdr"
	"github.com/tidemark/tidemark/traces/nfs"
)

const (
	attributes3 = 84 // bytes of fattr3
	before3     = 24 // bytes of wcc_attr
	verifier    = 8  // bytes
)

func (c *Call) handle3(a *xdr.Cursor) []byte { return c.keep(a.Opaque(maxHandle3)) }

// settings3 reads sattr3, in which each item is preceded by whether it is
// set.
func settings3(x *nfs.Exchange, a *xdr.Cursor) {
	for range 3 { // mode, uid, gid
		optional(a, 4)
	}
	if x.SetSize = a.Bool(); x.SetSize {
		x.Size = a.Uint64()
	}
	for range 2 { // times, which only the client's choice is followed by
		if a.Uint32() == 2 {
			a.Skip(8)
		}
	}
}

// optional passes over n bytes that need not be there.
func optional(a *xdr.Cursor, n int) {
	if a.Bool() {
		a.Skip(n)
	}
}

// args3 reads the arguments of a procedure (RFC 1813, section 3.3).
func (c *Call) args3(x *nfs.Exchange, a *xdr.Cursor) {
	x.File = c.handle3(a)
	switch x.Proc {
	case nfs.SetAttr:
		settings3(x, a)
	case nfs.Lookup, nfs.Remove, nfs.Rmdir, nfs.Mkdir, nfs.Mknod:
		x.Name = c.name(a)
	case nfs.Read, nfs.Write, nfs.Commit:
		x.Offset, x.Count = a.Uint64(), uint64(a.Uint32())
	case nfs.Create:
		x.Name = c.name(a)
		if how := a.Uint32(); how < 2 { // not EXCLUSIVE
			settings3(x, a)
		}
	case nfs.Symlink:
		x.Name = c.name(a)
		settings3(x, a)
		x.SetSize, x.Size = false, 0
		x.Count = uint64(a.SkipOpaque())
	case nfs.Rename:
		x.Name = c.name(a)
		x.ToDir, x.ToName = c.handle3(a), c.name(a)
	case nfs.Link:
		x.ToDir, x.ToName = c.handle3(a), c.name(a)
	case nfs.ReadDir:
		x.Offset = a.Uint64()
		a.Skip(verifier)
		x.Count = uint64(a.Uint32())
		if c.procedure == readDirPlus {
			x.Count = uint64(a.Uint32()) // the first one is of names alone
		}
	}
}

// readDirPlus is the number of READDIRPLUS.
const readDirPlus = 17

// results3 reads the results of a procedure that succeeded.
func (c *Call) results3(x *nfs.Exchange, r *xdr.Cursor) {
	switch x.Proc {
	case nfs.Lookup:
		x.Result = c.handle3(r)
	case nfs.Create, nfs.Mkdir, nfs.Symlink, nfs.Mknod:
		if r.Bool() {
			x.Result = c.handle3(r)
		}
	case nfs.Read:
		optional(r, attributes3)
		x.Done, x.HasDone = uint64(r.Uint32()), r.OK()
	case nfs.Write:
		optional(r, before3)
		optional(r, attributes3)
		x.Done, x.HasDone = uint64(r.Uint32()), r.OK()
	case nfs.ReadLink:
		optional(r, attributes3)
		x.Count = uint64(r.Uint32())
	}
}
