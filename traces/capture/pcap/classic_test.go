package pcap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/iotest"
)

// order is a byte order that appends, too.
type order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// classicFile is a pcap file without packets.
func classicFile(o order, magic uint32, minor uint16, link uint32) []byte {
	b := o.AppendUint32(nil, magic)
	b = o.AppendUint16(b, 2)
	b = o.AppendUint16(b, minor)
	b = append(b, make([]byte, 8)...)
	b = o.AppendUint32(b, 65535)
	return o.AppendUint32(b, link)
}

func classicPacket(o order, b []byte, seconds, fraction, kept, wire uint32, data string) []byte {
	for _, n := range []uint32{seconds, fraction, kept, wire} {
		b = o.AppendUint32(b, n)
	}
	return append(b, data...)
}

// readAll returns the packets of a file as text, and what was counted.
func readAll(t *testing.T, in io.Reader) ([]string, Counts) {
	t.Helper()
	r, err := NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for {
		p, err := r.Next()
		if err == io.EOF {
			return all, r.Counts()
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%d %d %q/%d", p.Time, p.Link, p.Data, p.Wire))
	}
}

func expect(t *testing.T, name string, got []string, want ...string) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: got %v\nwant %v", name, got, want)
	}
}

func TestClassicVariants(t *testing.T) {
	for name, o := range map[string]order{"little": binary.LittleEndian, "big": binary.BigEndian} {
		for magic, fraction := range map[uint32]uint32{magicMicro: 123456, magicNano: 123456789} {
			for _, minor := range []uint16{1, 3, 4} {
				// The link type comes with a checksum length above it.
				b := classicFile(o, magic, minor, 0xf4000000|113)
				b = classicPacket(o, b, 1, fraction, 3, 3, "abc")
				b = classicPacket(o, b, 4259801289, fraction, 2, 1500, "de")
				if !Recognize(b[:24]) || Recognize(b[:23]) {
					t.Errorf("%s %x: not recognized by 24 bytes", name, magic)
				}
				got, counts := readAll(t, iotest.OneByteReader(bytes.NewReader(b)))
				expect(t, name, got, `1123456 113 "abc"/3`, `4259801289123456 113 "de"/1500`)
				if counts != (Counts{Packets: 2, Cut: 1}) {
					t.Errorf("%s: %+v", name, counts)
				}
			}
		}
	}
}

// TestLengthsInTheOtherOrder is a file of before version 2.3.
func TestLengthsInTheOtherOrder(t *testing.T) {
	b := classicFile(binary.BigEndian, magicMicro, 1, 1)
	b = classicPacket(binary.BigEndian, b, 5, 6, 60, 2, "ab")
	got, _ := readAll(t, bytes.NewReader(b))
	expect(t, "version 2.1", got, `5000006 1 "ab"/60`)
}

func TestNoCapture(t *testing.T) {
	for _, s := range []string{"", "short", "748521923.402318 Block READ FID: 5e1e000000004d79 OFF: 1744896", string(make([]byte, 100))} {
		if _, err := NewReader(bytes.NewReader([]byte(s))); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v", s, err)
		}
	}
	wrong := classicFile(binary.LittleEndian, magicMicro, 4, 1)
	wrong[4] = 3 // major version
	if Recognize(wrong) {
		t.Error("version 3.4 recognized")
	}
}

