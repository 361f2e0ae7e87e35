package nfsdump

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/tidemark/tidemark/traces"
)

// busy returns text of 20 clients that call a thousand times a second, with the
// replies a little later, like those of the sample.
func busy(calls int) []byte {
	const attributes = "ftype 1 mode 180 nlink 1 uid 18afa gid 18a88 size 72520 used 74000 rdev 0 rdev2 0 fsid ffffffff8465bccf " +
		"fileid 500b6 atime 1006231504.338314 mtime 1006230303.000000 ctime 1006230304.524104"
	const node = "cfbc65840a0000000c0000%06x000500088000000c0000000200000001800000"
	var out bytes.Buffer
	line := func(i int, answer bool) {
		from, to, kind, micros := fmt.Sprintf("%x.03f7", i%20+49), "30.0801", 'C', i*1000
		if answer {
			from, to, kind, micros = to, from, 'R', micros+2500
		}
		fmt.Fprintf(&out, "%d.%06d %s %s T %c3 %08x ", 1006231504+micros/1_000_000, micros%1_000_000, from, to, kind, i)
		file := fmt.Sprintf(node, i*7919%3000)
		parts := [...][2]string{
			{"1 getattr fh " + file, "1 getattr OK " + attributes},
			{"6 read fh " + file + " off 2000 count 2000", "6 read OK " + attributes + " count 2000 eof 0"},
			{fmt.Sprintf("3 lookup fh %s name \"file%d\"", fmt.Sprintf(node, 1), i*7919%3000), "3 lookup OK fh " + file + " " + attributes + " " + attributes},
			{"7 write fh " + file + " off 4000 count 2000 stable U", "7 write OK " + attributes + " count 2000 stable U"},
		}[i%4]
		if answer {
			out.WriteString(parts[1] + debugReply)
		} else {
			out.WriteString(parts[0] + debugCall)
		}
	}
	for i := range calls + 2 {
		if i < calls {
			line(i, false)
		}
		if i >= 2 {
			line(i-2, true)
		}
	}
	return out.Bytes()
}

func BenchmarkReader(b *testing.B) {
	text := busy(100_000)
	lines := float64(bytes.Count(text, []byte{'\n'}))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := NewReader(bytes.NewReader(text), "f", traces.Options{})
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for err == nil {
			_, err = r.Next()
			n++
		}
		if err != io.EOF || n != 100_001 {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(b.N)*lines/b.Elapsed().Seconds(), "lines/s")
}
