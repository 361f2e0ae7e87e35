package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/capture/pcap"
)

// sample returns a capture of testdata.
func sample(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// outcome is what a capture gives.
type outcome struct {
	ops   []traces.Op
	found map[string]int64 // by "group: name"
	err   error            // nil instead of io.EOF
}

func read(t testing.TB, data []byte) (o outcome) {
	t.Helper()
	return readFrom(t, bytes.NewReader(data))
}

func readFrom(t testing.TB, in io.Reader) (o outcome) {
	t.Helper()
	r, err := NewReader(in, "t", traces.Options{})
	if err != nil {
		return outcome{err: err}
	}
	for {
		op, err := r.Next()
		if err != nil {
			if _, again := r.Next(); again != err {
				t.Errorf("after %v came %v", err, again)
			}
			if err != io.EOF {
				o.err = err
			}
			break
		}
		if err := op.Check(); err != nil {
			t.Fatal(err)
		}
		o.ops = append(o.ops, op)
	}
	o.found = map[string]int64{}
	for _, f := range r.Findings() {
		o.found[f.Group+": "+f.Name] += f.Count
	}
	var foreign *traces.StreamError
	if o.err != nil && !errors.As(o.err, &foreign) {
		t.Errorf("not a StreamError: %v", o.err)
	}
	return o
}

// text is the operations, one on each line, with their places.
func (o outcome) text() string {
	var b bytes.Buffer
	for _, op := range o.ops {
		fmt.Fprintln(&b, op)
	}
	return b.String()
}

// timeless is text without times.
func (o outcome) timeless() string {
	ops := make([]traces.Op, len(o.ops))
	for i, op := range o.ops {
		op.Time = 0
		ops[i] = op
	}
	return outcome{ops: ops}.text()
}

// frames returns the packets of a capture.
func frames(t testing.TB, data []byte) (all []pcap.Packet) {
	t.Helper()
	r, err := pcap.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for {
		p, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		p.Data = bytes.Clone(p.Data)
		all = append(all, p)
	}
}

// order is a byte order that appends, too.
type order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// classic writes a pcap file, with nanoseconds or without.
func classic(o order, nano bool, all []pcap.Packet) []byte {
	magic, unit := uint32(0xa1b2c3d4), int64(1)
	if nano {
		magic, unit = 0xa1b23c4d, 1000
	}
	b := o.AppendUint32(nil, magic)
	b = o.AppendUint16(o.AppendUint16(b, 2), 4)
	b = append(b, make([]byte, 8)...)
	b = o.AppendUint32(o.AppendUint32(b, 1<<18), all[0].Link)
	for _, p := range all {
		b = o.AppendUint32(b, uint32(p.Time/1e6))
		b = o.AppendUint32(b, uint32(p.Time%1e6*unit))
		b = o.AppendUint32(b, uint32(len(p.Data)))
		b = append(o.AppendUint32(b, uint32(p.Wire)), p.Data...)
	}
	return b
}

// blocks writes a pcapng file. The unit of time is 10 to the power of
// -resolution seconds.
func blocks(o order, resolution byte, all []pcap.Packet) []byte {
	block := func(kind uint32, body []byte) []byte {
		body = append(body, make([]byte, -len(body)&3)...)
		b := o.AppendUint32(o.AppendUint32(nil, kind), uint32(len(body)+12))
		return o.AppendUint32(append(b, body...), uint32(len(body)+12))
	}
	unit := int64(1)
	for range resolution - 6 {
		unit *= 10
	}
	b := block(0x0a0d0d0a, append(o.AppendUint16(o.AppendUint32(nil, 0x1a2b3c4d), 1), make([]byte, 10)...))
	head := o.AppendUint32(append(o.AppendUint16(nil, uint16(all[0].Link)), 0, 0), 0)
	head = append(o.AppendUint16(o.AppendUint16(head, 9), 1), resolution, 0, 0, 0)
	b = append(b, block(1, head)...)
	for _, p := range all {
		t := uint64(p.Time * unit)
		body := o.AppendUint32(nil, 0)
		for _, n := range []uint32{uint32(t >> 32), uint32(t), uint32(len(p.Data)), uint32(p.Wire)} {
			body = o.AppendUint32(body, n)
		}
		b = append(b, block(6, append(body, p.Data...))...)
	}
	return b
}

// relinked replaces the Ethernet header of each packet.
func relinked(all []pcap.Packet, link uint32, header func(kind []byte) []byte) []pcap.Packet {
	out := make([]pcap.Packet, 0, len(all))
	for _, p := range all {
		kind := p.Data[12:14]
		if k := binary.BigEndian.Uint16(kind); k != 0x0800 && k != 0x86dd {
			continue
		}
		data := append(header(kind), p.Data[14:]...)
		out = append(out, pcap.Packet{Time: p.Time, Link: link, Data: data, Wire: p.Wire + len(data) - len(p.Data)})
	}
	return out
}

// segmented divides every TCP segment in pieces of size bytes.
func segmented(t testing.TB, all []pcap.Packet, size int) (out []pcap.Packet) {
	t.Helper()
	for _, p := range all {
		packet := gopacket.NewPacket(p.Data, layers.LayerTypeEthernet, gopacket.NoCopy)
		tcp, ok := packet.TransportLayer().(*layers.TCP)
		if !ok || len(tcp.Payload) == 0 {
			out = append(out, p)
			continue
		}
		ether := packet.LinkLayer().(*layers.Ethernet)
		ip := packet.NetworkLayer().(*layers.IPv4)
		first, payload := tcp.Seq, tcp.Payload
		for at := 0; at < len(payload); at += size {
			tcp.Seq = first + uint32(at)
			data := serialized(t, ether, ip, tcp, payload[at:min(at+size, len(payload))])
			out = append(out, pcap.Packet{Time: p.Time, Link: p.Link, Data: data, Wire: len(data)})
		}
	}
	return out
}

// serialized is a frame.
func serialized(t testing.TB, ether *layers.Ethernet, ip *layers.IPv4, tcp *layers.TCP, payload []byte) []byte {
	t.Helper()
	b := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true}, ether, ip, tcp, gopacket.Payload(payload)); err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(b.Bytes())
}
