package tcp

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/traces/capture/packet"
)

// journal is a Sink that writes down what it gets.
type journal struct{ b strings.Builder }

func (j *journal) Begin(start bool)       { fmt.Fprintf(&j.b, "{%t}", start) }
func (j *journal) Data(_ int64, b []byte) { j.b.Write(b) }
func (j *journal) Gap(_ int64, n int)     { fmt.Fprintf(&j.b, "<%d>", n) }
func (j *journal) End()                   { j.b.WriteString("{end}") }

// rig is a Table with one flow.
type rig struct {
	*Table
	*journal
}

func newRig() rig {
	j := &journal{}
	return rig{NewTable(func(_, _ netip.AddrPort) Sink { return j }), j}
}

var (
	near = netip.MustParseAddrPort("10.0.0.1:800")
	far  = netip.MustParseAddrPort("10.0.0.2:2049")
)

func segmentAt(time int64, seq uint32, data string) packet.Packet {
	return packet.Packet{Time: time, Src: near, Dst: far, TCP: true, Seq: seq, Payload: []byte(data), Length: len(data)}
}

func syn(seq uint32) packet.Packet {
	p := segmentAt(0, seq, "")
	p.Syn = true
	return p
}

// cut is a segment of which only the beginning was captured.
func cut(seq uint32, data string, length int) packet.Packet {
	p := segmentAt(0, seq, data)
	p.Length = length
	return p
}

func reset(seq uint32) packet.Packet {
	p := segmentAt(0, seq, "")
	p.Rst = true
	return p
}

