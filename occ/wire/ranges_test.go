package wire

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/tidemark/tidemark/occ"
)

// commitHead are the bytes of a Commit before its writes: flags 2, no reads.
const commitHead = "\x04\x01\x02\x01\x00\x00\x00\x00\x00\x00"

func TestRangesRefused(t *testing.T) {
	for name, c := range map[string]struct{ writes, field string }{
		"none announced":        {"\x01\x02\x02\x61", "flags"},
		"no writes":             {"\x00", "flags"},
		"beyond the message":    {"\x01\x02\x01\x00\x04ab", "writes"},
		"more than fit":         {"\x01\x02\x7f\x00\x00a\x00\x00a", "writes"},
		"2^40":                  {"\x01\x02\x81\x80\x80\x80\x80\x20\x00\x00a", "writes"},
		"begins behind a block": {"\x01\x02\x01\x80\x80\x40\x00a", "writes"},
		"ends behind a block":   {"\x01\x02\x01\xff\xff\x3f\x01ab", "writes"},
		"second ends behind it": {"\x01\x02\x03\x00\x00a\xfe\xff\x3f\x00a", "writes"},
		"wraps to touch":        {"\x01\x02\x03\x00\x00a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00a", "writes"},
		"length wraps":          {"\x01\x02\x01\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01a", "writes"},
	} {
		m, err := Decode([]byte(commitHead + c.writes))
		if de, ok := err.(*DecodeError); m != nil || !ok || de.Field != c.field {
			t.Errorf("%s: got %+v, %v; want an error in field %q", name, m, err, c.field)
		}
	}
	last := []byte(commitHead + "\x01\x02\x01\xff\xff\x3f\x00a")
	m, err := Decode(last)
	if err != nil {
		t.Fatal(err)
	}
	if r := m.(*Commit).Writes[0].Ranges[0]; r.End() != MaxBlock {
		t.Errorf("the last byte of the largest block is in %+v", r)
	}
}

// All ranges of a commit together are bounded, whatever the frame holds.
func TestRangesAreBounded(t *testing.T) {
	perWrite := bytes.Repeat([]byte("\x00\x00a"), 1<<16)
	body := []byte(commitHead + "\x11")
	for range 17 {
		body = append(body, "\x02\xff\xff\x07"...)
		body = append(body, perWrite...)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Decode(body)
	runtime.ReadMemStats(&after)
	if de, ok := err.(*DecodeError); !ok || de.Field != "writes" {
		t.Fatalf("got %v", err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 48<<20 {
		t.Errorf("%d bytes allocated", n)
	}
	body = append([]byte(commitHead+"\x01\x02\x9f\x1f"), make([]byte, 3000)...) // 2000 ranges, of at least 6000 bytes
	runtime.ReadMemStats(&before)
	_, err = Decode(body)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; err == nil || n > 10_000 {
		t.Errorf("%d bytes allocated for ranges that are not there, %v", n, err)
	}
	body = []byte(commitHead + "\x10") // 16 writes: exactly MaxEntries
	for range 16 {
		body = append(append(body, "\x02\xff\xff\x07"...), perWrite...)
	}
	if _, err := Decode(body); err != nil {
		t.Errorf("as many as allowed: %v", err)
	}
}

// What Difference gives turns the one block into the other, in fewer bytes.
func TestDifference(t *testing.T) {
	r := newRand(t)
	used, whole := 0, 0
	for range 5000 {
		size := 1 + r.IntN(300)
		base := make([]byte, size)
		for i := range base[:r.IntN(size+1)] {
			base[i] = byte(r.IntN(3))
		}
		data := bytes.Clone(base)
		for range r.IntN(4) {
			at := r.IntN(size)
			for i := range data[at:min(size, at+r.IntN(20))] {
				data[at+i] = byte(r.IntN(3))
			}
		}
		kept := bytes.Clone(data)
		ranges := Difference(base, data)
		if ranges == nil {
			whole++
			continue
		}
		used++
		if !occ.InOrder(ranges) {
			t.Fatalf("%v", ranges)
		}
		if got := occ.Patch(base, ranges); !bytes.Equal(got, trim(data)) {
			t.Fatalf("%v turn %v into %v, want %v", ranges, base, got, data)
		}
		parts := len(appendWrites(nil, []occ.Write{{Ranges: ranges}}))
		if all := len(appendWrites(nil, []occ.Write{{Data: data}})); parts >= all {
			t.Fatalf("%d bytes in ranges, %d as a whole", parts, all)
		}
		if !bytes.Equal(data, kept) {
			t.Fatal("the block changed")
		}
	}
	if used < 100 || whole < 100 {
		t.Errorf("%d in ranges, %d as a whole: the runs say little", used, whole)
	}
}

// Ranges that lie close together are one; what is far apart is not; and a
// block that changes all over goes as a whole.
func TestDifferenceMerges(t *testing.T) {
	block := func(at ...int) []byte {
		b := bytes.Repeat([]byte{7}, 4096)
		for _, i := range at {
			b[i] = 8
		}
		return b
	}
	for name, c := range map[string]struct {
		data  []byte
		sizes []int
	}{
		"one byte":       {block(9), []int{1}},
		"nothing":        {block(), []int{1}},
		"close":          {block(100, 103), []int{4}},
		"far":            {block(100, 104), []int{1, 1}},
		"first and last": {block(0, 4095), []int{1, 1}},
		"all but one":    {append(bytes.Repeat([]byte{8}, 4095), 7), nil},
		"everything":     {bytes.Repeat([]byte{8}, 4096), nil},
		"zeros":          {make([]byte, 4096), nil},
	} {
		var sizes []int
		for _, r := range Difference(block(), c.data) {
			sizes = append(sizes, len(r.Data))
		}
		if len(sizes) != len(c.sizes) || len(sizes) > 0 && sizes[0] != c.sizes[0] {
			t.Errorf("%s: ranges of %v bytes, want %v", name, sizes, c.sizes)
		}
	}
}

// A commit that changes 16 bytes of a block that it read.
func TestRangesSize(t *testing.T) {
	base := bytes.Repeat([]byte{1}, 4096)
	data := bytes.Clone(base)
	copy(data[1000:], "sixteen bytes...")
	reads := []occ.Read{{Block: 700_000, From: 2_000_000}}
	m := &Commit{Req: 1000, Seq: 1000, Acked: 999, Reads: reads, Writes: []occ.Write{{Block: 700_000, Data: data}}}
	whole := len(Append(nil, m))
	m.Writes = []occ.Write{{Block: 700_000, Ranges: Difference(base, data)}}
	parts := len(Append(nil, m))
	t.Logf("%d bytes in ranges, %d as a whole", parts, whole)
	if parts > 48 {
		t.Errorf("%d bytes for 16", parts)
	}
	if whole > 4096+27 {
		t.Errorf("%d bytes for a whole block", whole)
	}
}

func BenchmarkDifference(b *testing.B) {
	base := bytes.Repeat([]byte{1}, 4096)
	few := bytes.Clone(base)
	copy(few[1000:], "sixteen bytes...")
	all := make([]byte, len(base))
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range all {
		all[i] = byte(rng.Uint32())
	}
	for name, data := range map[string][]byte{"16": few, "all": all} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(4096)
			b.ReportAllocs()
			for b.Loop() {
				Difference(base, data)
			}
		})
	}
}
