package replay_test

import (
	"bytes"
	"compress/flate"
	"math/rand/v2"
	"testing"

	"github.com/tidemark/tidemark/fsim/replay"
	"github.com/tidemark/tidemark/traces"
)

// TestContentIsAFunctionOfPlace: any piece of a write is the same bytes,
// however it is cut.
func TestContentIsAFunctionOfPlace(t *testing.T) {
	const size = 3000
	for _, off := range []int64{0, 1, 7, 8, 4096, 1<<40 + 3} {
		whole := want(7, off, size, 9)
		if !bytes.Equal(whole, want(7, off, size, 9)) {
			t.Fatal("two calls differ")
		}
		for range 200 {
			from := rand.Int64N(size)
			n := rand.Int64N(size - from + 1)
			if !bytes.Equal(whole[from:from+n], want(7, off+from, n, 9)) {
				t.Fatalf("offset %d: %d bytes from %d on differ from the whole", off, n, from)
			}
		}
	}
}

// TestContentDiffers: files, places and lines have nothing in common, not
// even parts.
func TestContentDiffers(t *testing.T) {
	seen := make(map[[16]byte]string)
	add := func(what string, p []byte) {
		for i := 0; i+16 <= len(p); i += 16 {
			k := [16]byte(p[i:])
			if before, ok := seen[k]; ok {
				t.Fatalf("%s and %s have bytes in common", before, what)
			}
			seen[k] = what
		}
	}
	for fid := range traces.FID(8) {
		for line := range int64(8) {
			p := make([]byte, 4096)
			replay.Content(p, fid, 0, line)
			add(fid.String(), p)
		}
	}
	add("another place", want(0, 4096, 4096, 0))
	add("a large file id", want(1<<63, 0, 4096, 0))
}

func TestContentCannotBeCompressed(t *testing.T) {
	var all []byte
	for fid := range traces.FID(16) {
		for block := range int64(4) {
			all = append(all, want(fid, block*4096, 4096, int64(fid))...)
		}
	}
	var packed bytes.Buffer
	z, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(all); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if packed.Len() < len(all) {
		t.Errorf("%d bytes were packed into %d", len(all), packed.Len())
	}
}

func BenchmarkContent(b *testing.B) {
	p := make([]byte, 4096)
	b.SetBytes(int64(len(p)))
	b.ReportAllocs()
	for i := range b.N {
		replay.Content(p, 1, 4096, int64(i))
	}
}
