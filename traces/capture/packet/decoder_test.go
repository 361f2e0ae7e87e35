package packet

import (
	"testing"

	"github.com/gopacket/gopacket/layers"

	"github.com/tidemark/tidemark/traces/capture/pcap"
)

const (
	hello4 = `udp 10.0.0.1:800>10.0.0.2:2049 "hello"/5`
	hello6 = `udp [fe80::1]:800>[fe80::2]:2049 "hello"/5`
)

func TestLinkTypes(t *testing.T) {
	four, six := datagram4(t, "hello"), datagram6(t, "hello")
	cooked := func(kind uint16) []byte { return bytesOf(uint16(0), uint16(1), uint16(6), "address.", kind) }
	cooked2 := func(kind uint16) []byte {
		return bytesOf(kind, uint16(0), uint32(3), uint16(1), uint8(0), uint8(6), "address.")
	}
	frame := func(kind layers.EthernetType) []byte { return bytesOf("destinsource", uint16(kind)) }
	tag := func(id uint16, next layers.EthernetType) []byte { return bytesOf(id, uint16(next)) }
	const ip = layers.EthernetTypeIPv4
	for _, c := range []struct {
		name string
		link uint32
		data []byte
		want string
	}{
		{"ethernet", linkEthernet, bytesOf(frame(ip), four), hello4},
		{"ethernet, IPv6", linkEthernet, bytesOf(frame(layers.EthernetTypeIPv6), six), hello6},
		{"ethernet with a trailer", linkEthernet, bytesOf(frame(ip), four, "trailer"), hello4},
		{"VLAN", linkEthernet, bytesOf(frame(layers.EthernetTypeDot1Q), tag(5, ip), four), hello4},
		{"QinQ", linkEthernet, bytesOf(frame(layers.EthernetTypeQinQ), tag(5, layers.EthernetTypeDot1Q), tag(6, ip), four), hello4},
		{"spanning tree", linkEthernet, bytesOf("destinsource", uint16(38), "LLC"), "nothing"},
		{"ARP", linkEthernet, build(t, "arp", ether(layers.EthernetTypeARP)), "nothing"},
		{"cooked", linkCooked, bytesOf(cooked(0x0800), four), hello4},
		{"cooked, IPv6", linkCooked, bytesOf(cooked(0x86dd), six), hello6},
		{"cooked, VLAN", linkCooked, bytesOf(cooked(0x8100), uint16(5), uint16(0x0800), four), hello4},
		{"cooked, LLC", linkCooked, bytesOf(cooked(4), four), "nothing"},
		{"cooked 2", linkCooked2, bytesOf(cooked2(0x0800), four), hello4},
		{"cooked 2, IPv6", linkCooked2, bytesOf(cooked2(0x86dd), six), hello6},
		{"raw", linkRaw, four, hello4},
		{"raw, IPv6", linkRaw, six, hello6},
		{"raw, 12", linkRawBSD, four, hello4},
		{"raw, 14", linkRawOBSD, six, hello6},
		{"IPv4", linkIPv4, four, hello4},
		{"IPv6", linkIPv6, six, hello6},
		{"raw, neither", linkRaw, []byte("\x50neither"), "nothing"},
		{"null, little", linkNull, bytesOf("\x02\x00\x00\x00", four), hello4},
		{"null, big", linkNull, bytesOf("\x00\x00\x00\x02", four), hello4},
		{"null, IPv6 of FreeBSD", linkNull, bytesOf("\x1c\x00\x00\x00", six), hello6},
		{"null, IPv6 of macOS", linkNull, bytesOf("\x1e\x00\x00\x00", six), hello6},
		{"loop", linkLoop, bytesOf("\x00\x00\x00\x02", four), hello4},
		{"loop, IPv6", linkLoop, bytesOf("\x00\x00\x00\x18", six), hello6},
		{"unknown", 147, four, "nothing"},
	} {
		d := NewDecoder()
		if got := decode(d, c.link, c.data, len(c.data)); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
		counts := d.Counts()
		if n := counts.UDP + counts.NotIP + counts.Unknown; n != 1 || counts.Damaged != 0 {
			t.Errorf("%s: %+v", c.name, counts)
		}
	}
}