func TestErrorsOfTheFileArePassedOn(t *testing.T) {
	broken := errors.New("disk on fire")
	b := classicFile(binary.LittleEndian, magicMicro, 4, 1)
	b = classicPacket(binary.LittleEndian, b, 5, 6, 2, 2, "ab")
	for n := range len(b) {
		r, err := NewReader(io.MultiReader(bytes.NewReader(b[:n]), iotest.ErrReader(broken)))
		for err == nil {
			_, err = r.Next()
		}
		if !errors.Is(err, broken) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

// TestClassicCut cuts a file everywhere: the packets before are read, and it
// is counted that another one was cut.
func TestClassicCut(t *testing.T) {
	b := classicFile(binary.LittleEndian, magicMicro, 4, 1)
	ends := []int{len(b)}
	for i := range 3 {
		b = classicPacket(binary.LittleEndian, b, uint32(i+1), 0, 4, 4, "abcd")
		ends = append(ends, len(b))
	}
	for n := classicHeader; n <= len(b); n++ {
		got, counts := readAll(t, bytes.NewReader(b[:n]))
		whole := 0
		for whole+1 < len(ends) && ends[whole+1] <= n {
			whole++
		}
		if len(got) != whole || counts.Truncated != (ends[whole] < n) || counts.Damaged != 0 {
			t.Errorf("cut to %d: %v, %+v", n, got, counts)
		}
	}
}

// TestClassicDamage puts rubbish between packets, and impossible lengths into
// one: those around it are read.
func TestClassicDamage(t *testing.T) {
	few := string(make([]byte, 40))
	for name, damage := range map[string][]byte{
		// The time of what seems to be a packet cannot be.
		"fraction":      append(classicPacket(binary.LittleEndian, nil, 1, 0, 4, wireLimit+1, ""), classicPacket(binary.LittleEndian, nil, 1000000, 1e6, 40, 40, few)...),
		"rubbish":       bytes.Repeat([]byte("rubbish!"), 20000),
		"kept too long": classicPacket(binary.LittleEndian, nil, 1, 0, MaxPacket+1, 4, "abcd"),
		"wire too long": classicPacket(binary.LittleEndian, nil, 1, 0, 4, wireLimit+1, "abcd"),
	} {
		b := classicFile(binary.LittleEndian, magicMicro, 4, 1)
		b = classicPacket(binary.LittleEndian, b, 1000000, 0, 40, 40, string(make([]byte, 40)))
		b = append(b, damage...)
		for i := range 3 {
			b = classicPacket(binary.LittleEndian, b, uint32(1000001+i), 0, 40, 40, string(make([]byte, 40)))
		}
		got, counts := readAll(t, bytes.NewReader(b))
		if len(got) != 4 || counts.Damaged != 1 || counts.Passed != int64(len(damage)) || counts.Truncated {
			t.Errorf("%s: %d packets, %+v", name, len(got), counts)
		}
	}
}

// TestWrongLength changes bits in the length of a packet, so that it would
// hide those that follow, up to the end of the file or not: only the packet
// itself is lost.
func TestWrongLength(t *testing.T) {
	packets := func(b []byte, from, n int) []byte {
		for i := range n {
			b = classicPacket(binary.LittleEndian, b, uint32(1000000+from+i), 0, 40, 40, string(make([]byte, 40)))
		}
		return b
	}
	for _, c := range []struct {
		bit   uint
		after int // packets
	}{{18, 10}, {18, 10000}, {19, 20000}, {16, 3000}, {12, 1}, {12, 5}, {8, 100}, {7, 100}} {
		b := packets(classicFile(binary.LittleEndian, magicMicro, 4, 1), 0, 3)
		damaged := len(b)
		b = packets(b, 3, 1+c.after)
		b[damaged+8+int(c.bit/8)] |= 1 << (c.bit % 8)
		got, counts := readAll(t, bytes.NewReader(b))
		if len(got) != 3+c.after || counts.Damaged != 1 || counts.Passed != recordHeader+40 || counts.Truncated {
			t.Errorf("bit %d before %d packets: %d packets, %+v", c.bit, c.after, len(got), counts)
		}
	}
}

// TestStrangeLengths has packets longer than the file says that it keeps, or
// than they were: without damage they are as they are.
func TestStrangeLengths(t *testing.T) {
	for name, wire := range map[string]uint32{"beyond the snap length": 40, "beyond the packet": 7} {
		b := classicFile(binary.LittleEndian, magicMicro, 4, 1)
		b[16], b[17] = 20, 0
		for i := range 5 {
			b = classicPacket(binary.LittleEndian, b, uint32(1000000+i), 0, 40, wire, string(make([]byte, 40)))
		}
		if got, counts := readAll(t, bytes.NewReader(b)); len(got) != 5 || counts != (Counts{Packets: 5}) {
			t.Errorf("%s: %d packets, %+v", name, len(got), counts)
		}
	}
}
