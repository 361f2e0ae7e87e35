package wire

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
)

// Decode never panics, and what it takes it would write just so.
func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, typ := range sortedTypes() {
		f.Add(bodyOf(generators[typ](r)), uint16(0))
		f.Add(bodyOf(generators[typ](r)), uint16(64))
	}
	f.Fuzz(func(t *testing.T, body []byte, blockSize uint16) {
		for _, size := range []int{0, int(blockSize)} {
			m, err := DecodeWith(body, size)
			if err != nil {
				continue
			}
			if got := bodyOf(m); !bytes.Equal(got, body) {
				t.Fatalf("%x decodes as %+v, which encodes as %x", body, m, got)
			}
		}
	})
}

// A Reader gives the frames that SplitFrame gives, however the bytes arrive.
func FuzzReader(f *testing.F) {
	r := rand.New(rand.NewPCG(8, 8))
	var stream []byte
	for range 5 {
		stream = Append(stream, random(r))
	}
	f.Add(stream)
	f.Add(stream[:len(stream)-1])
	f.Add([]byte{0x80, 0x80, 0x80, 0x80, 0x10})
	f.Fuzz(func(t *testing.T, stream []byte) {
		const limit = 1 << 16
		rd := NewReader(iotest.OneByteReader(bytes.NewReader(stream)), limit)
		for rest := stream; ; {
			want, next, splitErr := SplitFrame(rest, limit)
			got, err := rd.Next()
			if want != nil {
				if err != nil || !bytes.Equal(got, want) {
					t.Fatalf("got %x, %v, want %x", got, err, want)
				}
				rest = next
				continue
			}
			switch {
			case splitErr != nil:
				if err == nil || err.Error() != splitErr.Error() {
					t.Fatalf("got %v, want %v", err, splitErr)
				}
			case len(rest) == 0 && err != io.EOF, len(rest) > 0 && err != io.ErrUnexpectedEOF:
				t.Fatalf("with %d bytes left: %v", len(rest), err)
			}
			return
		}
	})
}
