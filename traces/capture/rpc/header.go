// Package rpc finds the messages of ONC RPC (RFC 5531) in datagrams and in
// streams of bytes, and reads their headers.
package rpc

import (
	"encoding/binary"
	"errors"

	"github.com/tidemark/tidemark/traces/capture/xdr"
)

const (
	typeCall  = 0
	typeReply = 1

	rpcVersion  = 2
	flavorNone  = 0
	flavorShort = 2
	flavorGSS   = 6   // RFC 2203
	maxAuth     = 400 // bytes of credentials or a verifier
)

// Protection is what RPCSEC_GSS (RFC 2203) does to a call and its reply. It
// is the same for both, but only the call says it.
type Protection uint8

// The protections.
const (
	Plain     Protection = iota
	Integrity            // a length and a sequence number precede what was protected
	Privacy              // encrypted: nothing can be read
	// Control is a message that sets up the protection of others, and
	// carries nothing of the program.
	Control
)

// Header is that of a call or a reply.
type Header struct {
	XID   uint32
	Reply bool
	// Of a call:
	Program, Version, Procedure uint32
	Protection                  Protection
	// Of a reply: that the call was carried out, so that results follow.
	Done bool
	// Cut says that the end of the header is not known, so that nothing that
	// comes after it can be read; Done is not known then.
	Cut bool
}

// Parse reads a header and leaves the Cursor at the arguments or results. It
// returns false if it is no header, or less is known of it than what kind of
// message it is.
func Parse(c *xdr.Cursor) (Header, bool) {
	h := Header{XID: c.Uint32()}
	kind := c.Uint32()
	if !c.OK() {
		return h, false
	}
	switch kind {
	case typeCall:
		if c.Uint32() != rpcVersion {
			return h, false
		}
		h.Program, h.Version, h.Procedure = c.Uint32(), c.Uint32(), c.Uint32()
		if !c.OK() {
			return h, false
		}
		flavor := c.Uint32()
		credentials := c.Opaque(maxAuth)
		c.Uint32()
		c.Opaque(maxAuth)
		if flavor == flavorGSS {
			h.Protection = protection(credentials)
		}
	case typeReply:
		h.Reply = true
		switch c.Uint32() {
		case 0: // accepted
			c.Uint32()
			c.Opaque(maxAuth)
			status := c.Uint32()
			h.Done = status == 0 && c.OK()
			if status > 5 {
				return h, false
			}
		case 1: // denied: RPC_MISMATCH or AUTH_ERROR
			if c.Uint32() > 1 {
				return h, false
			}
		default:
			return h, false
		}
	default:
		return h, false
	}
	h.Cut = errors.Is(c.Err(), xdr.ErrMissing)
	return h, h.Cut || c.OK()
}

// protection reads the credentials of RPCSEC_GSS.
func protection(credentials []byte) Protection {
	c := xdr.New(credentials, nil, len(credentials))
	c.Uint32() // version
	procedure := c.Uint32()
	c.Uint32() // sequence number
	switch service := c.Uint32(); {
	case procedure != 0:
		return Control
	case service == 2:
		return Integrity
	case service == 3:
		return Privacy
	}
	return Plain
}

// Open moves a Cursor from the end of the header to the arguments or results
// inside the protection. It returns false if there are none to be read.
func (p Protection) Open(c *xdr.Cursor) bool {
	switch p {
	case Plain:
		return true
	case Integrity:
		c.Skip(8) // the length of what is protected, and the sequence number
		return c.OK()
	}
	return false
}

const (
	// headerLeast is the size of the smallest message, a reply that denies.
	headerLeast = 20
	// sightLength is how many bytes, of the record mark and the message, tell
	// the beginning of a message from other bytes.
	sightLength = 4 + 24
	// sightLimit is the size of the largest message that is believed to
	// begin in the midst of bytes of unknown meaning.
	sightLimit = 4 << 20
)

// possible says whether a message of size bytes may begin with b, of which at
// least 12 bytes are known. Every message passes, and few other things.
func possible(b []byte, size int) bool {
	if size < headerLeast {
		return false
	}
	third := binary.BigEndian.Uint32(b[8:])
	switch binary.BigEndian.Uint32(b[4:]) {
	case typeCall:
		return third == rpcVersion
	case typeReply:
		return third <= 1
	}
	return false
}

// Likely says whether b, at least 20 bytes, begins a message of size bytes: a
// call of a program of a kind that goes with NFS, or a reply. Hardly anything
// else passes.
func Likely(b []byte, size int) bool {
	if len(b) < headerLeast || !possible(b, size) {
		return false
	}
	word := func(i int) uint32 { return binary.BigEndian.Uint32(b[4*i:]) }
	switch {
	case word(1) == typeReply && word(2) == 1: // denied: with versions, or a reason
		return word(3) == 0 && size == 24 || word(3) == 1 && size == 20 && word(4) < 16
	case len(b) < 24:
		return false
	case word(1) == typeCall:
		return size >= 40 && known(word(3)) && word(4) <= 8 && word(5) <= 64
	}
	switch flavor, length := word(3), word(4); flavor {
	case flavorNone:
		return length == 0 && word(5) <= 5
	case flavorShort, flavorGSS:
		return length > 0 && length <= maxAuth && size >= 24+int(length)
	}
	return false
}

// sighted says whether a record of one fragment begins here.
func sighted(b []byte) bool {
	mark := binary.BigEndian.Uint32(b)
	size := int(mark &^ lastFragment)
	return mark&lastFragment != 0 && size <= sightLimit && Likely(b[4:], size)
}