func TestOrder(t *testing.T) {
	const top = 1<<32 - 4
	for _, c := range []struct {
		name     string
		segments []packet.Packet
		want     string
		counts   Counts
	}{
		{"in order", []packet.Packet{syn(10), segmentAt(0, 10, "abc"), segmentAt(0, 13, "def")}, "{true}abcdef{end}", Counts{Flows: 1}},
		{"without a beginning", []packet.Packet{segmentAt(0, 10, "abc"), segmentAt(0, 13, "def")}, "{false}abcdef{end}", Counts{Flows: 1}},
		{"acknowledgements alone", []packet.Packet{segmentAt(0, 10, "")}, "", Counts{}},
		{"retransmission", []packet.Packet{syn(10), segmentAt(0, 10, "abc"), segmentAt(0, 10, "abc"), segmentAt(0, 11, "bc"), segmentAt(0, 13, "d")},
			"{true}abcd{end}", Counts{Flows: 1, Repeated: 2}},
		{"the first copy counts", []packet.Packet{syn(10), segmentAt(0, 10, "abc"), segmentAt(0, 11, "XYZde")}, "{true}abcZde{end}", Counts{Flows: 1}},
		{"late", []packet.Packet{syn(10), segmentAt(0, 13, "def"), segmentAt(0, 16, "ghi"), segmentAt(0, 10, "abc")}, "{true}abcdefghi{end}", Counts{Flows: 1, Late: 1}},
		{"backwards", []packet.Packet{syn(10), segmentAt(0, 12, "c"), segmentAt(0, 11, "b"), segmentAt(0, 10, "a")}, "{true}abc{end}", Counts{Flows: 1, Late: 2}},
		{"late and overlapping", []packet.Packet{syn(10), segmentAt(0, 12, "CDEF"), segmentAt(0, 14, "efgh"), segmentAt(0, 10, "abcd")}, "{true}abcdEFgh{end}", Counts{Flows: 1, Late: 1}},
		{"held back twice", []packet.Packet{syn(10), segmentAt(0, 12, "c"), segmentAt(0, 12, "c"), segmentAt(0, 12, "cde"), segmentAt(0, 10, "ab")},
			"{true}abcde{end}", Counts{Flows: 1, Repeated: 1, Late: 2}},
		{"gap at the end", []packet.Packet{syn(10), segmentAt(0, 10, "ab"), segmentAt(0, 15, "f")}, "{true}ab<3>f{end}", Counts{Flows: 1, Gaps: 1, Lost: 3}},
		{"gap waited for", []packet.Packet{syn(10), segmentAt(0, 12, "c"), segmentAt(MaxWait, 13, "d"), segmentAt(MaxWait+1, 14, "e"), segmentAt(MaxWait+1, 10, "ab")},
			"{true}<2>cde{end}", Counts{Flows: 1, Gaps: 1, Lost: 2, Repeated: 1}},
		{"over the top", []packet.Packet{syn(top), segmentAt(0, top, "abc"), segmentAt(0, 2, "ghi"), segmentAt(0, top+3, "def"), segmentAt(0, 5, "jk")},
			"{true}abcdefghijk{end}", Counts{Flows: 1, Late: 1}},
		{"cut", []packet.Packet{syn(10), cut(10, "ab", 5), segmentAt(0, 15, "fg")}, "{true}ab<3>fg{end}", Counts{Flows: 1, Cut: 3}},
		{"cut and late", []packet.Packet{syn(10), cut(15, "f", 4), cut(10, "ab", 7), segmentAt(0, 19, "j")}, "{true}ab<5><2>j{end}", Counts{Flows: 1, Cut: 7, Late: 1}},
		{"keep-alive", []packet.Packet{syn(10), segmentAt(0, 10, "ab"), segmentAt(0, 11, "X"), segmentAt(0, 12, "c")}, "{true}abc{end}", Counts{Flows: 1, Repeated: 1}},
		{"SYN again", []packet.Packet{syn(10), syn(10), segmentAt(0, 10, "ab"), syn(10), segmentAt(0, 12, "c")}, "{true}abc{end}", Counts{Flows: 1}},
		{"ports used again", []packet.Packet{syn(10), segmentAt(0, 10, "ab"), segmentAt(0, 13, "d"), syn(5000), segmentAt(0, 5000, "xy")},
			"{true}ab<1>d{true}xy{end}", Counts{Flows: 2, Gaps: 1, Lost: 1}},
		{"reset", []packet.Packet{syn(10), segmentAt(0, 10, "ab"), segmentAt(0, 13, "d"), reset(14)}, "{true}ab<1>d{end}", Counts{Flows: 1, Gaps: 1, Lost: 1}},
		{"reset of nothing", []packet.Packet{reset(14)}, "", Counts{}},
		{"jump ahead", []packet.Packet{syn(10), segmentAt(0, 10, "ab"), segmentAt(0, 13+farAway, "xy")}, "{true}ab{false}xy{end}", Counts{Flows: 2, Jumps: 1}},
		{"jump back", []packet.Packet{syn(2 * farAway), segmentAt(0, 2*farAway, "ab"), segmentAt(0, 10, "xy")}, "{true}ab{false}xy{end}", Counts{Flows: 2, Jumps: 1}},
	} {
		r := newRig()
		for _, s := range c.segments {
			r.Add(s)
		}
		r.Flush(0)
		if got := r.b.String(); got != c.want || r.Counts() != c.counts {
			t.Errorf("%s: got %s, %+v\nwant %s, %+v", c.name, got, r.Counts(), c.want, c.counts)
		}
		if r.held != 0 || len(r.flows) != 0 || r.waiting.Len() != 0 || r.used.Len() != 0 {
			t.Errorf("%s: something is left: %d bytes, %d flows", c.name, r.held, len(r.flows))
		}
	}
}

// acks is a segment of the opposite direction that acknowledges.
func acks(ack uint32, data string) packet.Packet {
	p := segmentAt(0, 1000, data)
	p.Src, p.Dst, p.Ack, p.Acks = far, near, ack, true
	return p
}

