package wire

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func benchmarkMessages() map[string]Message {
	block := bytes.Repeat([]byte{7}, 4096)
	return map[string]Message{
		"Ping":         &Ping{Req: 1 << 20},
		"ReadReply4K":  &ReadReply{Req: 1 << 20, Stable: 1 << 21, Results: []ReadResult{{From: 1 << 20, Data: block}}},
		"ReadReplyPad": &ReadReply{Req: 1 << 20, Stable: 1 << 21, Results: []ReadResult{{From: 1 << 20, Data: append(block[:100:100], make([]byte, 3996)...)}}},
		"Items100":     deprecations(100, rand.New(rand.NewPCG(1, 1)).Uint32),
	}
}

func BenchmarkEncode(b *testing.B) {
	for name, m := range benchmarkMessages() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			buf := Append(nil, m)
			b.SetBytes(int64(len(buf)))
			for b.Loop() {
				buf = Append(buf[:0], m)
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for name, m := range benchmarkMessages() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			body := bodyOf(m)
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if _, err := DecodeWith(body, 4096); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A decoded block reply costs the message, its results and the block; a
// message is appended without allocating.
func TestAllocations(t *testing.T) {
	for name, m := range benchmarkMessages() {
		want := map[string]float64{"Ping": 1, "ReadReply4K": 3, "ReadReplyPad": 3, "Items100": 2}[name]
		body, buf := bodyOf(m), Append(nil, m)
		if n := testing.AllocsPerRun(100, func() { DecodeWith(body, 4096) }); n > want {
			t.Errorf("decoding %s allocates %v times, want %v", name, n, want)
		}
		if n := testing.AllocsPerRun(100, func() { buf = Append(buf[:0], m) }); n > 0 {
			t.Errorf("encoding %s allocates %v times", name, n)
		}
	}
}
