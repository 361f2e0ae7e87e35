// Package packet takes captured packets apart, down to what a UDP datagram or
// a TCP segment carries, and puts the fragments of IP datagrams together.
//
// The headers are decoded by github.com/gopacket/gopacket/layers, one after
// the other and without allocation. What that library has beyond it is not
// used: its reassembly of IPv4 refuses fragments that the capture cut, knows
// no limit of memory and no IPv6; its reassembly of TCP takes a cut packet
// for a short one, so that every record after it would be misread.
//
// A packet that was cut still says how long it was. Payload is what is known
// of its beginning, Length how much there was.
package packet

import "net/netip"

// Packet is a UDP datagram or a TCP segment.
type Packet struct {
	Time     int64 // microseconds since 1970, of the last fragment to come
	Src, Dst netip.AddrPort
	TCP      bool
	// The following are of TCP. Seq is the number of the first byte of the
	// payload, after that of Syn. Ack, if Acks, is that of the first byte that
	// the sender has not got.
	Seq, Ack            uint32
	Syn, Fin, Rst, Acks bool
	// Payload is the known beginning of what is carried, valid until the
	// next packet is decoded; Length is at least its length.
	Payload []byte
	Length  int
}

// Counts are what a Decoder met that gives no Packet, or gives less.
type Counts struct {
	// NotIP are frames of other protocols (ARP, spanning tree), OtherIP
	// datagrams that are neither UDP nor TCP.
	NotIP, OtherIP int64
	UDP, TCP       int64 // packets returned
	Fragments      int64 // IP datagrams that were parts of larger ones
	// Incomplete are datagrams of which fragments were missing, or did not
	// fit together.
	Incomplete int64
	// Unknown are frames of link types that are not known.
	Unknown int64
	// Damaged are packets with impossible or cut headers.
	Damaged int64
}