// TestAcknowledgedGap does not wait for bytes that the other end has. Both
// directions write to the same journal, so that their order is seen.
func TestAcknowledgedGap(t *testing.T) {
	for _, c := range []struct {
		name     string
		segments []packet.Packet
		want     string
	}{
		{"before the answer", []packet.Packet{syn(10), segmentAt(0, 12, "cd"), acks(14, "ANSWER"), segmentAt(0, 10, "ab")}, "{true}<2>cd{false}ANSWER"},
		{"by the answer to what is lost", []packet.Packet{syn(10), acks(12, "ANSWER"), segmentAt(0, 12, "cd")}, "{true}{false}ANSWER<2>cd"},
		{"without data", []packet.Packet{syn(10), segmentAt(0, 12, "cd"), acks(12, "")}, "{true}<2>cd"},
		{"not whole", []packet.Packet{syn(10), segmentAt(0, 12, "cd"), acks(11, "")}, "{true}"},
		{"the first of two", []packet.Packet{syn(10), segmentAt(0, 12, "cd"), segmentAt(0, 16, "gh"), acks(14, "")}, "{true}<2>cd"},
		{"both", []packet.Packet{syn(10), segmentAt(0, 12, "cd"), segmentAt(0, 16, "gh"), acks(18, "")}, "{true}<2>cd<2>gh"},
		{"of another connection", []packet.Packet{syn(10), segmentAt(0, 12, "cd"), acks(12+farAway, ""), acks(5, "")}, "{true}"},
		{"before a new connection", []packet.Packet{syn(10), acks(12, ""), syn(5000), segmentAt(0, 5002, "cd")}, "{true}{true}"},
	} {
		r := newRig()
		for _, s := range c.segments {
			r.Add(s)
		}
		if got := r.b.String(); got != c.want {
			t.Errorf("%s: got %s\nwant %s", c.name, got, c.want)
		}
	}
	// A direction that is forgotten leaves the other one alone.
	r := newRig()
	r.Add(syn(10))
	r.Add(acks(10, "x"))
	r.Add(reset(10))
	r.Add(acks(10, ""))
	r.Add(syn(10))
	r.Add(segmentAt(0, 12, "cd"))
	r.Add(acks(12, ""))
	if got := r.b.String(); got != "{true}{false}x{end}{true}<2>cd" {
		t.Error(got)
	}
}

// TestLongFlow sends several times the space of sequence numbers, in large
// segments. The second of each three comes last, and whether acknowledgements
// are captured or not, nothing is a gap.
func TestLongFlow(t *testing.T) {
	const size = farAway / 4
	for _, acknowledged := range []bool{false, true} {
		table := NewTable(func(_, _ netip.AddrPort) Sink { return discard{} })
		table.Add(syn(77))
		seq, steps := uint32(77), 0
		for sent := 0; sent < 9<<30; sent += 3 * size {
			for _, n := range []uint32{0, 2, 1} {
				table.Add(cut(seq+n*size, "beginning", size))
			}
			seq += 3 * size
			steps++
			if acknowledged {
				table.Add(acks(seq, ""))
			}
			if c := table.Counts(); c.Gaps != 0 || c.Repeated != 0 || c.Late != int64(steps) {
				t.Fatalf("after %d bytes, acknowledged: %v: %+v", sent, acknowledged, c)
			}
		}
	}
}

// TestClockSetBack gives up waiting when time goes far back, too.
func TestClockSetBack(t *testing.T) {
	r := newRig()
	r.Add(syn(10))
	r.Add(segmentAt(5*MaxWait, 12, "c"))
	r.Add(segmentAt(0, 13, "d"))
	if got := r.b.String(); got != "{true}<2>cd" {
		t.Error(got)
	}
}

// TestShuffled divides a stream into overlapping segments, some repeated,
// which come in disorder: it must come out whole.
func TestShuffled(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(1, seed))
		stream := make([]byte, 2000)
		for i := range stream {
			stream[i] = 'a' + byte(random.IntN(26))
		}
		start := random.Uint32()
		var segments []packet.Packet
		for at := 0; at < len(stream); {
			n := 1 + random.IntN(60)
			from, to := max(0, at-random.IntN(40)), min(at+n, len(stream))
			segments = append(segments, segmentAt(0, start+uint32(from), string(stream[from:to])))
			at = to
		}
		for i := range segments {
			j := min(i+random.IntN(8), len(segments)-1)
			segments[i], segments[j] = segments[j], segments[i]
		}
		r := newRig()
		r.Add(syn(start))
		for _, s := range segments {
			r.Add(s)
		}
		r.Flush(0)
		if got := r.b.String(); got != "{true}"+string(stream)+"{end}" {
			t.Fatalf("seed %d: got %s", seed, got)
		}
	}
}

