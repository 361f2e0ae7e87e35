package capture

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/gopacket/gopacket/layers"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/capture/pcap"
)

// writes is a capture of n WRITE calls of NFS version 3 with size bytes each,
// and their replies, in frames of at most frame bytes of payload.
func writes(t testing.TB, n, size, frame int) []byte {
	t.Helper()
	var all []pcap.Packet
	seqs := [2]uint32{1<<32 - 1000, 5000}
	send := func(time int64, direction int, message []byte) {
		record := append(binary.BigEndian.AppendUint32(nil, 1<<31|uint32(len(message))), message...)
		for len(record) > 0 {
			part := record[:min(frame, len(record))]
			record = record[len(part):]
			data := tcpFrame(t, direction, seqs[direction], seqs[1-direction], part)
			seqs[direction] += uint32(len(part))
			all = append(all, pcap.Packet{Time: time, Link: 1, Data: data, Wire: len(data)})
		}
	}
	for i := range n {
		time := 1_000_000_000 + int64(i)*1000
		send(time, 0, writeCall(uint32(i), size))
		send(time+500, 1, writeReply(uint32(i), size))
	}
	return classic(binary.LittleEndian, false, all)
}

// words joins numbers of 4 bytes.
func words(numbers ...int) (b []byte) {
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	return b
}

func writeCall(xid uint32, size int) []byte {
	b := words(int(xid), 0, 2, 100003, 3, 7, 1, 24, 0, 0, 0, 0, 0, 0, 0, 0) // to the verifier
	b = append(b, words(32, 1, 2, 3, 4, 5, 6, 7, int(xid%64))...)           // the handle
	b = append(b, words(0, int(xid)*size, size, 0, size)...)
	return append(b, make([]byte, (size+3)&^3)...)
}

func writeReply(xid uint32, size int) []byte {
	return words(int(xid), 1, 0, 0, 0, 0, 0, 0, 0, size, 0, 1, 2)
}

func tcpFrame(t testing.TB, direction int, seq, ack uint32, payload []byte) []byte {
	ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolTCP, SrcIP: []byte{10, 0, 0, 1}, DstIP: []byte{10, 0, 0, 2}}
	tcp := &layers.TCP{SrcPort: 800, DstPort: 2049, Seq: seq, Ack: ack, ACK: true}
	if direction == 1 {
		ip.SrcIP, ip.DstIP = ip.DstIP, ip.SrcIP
		tcp.SrcPort, tcp.DstPort = tcp.DstPort, tcp.SrcPort
	}
	return serialized(t, &layers.Ethernet{SrcMAC: make([]byte, 6), DstMAC: make([]byte, 6), EthernetType: layers.EthernetTypeIPv4}, ip, tcp, payload)
}

func TestWrites(t *testing.T) {
	o := read(t, writes(t, 500, 70000, 1448))
	if o.err != nil || len(o.ops) != 500 || o.ops[7].Type != traces.Block || o.ops[7].Action != traces.Write || o.ops[7].Off != 490000 || o.ops[7].Size != 70000 {
		t.Errorf("%v, %d operations", o.err, len(o.ops))
	}
	for name, n := range map[string]int64{
		"NFS messages: calls": 500, "NFS messages: matched replies": 500, "NFS version 3 calls: WRITE": 500,
		"TCP: gaps": 0, "TCP: segments that came again": 0, "RPC: bytes passed over in search of a message": 0,
	} {
		if o.found[name] != n {
			t.Errorf("%s: %d, not %d", name, o.found[name], n)
		}
	}
}

func BenchmarkReader(b *testing.B) {
	for _, c := range []struct {
		name        string
		size, frame int
	}{
		{"32KiB-in-32KiB", 32 << 10, 32 << 10}, {"64KiB-in-1448", 64 << 10, 1448}, {"512-in-1448", 512, 1448},
	} {
		data := writes(b, (8<<20)/c.size, c.size, c.frame)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				r, err := NewReader(bytes.NewReader(data), "b", traces.Options{})
				if err != nil {
					b.Fatal(err)
				}
				for err == nil {
					_, err = r.Next()
				}
				if err != io.EOF {
					b.Fatal(err)
				}
			}
		})
	}
}
