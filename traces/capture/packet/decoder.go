package packet

import (
	"net/netip"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"github.com/tidemark/tidemark/traces/capture/pcap"
)

// Link types, as www.tcpdump.org/linktypes.html numbers them.
const (
	linkNull     = 0 // BSD loopback, in the byte order of the host
	linkEthernet = 1
	linkRawBSD   = 12
	linkRawOBSD  = 14
	linkRaw      = 101
	linkLoop     = 108 // BSD loopback, in network byte order
	linkCooked   = 113
	linkIPv4     = 228
	linkIPv6     = 229
	linkCooked2  = 276
)

// maxTags is how many VLAN tags a frame may have.
const maxTags = 4

// Decoder decodes packets. It is not safe for concurrent use.
type Decoder struct {
	ether  layers.Ethernet
	tag    layers.Dot1Q
	sll    layers.LinuxSLL
	sll2   layers.LinuxSLL2
	loop   layers.Loopback
	ip4    layers.IPv4
	ip6    layers.IPv6
	udp    layers.UDP
	tcp    layers.TCP
	parts  fragments
	counts Counts
}

// NewDecoder returns a Decoder that has seen nothing.
func NewDecoder() *Decoder { return &Decoder{parts: newFragments()} }

// Counts returns what was counted so far. Datagrams that are still incomplete
// count as such.
func (d *Decoder) Counts() Counts {
	c := d.counts
	c.Incomplete += d.parts.dropped + int64(len(d.parts.open))
	return c
}

// Decode takes a captured packet. It returns false if no payload comes of it.
func (d *Decoder) Decode(p pcap.Packet) (Packet, bool) {
	kind, data, ok := d.link(p.Link, p.Data)
	if !ok {
		return Packet{}, false
	}
	// What follows the link header is as much shorter on the wire.
	wire := p.Wire - (len(p.Data) - len(data))
	switch kind {
	case layers.EthernetTypeIPv4:
		return d.version4(p.Time, data, wire)
	case layers.EthernetTypeIPv6:
		return d.version6(p.Time, data, wire)
	}
	d.counts.NotIP++
	return Packet{}, false
}

// link removes the headers below IP.
func (d *Decoder) link(link uint32, data []byte) (kind layers.EthernetType, rest []byte, ok bool) {
	var err error
	switch link {
	case linkEthernet:
		if err = d.ether.DecodeFromBytes(data, gopacket.NilDecodeFeedback); err == nil {
			// The payload of the library would be cut to the length of an
			// 802.3 frame, which is of no interest.
			return d.tags(d.ether.EthernetType, data[14:])
		}
	case linkCooked:
		if err = d.sll.DecodeFromBytes(data, gopacket.NilDecodeFeedback); err == nil {
			return d.tags(d.sll.EthernetType, d.sll.Payload)
		}
	case linkCooked2:
		if err = d.sll2.DecodeFromBytes(data, gopacket.NilDecodeFeedback); err == nil {
			return d.tags(d.sll2.ProtocolType, d.sll2.Payload)
		}
	case linkNull, linkLoop:
		if err = d.loop.DecodeFromBytes(data, gopacket.NilDecodeFeedback); err == nil {
			return family(d.loop.Family), d.loop.Payload, true
		}
	case linkRaw, linkRawBSD, linkRawOBSD, linkIPv4, linkIPv6:
		if len(data) > 0 {
			return version(data[0]), data, true
		}
		d.counts.Damaged++
		return 0, nil, false
	default:
		d.counts.Unknown++
		return 0, nil, false
	}
	d.counts.Damaged++
	return 0, nil, false
}

// tags removes VLAN tags, also two of them (QinQ).
func (d *Decoder) tags(kind layers.EthernetType, data []byte) (layers.EthernetType, []byte, bool) {
	for range maxTags {
		switch kind {
		case layers.EthernetTypeDot1Q, layers.EthernetTypeQinQ, 0x9100: // the last before there was a standard
		default:
			return kind, data, true
		}
		if err := d.tag.DecodeFromBytes(data, gopacket.NilDecodeFeedback); err != nil {
			d.counts.Damaged++
			return 0, nil, false
		}
		kind, data = d.tag.Type, d.tag.Payload
	}
	d.counts.Damaged++
	return 0, nil, false
}

// family is the protocol of a loopback header. Systems differ in the number
// of IPv6.
func family(f layers.ProtocolFamily) layers.EthernetType {
	switch f {
	case layers.ProtocolFamilyIPv4:
		return layers.EthernetTypeIPv4
	case layers.ProtocolFamilyIPv6BSD, layers.ProtocolFamilyIPv6FreeBSD, layers.ProtocolFamilyIPv6Darwin, layers.ProtocolFamilyIPv6Linux:
		return layers.EthernetTypeIPv6
	}
	return 0
}

// version is the protocol of a datagram by its first byte.
func version(b byte) layers.EthernetType {
	switch b >> 4 {
	case 4:
		return layers.EthernetTypeIPv4
	case 6:
		return layers.EthernetTypeIPv6
	}
	return 0
}

// transport takes what an IP datagram carries, of which it knows the
// beginning and the length.
func (d *Decoder) transport(time int64, src, dst netip.Addr, protocol layers.IPProtocol, data []byte, length int) (Packet, bool) {
	p := Packet{Time: time}
	switch protocol {
	case layers.IPProtocolUDP:
		if d.udp.DecodeFromBytes(data, gopacket.NilDecodeFeedback) != nil {
			d.counts.Damaged++
			return Packet{}, false
		}
		d.counts.UDP++
		p.Src = netip.AddrPortFrom(src, uint16(d.udp.SrcPort))
		p.Dst = netip.AddrPortFrom(dst, uint16(d.udp.DstPort))
		p.Payload, p.Length = d.udp.Payload, length-8
		if d.udp.Length > 0 {
			p.Length = min(p.Length, int(d.udp.Length)-8)
		}
	case layers.IPProtocolTCP:
		if d.tcp.DecodeFromBytes(data, gopacket.NilDecodeFeedback) != nil {
			d.counts.Damaged++
			return Packet{}, false
		}
		d.counts.TCP++
		p.TCP = true
		p.Src = netip.AddrPortFrom(src, uint16(d.tcp.SrcPort))
		p.Dst = netip.AddrPortFrom(dst, uint16(d.tcp.DstPort))
		p.Seq, p.Syn, p.Fin, p.Rst = d.tcp.Seq, d.tcp.SYN, d.tcp.FIN, d.tcp.RST
		p.Ack, p.Acks = d.tcp.Ack, d.tcp.ACK
		if p.Syn {
			p.Seq++
		}
		p.Payload, p.Length = d.tcp.Payload, length-4*int(d.tcp.DataOffset)
	default:
		d.counts.OtherIP++
		return Packet{}, false
	}
	if p.Length < len(p.Payload) {
		// A UDP length beyond that of the datagram, or a cut header.
		p.Length = max(p.Length, 0)
		p.Payload = p.Payload[:p.Length]
	}
	return p, true
}
