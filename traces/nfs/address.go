package nfs

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// Addr is the address of a client or a server: an IPv6 address, an IPv4
// address in its IPv6 form, or a number, see NumberAddr.
type Addr [16]byte

// numbered begins the addresses that are numbers. As IPv6 addresses they would
// be multicast ones, which no client and no server has.
var numbered = [8]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// AddrOf returns an IP address, of which the zone is dropped.
func AddrOf(ip netip.Addr) Addr { return ip.As16() }

// NumberAddr returns an address that is just a number, as those made up to
// hide real ones.
func NumberAddr(n uint64) Addr {
	var a Addr
	copy(a[:8], numbered[:])
	binary.BigEndian.PutUint64(a[8:], n)
	return a
}

// String returns an IP address as usual and a number in hexadecimal digits.
func (a Addr) String() string {
	if [8]byte(a[:8]) == numbered {
		return fmt.Sprintf("%x", binary.BigEndian.Uint64(a[8:]))
	}
	return netip.AddrFrom16(a).Unmap().String()
}

// End is one end of a connection, or of a flow of datagrams.
type End struct {
	Addr Addr
	Port uint16
}

// EndOf returns the end with an IP address and a port.
func EndOf(ap netip.AddrPort) End { return End{AddrOf(ap.Addr()), ap.Port()} }

// Key is what a call and its reply have in common. Client is who calls, so a
// reply's key has its destination there.
type Key struct {
	Client, Server End
	XID            uint32
}
