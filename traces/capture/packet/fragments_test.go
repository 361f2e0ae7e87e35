package packet

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/gopacket/gopacket/layers"

	"github.com/tidemark/tidemark/traces/capture/pcap"
)

// parts4 divides a UDP datagram into IPv4 datagrams of size bytes.
func parts4(t testing.TB, payload string, size int) (parts [][]byte) {
	inner := build(t, payload, udp())
	for at := 0; at < len(inner); at += size {
		h := ip4(layers.IPProtocolUDP)
		h.Id, h.FragOffset = 77, uint16(at/8)
		if at+size < len(inner) {
			h.Flags = layers.IPv4MoreFragments
		}
		parts = append(parts, build(t, string(inner[at:min(at+size, len(inner))]), h))
	}
	return parts
}

// parts6 does so with IPv6 datagrams.
func parts6(t testing.TB, payload string, size int) (parts [][]byte) {
	inner := build(t, payload, udp())
	for at := 0; at < len(inner); at += size {
		flags := uint16(at)
		if at+size < len(inner) {
			flags |= 1
		}
		header := bytesOf(uint8(17), uint8(0), flags, uint32(77))
		parts = append(parts, build(t, string(header)+string(inner[at:min(at+size, len(inner))]), ip6(layers.IPProtocolIPv6Fragment)))
	}
	return parts
}

const divided = "a datagram that is divided into a number of small parts"

// feed decodes packets and returns what came of the last; what came before
// must be nothing.
func feed(t *testing.T, d *Decoder, packets ...[]byte) string {
	t.Helper()
	got := "nothing"
	for _, p := range packets {
		if got != "nothing" {
			t.Errorf("too early: %s", got)
		}
		got = decode(d, linkRaw, p, len(p))
	}
	return got
}

func TestFragmentsInAnyOrder(t *testing.T) {
	want4 := `udp 10.0.0.1:800>10.0.0.2:2049 "` + divided + `"/55`
	want6 := `udp [fe80::1]:800>[fe80::2]:2049 "` + divided + `"/55`
	for range 200 {
		for want, parts := range map[string][][]byte{want4: parts4(t, divided, 8), want6: parts6(t, divided, 16)} {
			rand.New(rand.NewPCG(1, uint64(len(parts)))).Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
			d := NewDecoder()
			if got := feed(t, d, parts...); got != want {
				t.Fatalf("got %s", got)
			}
			if c := d.Counts(); c.Fragments != int64(len(parts)) || c.Incomplete != 0 || c.UDP != 1 {
				t.Fatalf("%+v", c)
			}
		}
	}
}

func TestLastFragmentFirst(t *testing.T) {
	p := parts4(t, divided, 24)
	d := NewDecoder()
	if got := feed(t, d, p[2], p[0], p[2], p[0], p[1]); got != `udp 10.0.0.1:800>10.0.0.2:2049 "`+divided+`"/55` {
		t.Errorf("got %s", got)
	}
}

// TestCutFragment has a fragment in the middle of which the end was not
// captured: what comes before is known, and how long the whole was.
func TestCutFragment(t *testing.T) {
	p := parts4(t, divided, 24)
	d := NewDecoder()
	p[1] = p[1][:len(p[1])-4]
	if got := feed(t, d, p[2], p[1], p[0]); got != `udp 10.0.0.1:800>10.0.0.2:2049 "`+divided[:36]+`"/55` {
		t.Errorf("got %s", got)
	}
}

func TestFragmentsThatContradict(t *testing.T) {
	long, short := parts4(t, divided, 24), parts4(t, divided[:30], 24)
	for name, packets := range map[string][][]byte{
		"two ends":             {long[2], short[1]},
		"an end before others": {long[2], long[1], short[1]},
		"a second end beyond":  {short[1], long[2]},
		"an end within others": {long[1], short[1]},
		"others beyond an end": {short[1], parts4(t, divided, 40)[0]},
	} {
		d := NewDecoder()
		if got := feed(t, d, packets...); got != "nothing" || d.Counts().Incomplete != 1 || len(d.parts.open) != 0 {
			t.Errorf("%s: %s, %+v", name, got, d.Counts())
		}
	}
}

// TestIdentificationIsUsedAgain has fragments of two datagrams of the same
// number, the second one long after the first.
func TestIdentificationIsUsedAgain(t *testing.T) {
	p := parts4(t, divided, 40)
	d := NewDecoder()
	d.Decode(pcap.Packet{Time: 0, Link: linkRaw, Data: p[0], Wire: len(p[0])})
	if got, ok := d.Decode(pcap.Packet{Time: fragmentWait + 1, Link: linkRaw, Data: p[1], Wire: len(p[1])}); ok {
		t.Errorf("old and new made %s", describe(got))
	}
	if got, ok := d.Decode(pcap.Packet{Time: fragmentWait + 2, Link: linkRaw, Data: p[0], Wire: len(p[0])}); !ok || string(got.Payload) != divided {
		t.Errorf("got %s", describe(got))
	}
	if c := d.Counts(); c.Incomplete != 1 {
		t.Errorf("%+v", c)
	}
}

