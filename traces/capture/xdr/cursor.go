// Package xdr reads the data format of ONC RPC (RFC 4506) from messages that
// need not be whole: a capture may have cut packets, and nobody keeps the
// megabyte that a WRITE carries. A message is therefore what is known of its
// beginning, a stretch that is not known, and what is known of its end.
package xdr

import (
	"encoding/binary"
	"errors"
)

// Why a Cursor stopped.
var (
	// ErrShort is an item that reaches beyond the end of its message.
	ErrShort = errors.New("the message ends too early")
	// ErrMissing is an item that lies in the stretch that is not known.
	ErrMissing = errors.New("that part of the message is not known")
	// ErrLong is an item that is longer than its protocol allows.
	ErrLong = errors.New("an item is too long")
	// ErrValue is an item with a value that its protocol does not know.
	ErrValue = errors.New("an item has an unknown value")
)

// Cursor reads one item after the other. After the first that cannot be read,
// every further one is zero, and Err says why. The zero Cursor is an empty
// message.
type Cursor struct {
	head, tail []byte
	size       int // of the message
	pos        int // of the next item
	err        error
}

// New returns a Cursor at the beginning of a message of size bytes which
// begins with head and ends with tail. What it returns points into these.
func New(head, tail []byte, size int) Cursor {
	if len(head) >= size {
		return Cursor{head: head[:size], size: size}
	}
	if over := len(head) + len(tail) - size; over > 0 {
		tail = tail[over:]
	}
	return Cursor{head: head, tail: tail, size: size}
}

// Err returns why an item could not be read: nil, or one of the errors above.
func (c *Cursor) Err() error { return c.err }

// OK says that every item so far could be read.
func (c *Cursor) OK() bool { return c.err == nil }

// Refuse makes the Cursor stop because of what the last item said.
func (c *Cursor) Refuse(err error) {
	if c.err == nil {
		c.err = err
	}
}

// Left returns how many bytes of the message follow, known or not.
func (c *Cursor) Left() int {
	if c.err != nil {
		return 0
	}
	return c.size - c.pos
}

// take returns the next n bytes, nil if they cannot be had.
func (c *Cursor) take(n int) []byte {
	switch {
	case c.err != nil:
		return nil
	case n > c.size-c.pos:
		c.err = ErrShort
		return nil
	case c.pos+n <= len(c.head):
		b := c.head[c.pos : c.pos+n : c.pos+n]
		c.pos += n
		return b
	}
	from := c.pos - (c.size - len(c.tail))
	if from < 0 {
		c.err = ErrMissing
		return nil
	}
	c.pos += n
	return c.tail[from : from+n : from+n]
}

// Uint32 reads an unsigned integer of 4 bytes.
func (c *Cursor) Uint32() uint32 {
	if b := c.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// Uint64 reads an unsigned integer of 8 bytes.
func (c *Cursor) Uint64() uint64 {
	if b := c.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// Bool reads a boolean. Any value but 0 is true.
func (c *Cursor) Bool() bool { return c.Uint32() != 0 }

// Fixed reads n bytes of fixed length, and the padding after them.
func (c *Cursor) Fixed(n int) []byte {
	b := c.take(n)
	c.Skip(padding(n))
	if c.err != nil {
		return nil
	}
	return b
}

// Opaque reads bytes or a string of at most limit bytes.
func (c *Cursor) Opaque(limit int) []byte {
	n := c.Uint32()
	if c.err == nil && uint64(n) > uint64(limit) {
		c.err = ErrLong
	}
	if c.err != nil {
		return nil
	}
	return c.Fixed(int(n))
}

// SkipOpaque passes over bytes or a string of any length, which need not be
// known, and returns how many there are.
func (c *Cursor) SkipOpaque() uint32 {
	n := c.Uint32()
	if c.err == nil && uint64(n)+uint64(padding(int(n&3))) > uint64(c.size-c.pos) {
		c.err = ErrShort
	}
	if c.err != nil {
		return 0
	}
	c.pos += int(n) + padding(int(n))
	return n
}

// Skip passes over n bytes, which need not be known.
func (c *Cursor) Skip(n int) {
	switch {
	case c.err != nil:
	case n > c.size-c.pos:
		c.err = ErrShort
	default:
		c.pos += n
	}
}

// Words passes over an array of items of size bytes each.
func (c *Cursor) Words(size int) {
	n := c.Uint32()
	if c.err == nil && uint64(n)*uint64(size) > uint64(c.size-c.pos) {
		c.err = ErrShort
	}
	if c.err == nil {
		c.pos += int(n) * size
	}
}

// padding is how many bytes follow n bytes to fill the last word.
func padding(n int) int { return -n & 3 }
