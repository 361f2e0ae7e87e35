package capture

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"github.com/tidemark/tidemark/traces/capture/pcap"
)

// datagrams sends messages over UDP, each in IP fragments of size bytes that
// come last first.
type datagrams struct {
	t    testing.TB
	size int
	time int64
	id   uint16
	all  []pcap.Packet
}

func (d *datagrams) send(src, dst byte, srcPort, dstPort layers.UDPPort, message []byte) {
	d.time += 1000
	d.id++
	b := gopacket.NewSerializeBuffer()
	udp := &layers.UDP{SrcPort: srcPort, DstPort: dstPort}
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true}, udp, gopacket.Payload(message)); err != nil {
		d.t.Fatal(err)
	}
	inner := bytes.Clone(b.Bytes())
	last := (len(inner) - 1) / d.size * d.size
	for at := last; at >= 0; at -= d.size {
		ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: []byte{127, 0, 0, src}, DstIP: []byte{127, 0, 0, dst}, Id: d.id, FragOffset: uint16(at / 8)}
		if at < last {
			ip.Flags = layers.IPv4MoreFragments
		}
		b := gopacket.NewSerializeBuffer()
		if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true}, ip, gopacket.Payload(inner[at:min(at+d.size, len(inner))])); err != nil {
			d.t.Fatal(err)
		}
		data := bytes.Clone(b.Bytes())
		d.all = append(d.all, pcap.Packet{Time: d.time, Link: 101, Data: data, Wire: len(data)})
	}
}

func (d *datagrams) outcome() outcome { return read(d.t, classic(binary.BigEndian, false, d.all)) }

func (o outcome) expect(t *testing.T, counts map[string]int64) {
	t.Helper()
	for name, n := range counts {
		if o.found[name] != n {
			t.Errorf("%s: %d, not %d", name, o.found[name], n)
		}
	}
}

// TestFragmentsAndRepetition has writes in fragments, one of them sent again,
// one answered twice, and a reply to a call that was not captured.
func TestFragmentsAndRepetition(t *testing.T) {
	d := &datagrams{t: t, size: 1480}
	d.send(1, 2, 900, 2049, writeCall(1, 8192))
	d.send(1, 2, 900, 2049, writeCall(1, 8192))
	d.send(2, 1, 2049, 900, writeReply(1, 8192))
	d.send(2, 1, 2049, 900, writeReply(1, 8192))
	d.send(1, 2, 900, 2049, writeCall(2, 8192))
	d.send(2, 1, 2049, 900, writeReply(3, 8192))
	o := d.outcome()
	if len(o.ops) != 2 || o.ops[0].Size != 8192 || o.ops[0].Time != 1000 || o.ops[1].Time != 5000 {
		t.Errorf("got\n%s%v", o.text(), o.err)
	}
	o.expect(t, map[string]int64{
		"NFS messages: calls": 3, "NFS messages: retransmitted calls": 1, "NFS messages: matched replies": 1, "NFS messages: repeated replies": 1,
		"NFS messages: replies without a call": 1, "NFS messages: calls without a reply": 1, "NFS messages: calls over UDP": 3,
		"Packets: parts of larger IP datagrams": 18, "Packets: IP datagrams of which parts are missing": 0,
	})
	d.all = d.all[1:] // the end of the first one
	o = d.outcome()
	o.expect(t, map[string]int64{"NFS messages: calls": 2, "NFS messages: matched replies": 1, "Packets: IP datagrams of which parts are missing": 1})
}