func TestTCP(t *testing.T) {
	d := NewDecoder()
	for _, c := range []struct {
		tcp  layers.TCP
		want string
	}{
		{layers.TCP{Seq: 5}, `tcp 5 10.0.0.1:800>10.0.0.2:2049 "data"/4`},
		{layers.TCP{Seq: 5, SYN: true}, `tcp 6 syn 10.0.0.1:800>10.0.0.2:2049 "data"/4`},
		{layers.TCP{Seq: 5, FIN: true}, `tcp 5 fin 10.0.0.1:800>10.0.0.2:2049 "data"/4`},
		{layers.TCP{Seq: 5, RST: true, Options: []layers.TCPOption{{OptionType: 1}, {OptionType: 8, OptionLength: 10, OptionData: make([]byte, 8)}}},
			`tcp 5 rst 10.0.0.1:800>10.0.0.2:2049 "data"/4`},
	} {
		c.tcp.SrcPort, c.tcp.DstPort = 800, 2049
		data := build(t, "data", ip4(layers.IPProtocolTCP), &c.tcp)
		if got := decode(d, linkRaw, data, len(data)); got != c.want {
			t.Errorf("got %s, not %s", got, c.want)
		}
	}
}

// TestCutPackets cuts packets everywhere: they say how long they were, or
// nothing.
func TestCutPackets(t *testing.T) {
	tcp := &layers.TCP{SrcPort: 800, DstPort: 2049, Seq: 5}
	for name, data := range map[string][]byte{
		"udp4": datagram4(t, "hello"), "udp6": datagram6(t, "hello"),
		"tcp4": build(t, "hello", ip4(layers.IPProtocolTCP), tcp), "tcp6": build(t, "hello", ip6(layers.IPProtocolTCP), tcp),
	} {
		for n := range len(data) {
			d := NewDecoder()
			p, ok := d.Decode(pcap.Packet{Link: linkRaw, Data: data[:n], Wire: len(data)})
			if inside := n >= len(data)-5; ok != inside || !ok && d.Counts().Damaged != 1 {
				t.Fatalf("%s cut to %d of %d: %v, %+v", name, n, len(data), ok, d.Counts())
			}
			if ok && (p.Length != 5 || string(p.Payload) != "hello"[:n-len(data)+5]) {
				t.Errorf("%s cut to %d of %d: %s", name, n, len(data), describe(p))
			}
		}
	}
}

// TestLengthLeftToTheNetworkCard is a datagram of length 0, as a capture sees
// what the network card is to divide.
func TestLengthLeftToTheNetworkCard(t *testing.T) {
	for name, data := range map[string][]byte{"4": datagram4(t, "hello"), "6": datagram6(t, "hello")} {
		want, udpLength := hello4, 24
		data[2], data[3] = 0, 0
		if name == "6" {
			want, udpLength = hello6, 44
			data[4], data[5] = 0, 0
		}
		data[udpLength], data[udpLength+1] = 0, 0
		if got := decode(NewDecoder(), linkRaw, data, len(data)); got != want {
			t.Errorf("version %s: %s", name, got)
		}
		if got := decode(NewDecoder(), linkRaw, data[:len(data)-2], len(data)); got != want[:len(want)-9]+`"hel"/5` {
			t.Errorf("version %s, cut: %s", name, got)
		}
	}
}