func TestHeldBytesAreBounded(t *testing.T) {
	// Of one flow by their number.
	r := newRig()
	r.Add(syn(0))
	for i := range uint32(MaxFlowSegments + 1) {
		r.Add(segmentAt(0, 10+2*i, "a"))
	}
	if r.counts.Gaps != 1 || r.held != MaxFlowSegments*(1+overhead) {
		t.Errorf("%d gaps, %d bytes", r.counts.Gaps, r.held)
	}
	// By their size.
	r = newRig()
	r.Add(syn(0))
	large := strings.Repeat("x", 1<<20)
	for i := range uint32(4) {
		r.Add(segmentAt(0, 10+i*(1<<20+1), large))
	}
	if r.counts.Gaps != 1 || r.held != 3*(1<<20+overhead) {
		t.Errorf("%d gaps, %d bytes", r.counts.Gaps, r.held)
	}
	// Of all flows together: the oldest gap is given up.
	r = newRig()
	for i := range uint16(20) {
		s := segmentAt(0, 0, "a")
		s.Src = netip.AddrPortFrom(near.Addr(), i)
		r.Add(s)
		s.Seq, s.Payload, s.Length = 10, []byte(large), len(large)
		r.Add(s)
		if r.held > MaxHeld+2*len(large) {
			t.Fatalf("%d bytes held", r.held)
		}
	}
	if r.counts.Gaps == 0 {
		t.Error("no gap was given up")
	}
}

func TestFlowsAreBounded(t *testing.T) {
	r := newRig()
	for i := range MaxFlows + 10 {
		s := segmentAt(0, 0, "a")
		s.Src = netip.AddrPortFrom(near.Addr(), uint16(i))
		r.Add(s)
		s.Seq, s.Payload = 9, []byte("b")
		r.Add(s)
	}
	if len(r.flows) != MaxFlows || r.counts.Evicted != 10 || r.waiting.Len() != MaxFlows || r.counts.Gaps != 10 {
		t.Errorf("%d flows, %+v", len(r.flows), r.counts)
	}
}

func FuzzTable(f *testing.F) {
	f.Add([]byte("\x00\x00\x03\x00\x05\x04\x00\x03\x02\x01\x00\x09"))
	f.Add(bytes.Repeat([]byte{0x13, 7, 9}, 30))
	f.Fuzz(func(t *testing.T, steps []byte) {
		r := newRig()
		seq, time, sent := uint32(1<<32-100), int64(0), 0
		for ; len(steps) >= 3; steps = steps[3:] {
			p := segmentAt(time, seq+uint32(steps[1]), strings.Repeat("x", int(steps[2]%32)))
			p.Length += int(steps[0] >> 6)
			p.Ack, p.Acks = seq+uint32(steps[2]), steps[1]&1 != 0
			if steps[1]&2 != 0 {
				p.Src, p.Dst = p.Dst, p.Src
			}
			p.Syn, p.Rst = steps[0]&31 == 30, steps[0]&31 == 31
			sent += len(p.Payload)
			if steps[0]&32 != 0 {
				seq += uint32(steps[2])
			}
			if steps[0]&31 == 29 {
				seq += 1 << 30
			}
			time += int64(steps[0]&15) * 1000
			r.Add(p)
		}
		r.Flush(time)
		if given := strings.Count(r.b.String(), "x"); given > sent {
			t.Fatalf("%d bytes of %d", given, sent)
		}
		if r.held != 0 || len(r.flows) != 0 || r.waiting.Len() != 0 {
			t.Fatalf("something is left: %d bytes, %d flows", r.held, len(r.flows))
		}
	})
}

type discard struct{}

func (discard) Begin(bool)         {}
func (discard) Data(int64, []byte) {}
func (discard) Gap(int64, int)     {}
func (discard) End()               {}

func BenchmarkTable(b *testing.B) {
	t := NewTable(func(_, _ netip.AddrPort) Sink { return discard{} })
	p := segmentAt(0, 0, strings.Repeat("x", 1448))
	b.SetBytes(1448)
	b.ReportAllocs()
	for b.Loop() {
		t.Add(p)
		p.Seq += 1448
	}
}
