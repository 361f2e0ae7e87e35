package record

import (
	"bytes"
	"testing"

	"github.com/tidemark/tidemark/occ"
)

func benchGroup() Group {
	var g Group
	for i := range 16 {
		g.Records = append(g.Records, &Commit{
			At: occ.Timestamp(1000 + i), Session: session(1), Seq: uint64(i), Acked: uint64(i), Digest: 7,
			Writes: []occ.Write{{Block: occ.BlockID(i), Data: bytes.Repeat([]byte{1}, 4096)}},
		})
	}
	return g
}

func BenchmarkAppend16Commits4KiB(b *testing.B) {
	g := benchGroup()
	buf := Append(nil, g)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		buf = Append(buf[:0], g)
	}
}

func BenchmarkDecode16Commits4KiB(b *testing.B) {
	buf := Append(nil, benchGroup())
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(buf); err != nil {
			b.Fatal(err)
		}
	}
}