func TestExtensionsOfIPv6(t *testing.T) {
	inner := build(t, "hello", udp())
	options := func(next layers.IPProtocol) []byte { return bytesOf(uint8(next), uint8(0), "\x01\x04\x00\x00\x00\x00") }
	authentication := bytesOf(uint8(17), uint8(4), uint16(0), "0123456789abcdef0123")
	chain := func(first layers.IPProtocol, parts ...any) []byte {
		return build(t, string(bytesOf(parts...)), ip6(first))
	}
	for name, data := range map[string][]byte{
		"hop by hop":   chain(0, options(17), inner),
		"destination":  chain(60, options(17), inner),
		"routing":      chain(43, options(17), inner),
		"all of them":  chain(0, options(43), options(60), options(51), authentication, inner),
		"one fragment": chain(44, uint8(17), uint8(0), uint16(0), uint32(99), inner),
	} {
		d := NewDecoder()
		if got := decode(d, linkRaw, data, len(data)); got != hello6 {
			t.Errorf("%s: %s, %+v", name, got, d.Counts())
		}
	}
	// What follows the datagram in its frame is no part of it.
	tcp := build(t, "hello", &layers.TCP{SrcPort: 800, DstPort: 2049, Seq: 5})
	padded := append(chain(0, options(6), tcp), "trailer"...)
	if got := decode(NewDecoder(), linkRaw, padded, len(padded)); got != `tcp 5 [fe80::1]:800>[fe80::2]:2049 "hello"/5` {
		t.Errorf("hop by hop with a trailer: %s", got)
	}
	// Nor has a datagram that was cut more than its own length.
	cut := chain(0, options(6), tcp)
	if got := decode(NewDecoder(), linkRaw, cut[:len(cut)-2], len(cut)); got != `tcp 5 [fe80::1]:800>[fe80::2]:2049 "hel"/5` {
		t.Errorf("hop by hop, cut: %s", got)
	}
	endless := chain(60, string(make([]byte, 0)))
	for range maxExtensions + 1 {
		endless = append(endless, options(60)...)
	}
	endless[4], endless[5] = 1, 0
	d := NewDecoder()
	if got := decode(d, linkRaw, endless, len(endless)); got != "nothing" || d.Counts().Damaged != 1 {
		t.Errorf("endless: %s, %+v", got, d.Counts())
	}
}

func TestOtherProtocols(t *testing.T) {
	d := NewDecoder()
	data := build(t, "ping", ip4(layers.IPProtocolICMPv4))
	if got := decode(d, linkRaw, data, len(data)); got != "nothing" || d.Counts() != (Counts{OtherIP: 1}) {
		t.Errorf("%s, %+v", got, d.Counts())
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(uint32(linkRaw), datagram4(f, "hello"), 100)
	f.Add(uint32(linkRaw), datagram6(f, "hello"), 100)
	f.Add(uint32(linkEthernet), build(f, "hello", ether(layers.EthernetTypeDot1Q), &layers.Dot1Q{Type: layers.EthernetTypeIPv4}, ip4(layers.IPProtocolUDP), udp()), 100)
	f.Add(uint32(linkRaw), parts4(f, "some datagram that is divided", 16)[1], 36)
	f.Fuzz(func(t *testing.T, link uint32, data []byte, more int) {
		d := NewDecoder()
		wire := len(data) + max(0, min(more, 1<<20))
		// As it is, and cut in two: whatever comes first.
		for _, part := range [][]byte{data, data[:len(data)/2], data[len(data)/2:], data} {
			p, ok := d.Decode(pcap.Packet{Link: link, Data: part, Wire: wire})
			if ok && (p.Length < len(p.Payload) || p.Length > max(wire, MaxDatagram)) {
				t.Fatal(describe(p))
			}
			if len(d.parts.open) > MaxDatagrams {
				t.Fatalf("%d datagrams wait", len(d.parts.open))
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	data := build(b, string(make([]byte, 1448)), ether(layers.EthernetTypeIPv4), ip4(layers.IPProtocolTCP), &layers.TCP{SrcPort: 800, DstPort: 2049})
	d := NewDecoder()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := d.Decode(pcap.Packet{Link: linkEthernet, Data: data, Wire: len(data)}); !ok {
			b.Fatal("nothing")
		}
	}
}
