package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestDecodeRefuses(t *testing.T) {
	id := make([]byte, sessionLen)
	commit := func(writes ...byte) []byte { // a commit with zero fields
		b := append([]byte{1, 1, kindCommit, 0}, id...)
		b = append(b, 0, 0, 0, 0, 0, 0)
		return append(b, writes...)
	}
	patch := func(writes ...byte) []byte { // version 2, with ranges
		b := commit(writes...)
		b[0], b[2] = 2, kindPatch
		return b
	}
	huge := binary.AppendUvarint(nil, 1<<40)
	for _, c := range []struct {
		name   string
		in     []byte
		cause  error
		offset int
		text   string
	}{
		{"nothing", nil, ErrTruncated, 0, "version"},
		{"version 0", []byte{0, 0}, ErrVersion, 0, "version 0"},
		{"newer version", []byte{9, 1, 2, 3}, ErrVersion, 0, "version 9, this program knows 1 to 3"},
		{"kind 0", []byte{1, 1, 0, 0}, ErrKind, 2, "kind 0"},
		{"kind 8", []byte{1, 1, 8, 0}, ErrKind, 2, "kind 8"},
		{"second kind unknown", []byte{1, 2, kindEpoch, 5, 200, 0}, ErrKind, 4, "kind 200"},
		{"trailing byte", []byte{1, 1, kindEpoch, 5, 0}, ErrTrailing, 4, "1"},
		{"trailing after none", []byte{1, 0, 0}, ErrTrailing, 2, "1"},
		{"overlong count", []byte{1, 0x80, 0}, ErrVarint, 1, "record count"},
		{"overlong epoch", []byte{1, 1, kindEpoch, 0x85, 0}, ErrVarint, 3, "epoch"},
		{"65 bits", append([]byte{1, 1, kindEpoch}, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2), ErrVarint, 3, "epoch"},
		{"11 bytes", append([]byte{1, 1, kindEpoch}, bytes.Repeat([]byte{0x80}, 11)...), ErrVarint, 3, "epoch"},
		{"record count too large", append([]byte{1}, huge...), ErrTruncated, 1, "record count"},
		{"write count too large", commit(huge...), ErrTruncated, 26, "write count"},
		{"write length too large", commit(append([]byte{1, 0}, huge...)...), ErrTruncated, 28, "write length"},
		{"data ends in zero", commit(1, 0, 2, 7, 0), ErrPadding, 29, "write data"},
		{"patch in version 1", append([]byte{1}, patch(1, 0, 1, 0, 0, 7)[1:]...), ErrKind, 2, "kind 8"},
		{"version 2 for nothing", []byte{2, 1, kindEpoch, 5}, ErrForm, 0, "version"},
		{"patch without ranges", patch(1, 0, 2, 7), ErrForm, 2, "kind"},
		{"whole in a patch ends in zero", patch(1, 0, 4, 7, 0), ErrPadding, 29, "write data"},
		{"range count too large", patch(append([]byte{1, 0}, 0xff, 0xff, 0x7f)...), ErrTruncated, 28, "range count"},
		{"range cut off", patch(1, 0, 1, 0, 4, 7, 7), ErrTruncated, 31, "range data"},
		{"range begins too far", patch(1, 0, 1, 0x80, 0x80, 0x40, 0, 7), ErrRange, 29, "range"},
		{"range ends too far", patch(1, 0, 1, 0xff, 0xff, 0x3f, 1, 7, 7), ErrRange, 29, "range"},
		{"second range too far", patch(1, 0, 3, 0, 0, 7, 0xfe, 0xff, 0x3f, 0, 7), ErrRange, 32, "range"},
		{"range wraps", patch(1, 0, 3, 0, 0, 7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 7), ErrRange, 32, "range"},
		{"pin in version 2", []byte{2, 1, kindPin, 1, 0, 1, 'p'}, ErrKind, 2, "kind 9"},
		{"unpin in version 1", []byte{1, 1, kindUnpin, 1, 'p'}, ErrKind, 2, "kind 10"},
		{"kind 11", []byte{3, 1, 11, 1, 'p'}, ErrKind, 2, "kind 11"},
		{"version 3 for nothing", []byte{3, 1, kindEpoch, 5}, ErrForm, 0, "version"},
		{"pin without a name", []byte{3, 1, kindPin, 1, 0, 0}, ErrName, 5, "pin name"},
		{"name too long", append([]byte{3, 1, kindUnpin, 0x80, 2}, make([]byte, 256)...), ErrName, 3, "pin name"},
		{"negative lease", append([]byte{3, 1, kindPin, 1}, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1, 'p'), ErrNumber, 4, "pin lease"},
		{"too large", make([]byte, MaxEncodedBytes+1), ErrTooLarge, 0, "at most"},
	} {
		_, err := Decode(c.in)
		var de *DecodeError
		if !errors.As(err, &de) || !errors.Is(err, c.cause) || de.Offset != c.offset {
			t.Errorf("%s: got %v, want %v at %d", c.name, err, c.cause, c.offset)
			continue
		}
		if !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %q does not mention %q", c.name, err, c.text)
		}
	}
}

func TestCountsDoNotAllocate(t *testing.T) {
	// A count that the input cannot hold, and one that it could hold but
	// does not: neither may allocate for the elements announced.
	empty := append([]byte{1}, binary.AppendUvarint(nil, 4<<20)...)
	empty = append(empty, bytes.Repeat([]byte{0xff}, 8<<20)...)
	for _, in := range [][]byte{append([]byte{1}, binary.AppendUvarint(nil, 1<<50)...), empty} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Decode(in)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Error("accepted")
		}
		if grew := after.TotalAlloc - before.TotalAlloc; grew > 1<<20 {
			t.Errorf("refusing %d bytes allocated %d bytes", len(in), grew)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, g := range samples() {
		f.Add(Append(nil, g))
	}
	f.Add([]byte{9, 1, 2, 3})
	r := rand.New(rand.NewPCG(3, 3))
	for range 20 {
		f.Add(Append(nil, randomGroup(r)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		kept := slices.Clone(b)
		g, err := Decode(b)
		if err != nil {
			var de *DecodeError
			if !errors.As(err, &de) || de.Offset < 0 || de.Offset > len(b) {
				t.Fatalf("untyped or misplaced error %v", err)
			}
			return
		}
		if again := Append(nil, g); !bytes.Equal(again, kept) {
			t.Fatalf("%x decodes, but encodes again as %x", kept, again)
		}
	})
}
