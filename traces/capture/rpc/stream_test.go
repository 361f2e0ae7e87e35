package rpc

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/traces/capture/xdr"
)

// recorded puts a record mark before a message.
func recorded(message []byte) []byte { return append(words(1<<31|len(message)), message...) }

// divided makes a record of several fragments.
func divided(message []byte, size int) (b []byte) {
	for ; len(message) > size; message = message[size:] {
		b = append(append(b, words(size)...), message[:size]...)
	}
	return append(b, recorded(message)...)
}

// listener writes down messages: the XID, the size, and what is missing.
type listener struct {
	shared Shared
	stream *Stream
	heard  []string
}

func newListener(start bool) *listener {
	l := &listener{}
	l.stream = NewStream(&l.shared, func(m Message) {
		c := xdr.New(m.Head, m.Tail, m.Size)
		missing := m.Size - min(m.Size, len(m.Head)+len(m.Tail))
		l.heard = append(l.heard, fmt.Sprintf("%d/%d-%d", c.Uint32(), m.Size, missing))
	})
	l.stream.Begin(start)
	return l
}

func (l *listener) String() string { return strings.Join(l.heard, " ") }

// TestRecords divides a stream in every way that matters.
func TestRecords(t *testing.T) {
	stream := bytes.Join([][]byte{
		recorded(call(1, NFS, 3, 1, "one")), recorded(reply(2, "two")), divided(call(3, NFS, 3, 1, make([]byte, 100)), 13),
		recorded(words(4, 1, 1, 1, 5)), divided(reply(5, make([]byte, 64)), 1), append(words(0, 0), recorded(reply(6))...),
	}, nil)
	const want = "1/48-0 2/28-0 3/144-0 4/20-0 5/88-0 6/24-0"
	for size := 1; size <= len(stream); size++ {
		l := newListener(true)
		for rest := stream; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			l.stream.Data(0, rest[:min(size, len(rest))])
		}
		if l.String() != want {
			t.Fatalf("in pieces of %d bytes: %s", size, l)
		}
		if l.stream.End(); l.shared.taken != 0 || l.shared.counts != (StreamCounts{Messages: 6}) {
			t.Fatalf("%d stores taken, %+v", l.shared.taken, l.shared.counts)
		}
	}
}

// TestLargeRecord keeps the two ends of a message only.
func TestLargeRecord(t *testing.T) {
	data := make([]byte, 1<<20)
	for i := range data {
		data[i] = byte(i * 7)
	}
	message := call(1, NFS, 3, 7, data)
	for _, size := range []int{1, 1448, 60000, 1 << 19} {
		var got Message
		var head, tail []byte
		shared := Shared{}
		s := NewStream(&shared, func(m Message) { got, head, tail = m, bytes.Clone(m.Head), bytes.Clone(m.Tail) })
		stream := recorded(message)
		for ; len(stream) > 0; stream = stream[min(size, len(stream)):] {
			s.Data(5, stream[:min(size, len(stream))])
		}
		if got.Size != len(message) || got.Time != 5 || !bytes.Equal(head, message[:MaxHead]) || !bytes.Equal(tail, message[len(message)-MaxTail:]) {
			t.Errorf("in pieces of %d: %d bytes, %d and %d known", size, got.Size, len(head), len(tail))
		}
	}
}

func TestMiddleOfAStream(t *testing.T) {
	before := bytes.Repeat([]byte{0x80, 0, 0, 0x40, 1, 2, 0, 0, 0, 1, 0, 0, 0, 9, 0xff}, 20)
	stream := append(bytes.Clone(before), append(recorded(call(1, NFS, 3, 1, "one")), recorded(call(2, 100005, 3, 1))...)...)
	for size := 1; size <= len(stream); size++ {
		l := newListener(false)
		for rest := stream; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			l.stream.Data(0, rest[:min(size, len(rest))])
		}
		if l.String() != "1/48-0 2/44-0" || l.shared.counts.Passed != int64(len(before)) || l.shared.counts.Searches != 0 {
			t.Fatalf("in pieces of %d bytes: %s, %+v", size, l, l.shared.counts)
		}
	}
}

func TestGaps(t *testing.T) {
	write := recorded(call(1, NFS, 3, 7, make([]byte, 1000))) // 1048 bytes
	next := recorded(reply(2))
	for _, c := range []struct {
		name      string
		from, gap int
		want      string
		searches  int64
	}{
		{"in the data", 200, 100, "1/1044-100 2/24-0", 0},
		{"to the end", 200, 848, "1/1044-848 2/24-0", 0},
		{"from the beginning", 4, 1044, "2/24-0", 0},
		{"of the beginning", 4, 100, "2/24-0", 0},
		{"into the next mark", 200, 850, "1/1044-848 3/24-0", 1},
		{"of the mark", 0, 4, "2/24-0 3/24-0", 1},
		{"in the mark", 2, 2, "2/24-0 3/24-0", 1},
		{"of everything", 0, 1048, "2/24-0 3/24-0", 1},
	} {
		l := newListener(true)
		l.stream.spoke = true
		stream := append(append(bytes.Clone(write), next...), recorded(reply(3))...)
		l.stream.Data(0, stream[:c.from])
		l.stream.Gap(0, c.gap)
		l.stream.Data(0, stream[c.from+c.gap:])
		if c.searches == 0 {
			c.want += " 3/24-0"
		}
		if l.String() != c.want || l.shared.counts.Searches != c.searches {
			t.Errorf("%s: %s, %+v", c.name, l, l.shared.counts)
		}
	}
}

