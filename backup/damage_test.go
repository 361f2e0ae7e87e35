package backup

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// typed reports whether an error is one that a Reader may return for bad bytes.
func typed(err error) bool {
	return errors.As(err, new(*DamageError)) || errors.Is(err, ErrForeign) || errors.As(err, new(*VersionError))
}

// Whatever byte is changed, and wherever a backup is cut, it is refused.
func TestEveryDamageIsNoticed(t *testing.T) {
	h := header(3, 90)
	whole := write(t, h, random(rand.New(rand.NewPCG(3, 4)), h, 6))
	for i := range whole {
		for _, flip := range []byte{1, 0x80} {
			b := bytes.Clone(whole)
			b[i] ^= flip
			_, _, err := parse(b)
			if !typed(err) {
				t.Fatalf("byte %d of %d flipped: %v", i, len(b), err)
			}
			var damage *DamageError
			if errors.As(err, &damage) && (damage.Offset > int64(len(b)) || damage.Name != "b") {
				t.Fatalf("byte %d of %d flipped: %v", i, len(b), err)
			}
		}
		_, _, err := parse(whole[:i])
		var damage *DamageError
		switch {
		case i < len(magic) && !errors.Is(err, ErrForeign):
			t.Fatalf("cut at %d: %v", i, err)
		case i >= len(magic) && (!errors.As(err, &damage) || damage.Offset != int64(i) || damage.Reason != "it breaks off"):
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
	if _, _, err := parse(append(bytes.Clone(whole), 0)); !strings.Contains(err.Error(), "something follows its end") {
		t.Fatalf("a byte more: %v", err)
	}
}

// frames makes a backup of any frames, with checksums and an end that are right.
func frames(h Header, payloads ...[]byte) []byte {
	out := h.encode()
	for i, p := range payloads {
		f := append(make([]byte, frameHead), p...)
		sealFrame(f, kindRecords, uint32(i))
		out = append(out, f...)
	}
	return out
}

func numbers(list ...uint64) (b []byte) {
	for _, n := range list {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

// What has the right checksums may still be nonsense.
func TestNonsense(t *testing.T) {
	h := header(10, 20)
	seal := func(kind, number uint32, payload []byte) []byte {
		f := append(make([]byte, frameHead), payload...)
		sealFrame(f, kind, number)
		return append(h.encode(), f...)
	}
	long := frames(h, nil)
	binary.LittleEndian.PutUint32(long[headerLen+offLength:], MaxFrame+1)
	for want, b := range map[string][]byte{
		"offset 68: a frame of kind 3 with 1 bytes":                               seal(3, 0, []byte{1}),
		"offset 68: a frame of kind 1 with 0 bytes":                               seal(kindRecords, 0, nil),
		"offset 68: frame 1 where frame 0 is expected":                            seal(kindRecords, 1, []byte{1}),
		"offset 68: an end of 3 bytes":                                            seal(kindEnd, 0, []byte{1, 2, 3}),
		"offset 68: an end of 1 records, where 0 precede it":                      seal(kindEnd, 0, append([]byte{1}, make([]byte, endLen-1)...)),
		"offset 68: an end of 256 bytes of data, where 0 precede it":              seal(kindEnd, 0, append(make([]byte, 9), append([]byte{1}, make([]byte, endLen-10)...)...)),
		"offset 68: the digest of the whole backup does not match":                seal(kindEnd, 0, make([]byte, endLen)),
		"offset 68: a frame of 1048609 bytes":                                     long,
		"offset 84: a record that does not begin with three numbers":              frames(h, numbers(1, 11)),
		"offset 84: a record of 513 bytes, where 600 are left and a block is 512": frames(h, append(numbers(1, 11, 513), make([]byte, 600)...)),
		"offset 84: a record of 9 bytes, where 0 are left and a block is 512":     frames(h, numbers(1, 11, 9)),
		"offset 84: block 1 from 10: it does not begin between 10 and 20":         frames(h, numbers(1, 10, 0)),
		"offset 84: block 1 from 21: it does not begin between 10 and 20":         frames(h, numbers(1, 21, 0)),
		"offset 87: block 1 from 11: it comes behind block 1":                     frames(h, numbers(1, 11, 0, 0, 11, 0)),
		"offset 87: a block above all others":                                     frames(h, numbers(1, 11, 0, 1<<64-1, 11, 0)),
		"offset 103: block 1 from 11: it comes behind block 1":                    frames(h, numbers(1, 11, 0), numbers(1, 11, 0)),
		"offset 84: block 1 with zeros at its end":                                frames(h, append(numbers(1, 11, 2), 1, 0)),
		"offset 84: a record that does not begin with three numbers ":             frames(h, []byte{0x81, 0, 11, 0}),
		"offset 0: what changed between timestamp 21 and 20":                      header(21, 20).encode(),
	} {
		_, _, err := parse(b)
		if err == nil || !strings.HasSuffix(err.Error(), strings.TrimSpace(want)) || !errors.As(err, new(*DamageError)) {
			t.Errorf("%v, not %s", err, want)
		}
	}
}

func TestForeign(t *testing.T) {
	newer := write(t, header(0, 9), nil)
	newer[offVersion]++
	for want, b := range map[string][]byte{
		"backup b: this is no backup of a Tidemark store":          []byte("#!/bin/sh\necho hello\n"),
		"backup b: this is no backup of a Tidemark store ":         nil,
		"backup b: it has format version 2, this program knows 1":  newer,
		"backup b: it has format version 2, this program knows 1 ": newer[:20],
		"backup b is damaged: offset 10: it breaks off":            newer[:10],
	} {
		if _, err := NewReader(bytes.NewReader(b), "b"); err == nil || err.Error() != strings.TrimSpace(want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
}

var errCable = errors.New("the cable is out")

// An error of the medium is no damage, and stays.
func TestReadErrors(t *testing.T) {
	whole := write(t, header(0, 9), []Record{{1, 1, []byte("data")}})
	for n := range len(whole) + 1 {
		in := io.MultiReader(bytes.NewReader(whole[:n]), iotest.ErrReader(errCable))
		r, err := NewReader(in, "b")
		for err == nil {
			_, err = r.Next()
		}
		var read *ReadError
		if !errors.As(err, &read) || !errors.Is(err, errCable) {
			t.Fatalf("after %d bytes: %v", n, err)
		}
		if n > headerLen {
			if _, again := r.Next(); !errors.Is(again, err) {
				t.Fatalf("after %d bytes, again: %v", n, again)
			}
		}
	}
}

// FuzzReader: whatever the bytes are, records are in order and errors typed,
// and what is accepted is written again as it was read.
func FuzzReader(f *testing.F) {
	h := header(3, 90)
	f.Add(write(f, h, random(rand.New(rand.NewPCG(5, 6)), h, 5)))
	f.Add(write(f, h, nil))
	f.Add(frames(h, numbers(1, 11, 0, 1, 11, 0), numbers(9, 4, 1)))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, list, err := parse(b)
		if err != nil && !typed(err) {
			t.Fatalf("%T: %v", err, err)
		}
		if err != nil && h == (Header{}) {
			return
		}
		again := write(t, h, list)
		h2, list2, err := parse(again)
		if err == nil {
			err = same(list, list2)
		}
		if err != nil || h2 != h {
			t.Fatalf("written again: %v", err)
		}
	})
}
