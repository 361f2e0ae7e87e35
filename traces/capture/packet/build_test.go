package packet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"github.com/tidemark/tidemark/traces/capture/pcap"
)

var (
	client4 = net.IPv4(10, 0, 0, 1).To4()
	server4 = net.IPv4(10, 0, 0, 2).To4()
	client6 = net.ParseIP("fe80::1")
	server6 = net.ParseIP("fe80::2")
)

// build puts headers before each other; the last argument is the payload.
func build(t testing.TB, payload string, headers ...gopacket.SerializableLayer) []byte {
	t.Helper()
	b := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true}, append(headers, gopacket.Payload(payload))...); err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(b.Bytes())
}

func ether(kind layers.EthernetType) *layers.Ethernet {
	return &layers.Ethernet{SrcMAC: make([]byte, 6), DstMAC: make([]byte, 6), EthernetType: kind}
}

func ip4(protocol layers.IPProtocol) *layers.IPv4 {
	return &layers.IPv4{Version: 4, TTL: 64, Protocol: protocol, SrcIP: client4, DstIP: server4}
}

func ip6(next layers.IPProtocol) *layers.IPv6 {
	return &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: next, SrcIP: client6, DstIP: server6}
}

func udp() *layers.UDP { return &layers.UDP{SrcPort: 800, DstPort: 2049} }

// datagram4 is a UDP datagram in IPv4.
func datagram4(t testing.TB, payload string) []byte {
	return build(t, payload, ip4(layers.IPProtocolUDP), udp())
}

func datagram6(t testing.TB, payload string) []byte {
	return build(t, payload, ip6(layers.IPProtocolUDP), udp())
}

// bytesOf joins hexadecimal numbers of any width.
func bytesOf(parts ...any) (b []byte) {
	for _, p := range parts {
		switch p := p.(type) {
		case uint8:
			b = append(b, p)
		case uint16:
			b = binary.BigEndian.AppendUint16(b, p)
		case uint32:
			b = binary.BigEndian.AppendUint32(b, p)
		case string:
			b = append(b, p...)
		case []byte:
			b = append(b, p...)
		}
	}
	return b
}

// decode decodes one packet and describes what came of it.
func decode(d *Decoder, link uint32, data []byte, wire int) string {
	p, ok := d.Decode(pcap.Packet{Time: 7, Link: link, Data: data, Wire: wire})
	if !ok {
		return "nothing"
	}
	return describe(p)
}

func describe(p Packet) string {
	transport := "udp"
	if p.TCP {
		transport = fmt.Sprintf("tcp %d", p.Seq)
		for name, set := range map[string]bool{" syn": p.Syn, " fin": p.Fin, " rst": p.Rst} {
			if set {
				transport += name
			}
		}
	}
	return fmt.Sprintf("%s %v>%v %q/%d", transport, p.Src, p.Dst, p.Payload, p.Length)
}
