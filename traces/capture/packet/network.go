package packet

import (
	"encoding/binary"
	"errors"
	"net/netip"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

// maxExtensions is how many extension headers a datagram may have.
const maxExtensions = 16

// version4 takes an IPv4 datagram (RFC 791) of at most wire bytes.
func (d *Decoder) version4(time int64, data []byte, wire int) (Packet, bool) {
	if err := d.ip4.DecodeFromBytes(data, gopacket.NilDecodeFeedback); err != nil || d.ip4.Version != 4 {
		d.counts.Damaged++
		return Packet{}, false
	}
	header := int(d.ip4.IHL) * 4
	length := int(binary.BigEndian.Uint16(data[2:])) - header
	if length < 0 {
		// No length: the network card was to divide the datagram, and the
		// capture saw it before.
		length = wire - header
	}
	src, _ := netip.AddrFromSlice(d.ip4.SrcIP)
	dst, _ := netip.AddrFromSlice(d.ip4.DstIP)
	more := d.ip4.Flags&layers.IPv4MoreFragments != 0
	if !more && d.ip4.FragOffset == 0 {
		return d.transport(time, src, dst, d.ip4.Protocol, d.ip4.Payload, length)
	}
	id := datagramID{src, dst, uint32(d.ip4.Id), d.ip4.Protocol}
	return d.fragment(time, id, fragment{int(d.ip4.FragOffset) * 8, length, more, d.ip4.Payload})
}

// errVersion is a datagram of another version than its frame says.
var errVersion = errors.New("not the version of the frame")

// version6 takes an IPv6 datagram (RFC 8200).
func (d *Decoder) version6(time int64, data []byte, wire int) (Packet, bool) {
	const header = 40
	err := d.ip6.DecodeFromBytes(data, gopacket.NilDecodeFeedback)
	length, next, rest := int(d.ip6.Length), d.ip6.NextHeader, d.ip6.Payload
	switch {
	case len(data) >= header && d.ip6.Version == 6 && length == 0:
		// As in version 4, or a jumbogram; the library knows only that.
		length = wire - header
		if err != nil && next != layers.IPProtocolIPv6HopByHop {
			err, rest = nil, data[header:]
		}
	case d.ip6.Version != 6 && err == nil:
		err = errVersion
	}
	if err != nil {
		d.counts.Damaged++
		return Packet{}, false
	}
	src, _ := netip.AddrFromSlice(data[8:24])
	dst, _ := netip.AddrFromSlice(data[24:40])
	if d.ip6.HopByHop != nil { // the library removed it
		next = d.ip6.HopByHop.NextHeader
		length -= d.ip6.HopByHop.ActualLength
	}
	for range maxExtensions {
		if next == layers.IPProtocolIPv6Fragment && len(rest) >= 8 {
			at := binary.BigEndian.Uint16(rest[2:])
			part := fragment{int(at &^ 7), length - 8, at&1 != 0, rest[8:]}
			id := datagramID{src, dst, binary.BigEndian.Uint32(rest[4:]), layers.IPProtocol(rest[0])}
			if part.at == 0 && !part.more { // a whole datagram all the same (RFC 6946)
				return d.transport(time, src, dst, id.protocol, part.data, part.length)
			}
			return d.fragment(time, id, part)
		}
		size := 0
		switch next {
		case layers.IPProtocolIPv6Routing, layers.IPProtocolIPv6Destination:
			if len(rest) >= 2 {
				size = 8 * (int(rest[1]) + 1)
			}
		case layers.IPProtocolAH: // RFC 4302: in units of 4 bytes
			if len(rest) >= 2 {
				size = 4 * (int(rest[1]) + 2)
			}
		default:
			return d.transport(time, src, dst, next, rest, length)
		}
		if size == 0 || size > len(rest) {
			break
		}
		next, rest, length = layers.IPProtocol(rest[0]), rest[size:], length-size
	}
	d.counts.Damaged++
	return Packet{}, false
}
