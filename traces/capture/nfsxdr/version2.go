package nfsxdr

import (
	"github.com/tidemark/tidemark/traces/capture/xdr"
	"github.com/tidemark/tidemark/traces/nfs"
)

const (
	attributes2 = 17 * 4 // bytes of fattr
	unset2      = 1<<32 - 1
)

// handle2 reads a file handle of version 2.
func (c *Call) handle2(a *xdr.Cursor) []byte { return c.keep(a.Fixed(maxHandle2)) }

func (c *Call) name(a *xdr.Cursor) []byte { return c.keep(a.Opaque(maxString)) }

// settings2 reads sattr, in which -1 means that something is not set.
func settings2(x *nfs.Exchange, a *xdr.Cursor) {
	a.Skip(12) // mode, uid, gid
	size := a.Uint32()
	x.SetSize, x.Size = size != unset2, uint64(size)
	if !x.SetSize {
		x.Size = 0
	}
	a.Skip(16) // times
}

// args2 reads the arguments of a procedure (RFC 1094, section 2.2).
func (c *Call) args2(x *nfs.Exchange, a *xdr.Cursor) {
	x.File = c.handle2(a)
	switch x.Proc {
	case nfs.SetAttr:
		settings2(x, a)
	case nfs.Lookup, nfs.Remove, nfs.Rmdir:
		x.Name = c.name(a)
	case nfs.Read:
		x.Offset, x.Count = uint64(a.Uint32()), uint64(a.Uint32())
	case nfs.Write:
		a.Uint32() // "beginoffset", not used
		x.Offset = uint64(a.Uint32())
		a.Uint32()                   // "totalcount", not used
		x.Count = uint64(a.Uint32()) // of the data
	case nfs.Create, nfs.Mkdir:
		x.Name = c.name(a)
		settings2(x, a)
		if x.Proc == nfs.Mkdir {
			x.SetSize, x.Size = false, 0
		}
	case nfs.Rename:
		x.Name = c.name(a)
		x.ToDir, x.ToName = c.handle2(a), c.name(a)
	case nfs.Link:
		x.ToDir, x.ToName = c.handle2(a), c.name(a)
	case nfs.Symlink:
		x.Name = c.name(a)
		x.Count = uint64(a.SkipOpaque())
	case nfs.ReadDir:
		x.Offset, x.Count = uint64(a.Uint32()), uint64(a.Uint32())
	}
}

// results2 reads the results of a procedure that succeeded.
func (c *Call) results2(x *nfs.Exchange, r *xdr.Cursor) {
	switch x.Proc {
	case nfs.Lookup, nfs.Create, nfs.Mkdir:
		x.Result = c.keep(r.Fixed(maxHandle2))
	case nfs.Read:
		r.Skip(attributes2)
		x.Done, x.HasDone = uint64(r.Uint32()), r.OK()
	case nfs.ReadLink:
		x.Count = uint64(r.Uint32())
	}
}