// TestOneAddress has client and server on one host, which call each other:
// what is a call is told by the message.
func TestOneAddress(t *testing.T) {
	d := &datagrams{t: t, size: 65528}
	d.send(1, 1, 900, 2049, writeCall(7, 100))
	d.send(1, 1, 2049, 900, words(7, 0, 2, 0x40000000, 1, 0, 0, 0, 0, 0)) // a callback with the same XID
	d.send(1, 1, 2049, 900, writeReply(7, 100))
	d.send(1, 1, 900, 2049, words(7, 1, 0, 0, 0, 0))
	d.send(1, 1, 900, 2049, words(8, 0, 2, 100005, 3, 1, 0, 0, 0, 0))
	d.send(1, 1, 2049, 900, words(8, 1, 0, 0, 0, 0))
	o := d.outcome()
	if len(o.ops) != 1 {
		t.Errorf("got\n%s%v", o.text(), o.err)
	}
	o.expect(t, map[string]int64{
		"NFS messages: calls": 1, "NFS messages: matched replies": 1, "NFS messages: replies without a call": 0, "NFS messages: clients": 1,
		"Calls of other RPC programs: callback version 1 procedure 0": 1, "Calls of other RPC programs: MOUNT version 3 procedure 1": 1,
	})
}

// TestRefusals has calls that the server did not carry out, cannot be read,
// or are of no known version.
func TestRefusals(t *testing.T) {
	d := &datagrams{t: t, size: 65528}
	d.send(1, 2, 900, 2049, writeCall(1, 100))
	d.send(2, 1, 2049, 900, words(1, 1, 0, 0, 0, 4)) // garbage arguments
	d.send(1, 2, 900, 2049, writeCall(2, 100))
	d.send(2, 1, 2049, 900, words(2, 1, 0, 0, 0, 0, 28, 0, 0))                                       // no space
	d.send(1, 2, 900, 2049, words(3, 0, 2, 100003, 3, 7, 6, 20, 1, 0, 5, 3, 0, 0, 0, 1, 2, 3, 4, 5)) // encrypted
	d.send(1, 2, 900, 2049, words(4, 0, 2, 100003, 3, 7, 6, 20, 1, 1, 5, 1, 0, 0, 0, 1, 2, 3, 4, 5)) // sets up a context
	d.send(1, 2, 900, 2049, words(5, 0, 2, 100003, 7, 1, 0, 0, 0, 0))
	d.send(1, 2, 900, 2049, words(6, 0, 2, 100003, 3, 1, 0, 0, 0, 0, 99, 1, 2, 3))
	o := d.outcome()
	o.expect(t, map[string]int64{
		"NFS messages: calls": 6, "RPC: calls not carried out by the server": 1, "NFS errors: NOSPC": 1, "NFS: encrypted calls": 1,
		"NFS messages: calls of another version": 1, "NFS: calls and replies that cannot be decoded": 1, "NFS version 3 calls: NULL": 1,
		"NFS calls without operations: failed": 2,
	})
	if len(o.ops) != 0 {
		t.Errorf("got\n%s", o.text())
	}
}

// TestProceduresAreBounded calls more procedures than are told apart.
func TestProceduresAreBounded(t *testing.T) {
	d := &datagrams{t: t, size: 65528}
	for i := range MaxProcedures + 20 {
		d.send(1, 2, 900, 111, words(i, 0, 2, 100100+i/60, 1, i%60, 0, 0, 0, 0))
	}
	o := d.outcome()
	o.expect(t, map[string]int64{"Calls of other RPC programs: of further procedures": 20})
}

// TestIntegrity has a call and its reply protected by RPCSEC_GSS (RFC 2203).
func TestIntegrity(t *testing.T) {
	d := &datagrams{t: t, size: 65528}
	header := words(1, 0, 2, 100003, 3, 1, 6, 20, 1, 0, 5, 2, 0, 0, 0)
	d.send(1, 2, 900, 2049, append(header, words(16, 5, 8, 7, 7)...))
	d.send(2, 1, 2049, 900, append(words(1, 1, 0, 6, 4, 9, 0), append(words(92, 5, 0), make([]byte, 84)...)...))
	o := d.outcome()
	if len(o.ops) != 1 || o.found["NFS messages: matched replies"] != 1 || o.found["NFS: calls and replies that cannot be decoded"] != 0 {
		t.Errorf("got\n%s%v", o.text(), o.found)
	}
}