// TestTailAfterAGap knows the end of a message that has a gap.
func TestTailAfterAGap(t *testing.T) {
	message := call(1, NFS, 4, 1, make([]byte, 400), "the end")
	stream := recorded(message)
	var tail []byte
	s := NewStream(&Shared{}, func(m Message) { tail = bytes.Clone(m.Tail) })
	s.Data(0, stream[:100])
	s.Gap(0, 100)
	s.Data(0, stream[200:300])
	s.Gap(0, 50)
	s.Data(0, stream[350:])
	if !bytes.Equal(tail, stream[350:]) {
		t.Errorf("%d bytes known: %q", len(tail), tail)
	}
}

func TestNoRPC(t *testing.T) {
	l := newListener(true)
	l.stream.Data(0, []byte(strings.Repeat("GET / HTTP/1.1\r\nHost: example\r\n\r\n", 100)))
	l.stream.Data(0, recorded(reply(9)))
	if l.String() != "9/24-0" {
		t.Errorf("heard %s", l)
	}
	// Marks of records that are too small or too large.
	for _, mark := range []int{1<<31 | 19, MaxRecord + 1, 1<<31 | (MaxRecord + 1)} {
		l := newListener(true)
		l.stream.Data(0, append(words(mark), make([]byte, 100)...))
		if !l.stream.lost {
			t.Errorf("mark %#x was believed", mark)
		}
	}
	// Fragments that never end.
	l = newListener(true)
	for range 3 {
		l.stream.Data(0, words(MaxRecord/2, 1, 0, 2))
		l.stream.Gap(0, MaxRecord/2-12)
	}
	if !l.stream.lost || l.shared.taken != 0 {
		t.Error("a record without end was believed")
	}
}

func TestIncompleteMessagesAreBounded(t *testing.T) {
	shared := Shared{}
	var streams []*Stream
	for range MaxIncomplete + 5 {
		s := NewStream(&shared, func(Message) {})
		s.Data(0, recorded(call(1, NFS, 3, 1))[:20])
		streams = append(streams, s)
	}
	if shared.taken != MaxIncomplete {
		t.Errorf("%d stores taken", shared.taken)
	}
	for _, s := range streams {
		s.Data(0, recorded(call(1, NFS, 3, 1))[20:])
	}
	if shared.taken != 0 || shared.counts.Crowded != 5 || shared.counts.Messages != MaxIncomplete {
		t.Errorf("%d stores taken, %+v", shared.taken, shared.counts)
	}
}

// FuzzStream gives a stream whole and in pieces: the messages are the same.
// With gaps, nothing may break.
func FuzzStream(f *testing.F) {
	good := append(recorded(call(1, NFS, 3, 1, "one")), divided(call(3, NFS, 3, 1, make([]byte, 100)), 13)...)
	f.Add(good, uint64(1), true)
	f.Add(append([]byte("in the middle"), good...), uint64(2), false)
	f.Add(append(good[7:], recorded(reply(2))...), uint64(3), true)
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64, start bool) {
		whole, pieces, gaps := newListener(start), newListener(start), newListener(start)
		whole.stream.Data(0, stream)
		random := rand.New(rand.NewPCG(seed, 0))
		for rest := stream; len(rest) > 0; {
			n := min(1+random.IntN(40), len(rest))
			pieces.stream.Data(0, rest[:n])
			if random.IntN(4) == 0 {
				gaps.stream.Gap(0, n)
			} else {
				gaps.stream.Data(0, rest[:n])
			}
			rest = rest[n:]
		}
		if len(whole.heard) > len(stream)/headerLeast {
			t.Fatalf("%d messages in %d bytes", len(whole.heard), len(stream))
		}
		if start && whole.String() != pieces.String() && !pieces.stream.lost && whole.shared.counts.Searches+pieces.shared.counts.Searches == 0 && !whole.stream.lost {
			t.Fatalf("whole: %s\nin pieces: %s", whole, pieces)
		}
		for _, l := range []*listener{whole, pieces, gaps} {
			if l.stream.End(); l.shared.taken != 0 {
				t.Fatalf("%d stores taken", l.shared.taken)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add(call(7, NFS, 3, 1, "args"))
	f.Add(reply(7, "results!"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := xdr.New(b, nil, len(b))
		h, ok := Parse(&c)
		if ok && len(b) >= headerLeast && !possible(b, len(b)) {
			t.Fatalf("%+v is not possible", h)
		}
		h.Protection.Open(&c)
	})
}

func BenchmarkStream(b *testing.B) {
	stream := recorded(call(1, NFS, 3, 7, make([]byte, 1<<16)))
	s := NewStream(&Shared{}, func(Message) {})
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		for rest := stream; len(rest) > 0; rest = rest[min(1448, len(rest)):] {
			s.Data(0, rest[:min(1448, len(rest))])
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	noise := make([]byte, 1<<20)
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(noise)
	s := NewStream(&Shared{}, func(Message) {})
	s.Begin(false)
	b.SetBytes(int64(len(noise)))
	b.ReportAllocs()
	for b.Loop() {
		s.Data(0, noise)
	}
}