func TestFragmentsAreBounded(t *testing.T) {
	d := NewDecoder()
	p := parts4(t, divided, 8)
	for i := range 3 * MaxDatagrams {
		p[0][4], p[0][5] = byte(i>>8), byte(i)
		d.Decode(pcap.Packet{Time: int64(i), Link: linkRaw, Data: p[0], Wire: len(p[0])})
	}
	if len(d.parts.open) != MaxDatagrams || d.Counts().Incomplete != 3*MaxDatagrams {
		t.Errorf("%d wait, %+v", len(d.parts.open), d.Counts())
	}
	// The newest are kept.
	for _, part := range p {
		part[4], part[5] = byte((3*MaxDatagrams-1)>>8), byte((3*MaxDatagrams-1)&0xff)
	}
	got := ""
	for _, part := range p {
		got = decode(d, linkRaw, part, len(part))
	}
	if got == "nothing" {
		t.Error("the newest datagram was given up")
	}
	// Stretches that do not touch.
	d = NewDecoder()
	for i := range MaxFragments + 1 {
		h := ip4(layers.IPProtocolUDP)
		h.Flags, h.FragOffset = layers.IPv4MoreFragments, uint16(2*i)
		feed(t, d, build(t, "12345678", h))
	}
	if len(d.parts.open) != 0 || d.Counts().Incomplete != 1 {
		t.Errorf("%d wait, %+v", len(d.parts.open), d.Counts())
	}
}

// TestFragmentsFarBehind has the end of one datagram after the other, and
// nothing else of them: this costs little more than the fragments themselves.
func TestFragmentsFarBehind(t *testing.T) {
	h := ip4(layers.IPProtocolUDP)
	h.FragOffset = 8000
	p := build(t, "the end.", h)
	d, id := NewDecoder(), 0
	feed := func() {
		id++
		p[4], p[5] = byte(id>>8), byte(id)
		d.Decode(pcap.Packet{Time: int64(id), Link: linkRaw, Data: p, Wire: len(p)})
	}
	for range 2 * MaxDatagrams {
		feed()
	}
	var before, after runtime.MemStats
	const times = 1000
	runtime.ReadMemStats(&before)
	for range times {
		feed()
	}
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) / times; n > 1000 {
		t.Errorf("%d bytes for each fragment", n)
	}
	if n := len(d.parts.free) + len(d.parts.open); n > MaxDatagrams+1 {
		t.Errorf("%d buffers", n)
	}
}

// TestBuffersAreUsedAgain puts together short datagrams and cut ones after
// long ones: nothing of the long ones is in them.
func TestBuffersAreUsedAgain(t *testing.T) {
	d := NewDecoder()
	long, short := parts4(t, divided, 24), parts4(t, "something short, divided", 16)
	for range 3 {
		if got := feed(t, d, long[2], long[0], long[1]); got != `udp 10.0.0.1:800>10.0.0.2:2049 "`+divided+`"/55` {
			t.Errorf("got %s", got)
		}
		if got := feed(t, d, short[1], short[0]); got != `udp 10.0.0.1:800>10.0.0.2:2049 "something short, divided"/24` {
			t.Errorf("got %s", got)
		}
		if got := feed(t, d, short[1], short[0][:len(short[0])-4]); got != `udp 10.0.0.1:800>10.0.0.2:2049 "some"/24` {
			t.Errorf("got %s", got)
		}
	}
	if len(d.parts.open) != 0 || len(d.parts.free) > 1 {
		t.Errorf("%d wait, %d buffers are free", len(d.parts.open), len(d.parts.free))
	}
}

func TestImpossibleFragments(t *testing.T) {
	for name, c := range map[string]struct {
		offset  uint16
		more    layers.IPv4Flag
		payload string
	}{
		"nothing in it": {1, layers.IPv4MoreFragments, ""},
		"odd length":    {0, layers.IPv4MoreFragments, "12345"},
		"too far":       {8191, 0, "123456789"},
	} {
		h := ip4(layers.IPProtocolUDP)
		h.FragOffset, h.Flags = c.offset, c.more
		d := NewDecoder()
		if got := feed(t, d, build(t, c.payload, h)); got != "nothing" || d.Counts().Damaged != 1 || len(d.parts.open) != 0 {
			t.Errorf("%s: %s, %+v", name, got, d.Counts())
		}
	}
}
