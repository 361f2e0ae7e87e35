package pcap

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"
	"testing/iotest"
)

var (
	little order = binary.LittleEndian
	big    order = binary.BigEndian
)

// block wraps a body, whose length is a multiple of 4.
func block(o order, kind uint32, body []byte) []byte {
	b := o.AppendUint32(nil, kind)
	b = o.AppendUint32(b, uint32(len(body)+12))
	b = append(b, body...)
	return o.AppendUint32(b, uint32(len(body)+12))
}

func words(o order, ns ...uint32) (b []byte) {
	for _, n := range ns {
		b = o.AppendUint32(b, n)
	}
	return b
}

func padded(data string) []byte { return append([]byte(data), make([]byte, -len(data)&3)...) }

func section(o order) []byte {
	return block(o, blockSection, append(words(o, byteOrderMagic), append(o.AppendUint16(o.AppendUint16(nil, 1), 0), bytes.Repeat([]byte{255}, 8)...)...))
}

// describe describes an interface, with options given as number and value.
func describe(o order, link uint16, snap uint32, options ...any) []byte {
	b := append(o.AppendUint16(nil, link), 0, 0)
	b = o.AppendUint32(b, snap)
	for i := 0; i < len(options); i += 2 {
		value := options[i+1].(string)
		b = o.AppendUint16(b, uint16(options[i].(int)))
		b = o.AppendUint16(b, uint16(len(value)))
		b = append(b, padded(value)...)
	}
	return block(o, blockInterface, b)
}

