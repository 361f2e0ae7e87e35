package xdr

import (
	"bytes"
	"errors"
	"testing"
)

// message is 40 bytes of which 8 in the middle are not known.
func message() Cursor {
	head := []byte{0, 0, 0, 5, 'h', 'e', 'l', 'l', 'o', 0, 0, 0, 0, 0, 0, 20}
	tail := []byte{9, 9, 9, 9, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2}
	return New(head, tail, 40)
}

func TestCursorPassesOverWhatIsNotKnown(t *testing.T) {
	c := message()
	if got := c.Opaque(5); string(got) != "hello" {
		t.Errorf("read %q", got)
	}
	if n := c.SkipOpaque(); n != 20 || c.Left() != 4 {
		t.Errorf("passed over %d bytes, %d left", n, c.Left())
	}
	if n := c.Uint32(); n != 2 || !c.OK() {
		t.Errorf("read %d, %v", n, c.Err())
	}
	if c.Uint32(); !errors.Is(c.Err(), ErrShort) {
		t.Errorf("after the end: %v", c.Err())
	}
}

func TestCursorErrors(t *testing.T) {
	for name, test := range map[string]struct {
		read func(*Cursor)
		want error
	}{
		"in the gap":          {func(c *Cursor) { c.Skip(20); c.Uint32() }, ErrMissing},
		"into the gap":        {func(c *Cursor) { c.Skip(12); c.Uint64() }, ErrMissing},
		"out of the gap":      {func(c *Cursor) { c.Skip(20); c.Uint64() }, ErrMissing},
		"too long a name":     {func(c *Cursor) { c.Opaque(4) }, ErrLong},
		"beyond the end":      {func(c *Cursor) { c.Skip(41) }, ErrShort},
		"opaque beyond it":    {func(c *Cursor) { c.Skip(24); c.SkipOpaque() }, ErrShort},
		"array beyond it":     {func(c *Cursor) { c.Skip(12); c.Words(1 << 30) }, ErrShort},
		"refused":             {func(c *Cursor) { c.Refuse(ErrValue); c.Refuse(ErrShort) }, ErrValue},
		"the first one stays": {func(c *Cursor) { c.Opaque(4); c.Skip(100); c.Uint64() }, ErrLong},
	} {
		c := message()
		test.read(&c)
		if !errors.Is(c.Err(), test.want) || c.Left() != 0 {
			t.Errorf("%s: %v", name, c.Err())
		}
		if c.Uint32() != 0 || c.Uint64() != 0 || c.Opaque(9) != nil || c.SkipOpaque() != 0 || c.Fixed(1) != nil || c.Bool() {
			t.Errorf("%s: something was read after it", name)
		}
	}
}

// TestLengthThatCannotBePadded is the length of a name that overflows when it
// is rounded up.
func TestLengthThatCannotBePadded(t *testing.T) {
	b := []byte{0xff, 0xff, 0xff, 0xfd, 1, 2, 3, 4}
	c := New(b, nil, len(b))
	if n := c.SkipOpaque(); n != 0 || !errors.Is(c.Err(), ErrShort) {
		t.Errorf("passed over %d bytes, %v", n, c.Err())
	}
	c = New(b, nil, len(b))
	if got := c.Opaque(1024); got != nil || !errors.Is(c.Err(), ErrLong) {
		t.Errorf("read %x, %v", got, c.Err())
	}
}

func TestPartsThatOverlap(t *testing.T) {
	for n := range 9 {
		c := New([]byte{1, 2, 3, 4, 5}, []byte{4, 5, 6, 7, 8}[5-min(n, 5):], n)
		want := []byte{1, 2, 3, 4, 5, 6, 7, 8}
		if n <= 5 {
			if got := c.Fixed(n &^ 3); !bytes.Equal(got, want[:n&^3]) {
				t.Errorf("of %d bytes: %v", n, got)
			}
			continue
		}
		c.Skip(n - 1)
		if got := c.take(1); len(got) != 1 || got[0] != 8 {
			t.Errorf("the last of %d bytes: %v", n, got)
		}
	}
}

func FuzzCursor(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x03abc\x00"), []byte("tail"), uint16(30), []byte{0, 1, 2, 3, 4, 5, 6})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff}, []byte{}, uint16(4), []byte{3})
	f.Fuzz(func(t *testing.T, head, tail []byte, size uint16, steps []byte) {
		c := New(head, tail, int(size))
		for _, s := range steps {
			before := c.Left()
			switch s % 7 {
			case 0:
				c.Uint32()
			case 1:
				c.Uint64()
			case 2:
				if b := c.Opaque(int(s)); len(b) > int(s) {
					t.Fatalf("%d bytes of at most %d", len(b), s)
				}
			case 3:
				if n := c.SkipOpaque(); int(n) > before {
					t.Fatalf("passed over %d of %d bytes", n, before)
				}
			case 4:
				c.Skip(int(s))
			case 5:
				c.Words(4)
			case 6:
				c.Fixed(int(s) / 8)
			}
			if c.Left() > before || c.pos > int(size) {
				t.Fatalf("at %d of %d", c.pos, size)
			}
		}
	})
}