func enhanced(o order, number uint32, ticks uint64, wire uint32, data string) []byte {
	b := words(o, number, uint32(ticks>>32), uint32(ticks), uint32(len(data)), wire)
	return block(o, blockEnhanced, append(b, padded(data)...))
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func TestBlocks(t *testing.T) {
	for name, o := range map[string]order{"little": little, "big": big} {
		obsolete := append(o.AppendUint16(o.AppendUint16(nil, 1), 7), words(o, 0, 3_000_000, 3, 9)...)
		b := join(
			section(o),
			describe(o, 1, 0),
			describe(o, 113, 4, optionResolution, "\x09"),
			block(o, 5, words(o, 1, 2, 3)), // statistics
			enhanced(o, 0, 1_000_001, 5, "abcde"),
			enhanced(o, 1, 2_000_000_001, 90, "fgh"),
			block(o, blockObsolete, append(obsolete, padded("ijk")...)),
			enhanced(o, 2, 0, 1, "x"), // not described
			block(o, blockSimple, append(words(o, 6), padded("simple")...)),
		)
		if !Recognize(b[:24]) {
			t.Errorf("%s: not recognized", name)
		}
		got, counts := readAll(t, iotest.OneByteReader(bytes.NewReader(b)))
		expect(t, name, got, `1000001 1 "abcde"/5`, `2000000 113 "fgh"/90`, `3000 113 "ijk"/9`, `3000 1 "simple"/6`)
		if counts != (Counts{Packets: 4, Cut: 2, Unknown: 1, Timeless: 1}) {
			t.Errorf("%s: %+v", name, counts)
		}
	}
}

// TestSections has two sections of different byte order, each with its own
// interfaces.
func TestSections(t *testing.T) {
	b := join(section(little), describe(little, 1, 0), enhanced(little, 0, 1, 1, "a"),
		section(big), enhanced(big, 0, 9, 1, "x"), describe(big, 101, 0), enhanced(big, 0, 2, 1, "b"))
	got, counts := readAll(t, bytes.NewReader(b))
	expect(t, "sections", got, `1 1 "a"/1`, `2 101 "b"/1`)
	if counts.Unknown != 1 {
		t.Errorf("%+v", counts)
	}
}

func TestSimplePacketIsCutToTheSnapLength(t *testing.T) {
	b := join(section(little), describe(little, 1, 3), block(little, blockSimple, append(words(little, 1000), padded("abc")...)),
		block(little, blockSimple, append(words(little, 2), padded("xy")...)))
	got, _ := readAll(t, bytes.NewReader(b))
	expect(t, "simple", got, `0 1 "abc"/1000`, `0 1 "xy"/2`)
}

func TestUnitsOfTime(t *testing.T) {
	for _, c := range []struct {
		resolution byte
		offset     string
		ticks      uint64
		want       int64 // -1: impossible
	}{
		{6, "", 5, 5},
		{0, "", 5, 5_000_000},
		{3, "", 5, 5_000},
		{9, "", 5_999, 5},
		{12, "", 5_999_999, 5},
		{25, "", 1 << 63, 0},
		{60, "", 1 << 63, 0},
		{0x80, "", 7, 7_000_000},
		{0x80 | 20, "", 3 << 19, 1_500_000},
		{0x80 | 64, "", 1 << 63, 500_000},
		{0x80 | 70, "", 1 << 63, 7812},
		{6, "\x05\x00\x00\x00\x00\x00\x00\x00", 5, 5_000_005},
		{6, "\xff\xff\xff\xff\xff\xff\xff\xff", 1_000_005, 5},
		{6, "\xff\xff\xff\xff\xff\xff\xff\xff", 5, -1},
		{6, "\x00\x00\x00\x00\x00\x00\x00\x80", 5, -1},
		{6, "\xff\xff\xff\xff\xff\xff\xff\x7f", 5, -1},
		{0, "", 1 << 60, -1},
		{6, "", 1 << 63, -1},
	} {
		options := []any{optionResolution, string(c.resolution)}
		if c.resolution >= 0x80 {
			options[1] = string([]byte{c.resolution})
		}
		if c.offset != "" {
			options = append(options, optionOffset, c.offset)
		}
		options = append(options, optionEnd, "", 77, "after the end")
		r, err := NewReader(bytes.NewReader(join(section(little), describe(little, 1, 0, options...), enhanced(little, 0, c.ticks, 1, "a"))))
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if impossible := r.Counts().Timeless == 1; impossible != (c.want < 0) || p.Time != max(c.want, 0) {
			t.Errorf("%d ticks of resolution %#x, offset %x: %d, not %d", c.ticks, c.resolution, c.offset, p.Time, c.want)
		}
	}
}

func TestBlocksDamage(t *testing.T) {
	good := join(section(little), describe(little, 1, 0), enhanced(little, 0, 1, 1, "a"))
	after := join(enhanced(little, 0, 2, 1, "b"), enhanced(little, 0, 3, 1, "c"))
	tail := enhanced(little, 0, 7, 1, "x")
	tail[len(tail)-1] = 1
	huge := block(little, 99, nil)
	little.PutUint32(huge[4:], MaxBlock+4)
	for name, damage := range map[string][]byte{
		"length too small": append(words(little, 6, 8), make([]byte, 20)...),
		"length odd":       append(words(little, 6, 33), make([]byte, 20)...),
		"huge":             huge,
		"lengths differ":   tail,
		"rubbish":          bytes.Repeat([]byte("garbage!"), 20000),
	} {
		got, counts := readAll(t, bytes.NewReader(join(good, damage, after)))
		expect(t, name, got, `1 1 "a"/1`, `2 1 "b"/1`, `3 1 "c"/1`)
		if counts.Damaged != 1 || counts.Passed != int64(len(damage)) {
			t.Errorf("%s: %+v", name, counts)
		}
	}
	// A block that is whole but cannot be is just left out.
	for name, damage := range map[string][]byte{
		"short":     block(little, blockEnhanced, words(little, 0)),
		"kept":      block(little, blockEnhanced, words(little, 0, 0, 0, 100, 100)),
		"interface": block(little, blockInterface, words(little, 0)),
	} {
		got, counts := readAll(t, bytes.NewReader(join(good, damage, after)))
		expect(t, name, got, `1 1 "a"/1`, `2 1 "b"/1`, `3 1 "c"/1`)
		if counts.Damaged != 1 || counts.Passed != 0 {
			t.Errorf("%s: %+v", name, counts)
		}
	}
}

// TestBlocksCut cuts a file within a block that is larger than the buffer,
// and within one that is not.
func TestBlocksCut(t *testing.T) {
	b := join(section(little), describe(little, 1, 0), enhanced(little, 0, 1, 1, "a"), block(little, 99, make([]byte, 2*bufferSize)))
	for _, n := range []int{1, 11, 12, bufferSize, bufferSize + 12} {
		got, counts := readAll(t, bytes.NewReader(b[:len(b)-n]))
		expect(t, "cut", got, `1 1 "a"/1`)
		if !counts.Truncated || counts.Damaged != 0 {
			t.Errorf("cut by %d: %+v", n, counts)
		}
	}
	got, counts := readAll(t, bytes.NewReader(append(b, enhanced(little, 0, 2, 1, "b")...)))
	expect(t, "after a large block", got, `1 1 "a"/1`, `2 1 "b"/1`)
	if counts.Truncated {
		t.Errorf("%+v", counts)
	}
}

func FuzzReader(f *testing.F) {
	classic := classicFile(little, magicMicro, 4, 1)
	for i := range 3 {
		classic = classicPacket(little, classic, uint32(i+1), 0, 4, 4, "abcd")
	}
	f.Add(classic)
	f.Add(join(section(big), describe(big, 1, 0, optionResolution, "\x09"), enhanced(big, 0, 1, 1, "a"), section(little), describe(little, 1, 0),
		block(little, blockSimple, append(words(little, 6), padded("simple")...))))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := NewReader(bytes.NewReader(data))
		if Recognize(data) != (err == nil) {
			t.Fatalf("recognized: %v, but %v", Recognize(data), err)
		}
		total := 0
		for err == nil {
			var p Packet
			if p, err = r.Next(); err == nil {
				if total += len(p.Data) + 8; total > len(data) || p.Wire < len(p.Data) || p.Time < 0 {
					t.Fatalf("%d bytes of packets in %d: %+v", total, len(data), p)
				}
			}
		}
		if err != io.EOF && err != ErrFormat {
			t.Fatal(err)
		}
	})
}

func BenchmarkClassic(b *testing.B) {
	data := classicFile(little, magicMicro, 4, 1)
	for len(data) < 4<<20 {
		data = classicPacket(little, data, 1, 0, 1500, 1500, string(make([]byte, 1500)))
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := NewReader(bytes.NewReader(data))
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			_, err = r.Next()
		}
	}
}
