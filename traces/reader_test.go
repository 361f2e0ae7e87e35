package traces

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"
)

const (
	lineA = "1.000000 Attr READ FID: 000000000000000a OFF: 0 SIZE: 0 HOST: 1"
	lineB = "2.000000 Block WRITE FID: 000000000000000b OFF: 0 SIZE: 10 HOST: 2"
)

// twoLinesBzip2 is lineA and lineB, made by the bzip2 program: the standard
// library cannot write the format.
//
//go:embed testdata/two-lines.txt.bz2
var twoLinesBzip2 []byte

func gzipped(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.Bytes()
}

func zstded(text string) []byte {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	defer z.Close()
	return z.EncodeAll([]byte(text), nil)
}

// readAll reads as a consumer would: to the first error.
func readAll(r io.Reader, opt Options) ([]Op, Input, error) {
	in, err := openInput(r, -1, "t", opt, Text)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	var ops []Op
	for op, err := range All(in) {
		if err != nil {
			return ops, in, err
		}
		ops = append(ops, op)
	}
	return ops, in, nil
}

func twoOps(line int64) []Op {
	return []Op{
		{Time: 1_000_000, Type: Attr, FID: 0xa, Host: 1, Line: line},
		{Time: 2_000_000, Type: Block, Action: Write, FID: 0xb, Size: 10, Host: 2, Line: line + 1},
	}
}

func TestReaderKnowsCompressionByContent(t *testing.T) {
	text := lineA + "\n" + lineB + "\n"
	skippable := []byte{0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'x', 'y', 'z'}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for name, c := range map[string]struct {
		data   []byte
		copies int
	}{
		"plain":                 {[]byte(text), 1},
		"plain, no newline":     {[]byte(lineA + "\n" + lineB), 1},
		"plain, CRLF":           {[]byte(lineA + "\r\n" + lineB + "\r\n"), 1},
		"gzip":                  {gzipped(text), 1},
		"gzip, two members":     {join(gzipped(text), gzipped(text)), 2},
		"gzip, line across":     {join(gzipped(text[:30]), gzipped(text[30:])), 1},
		"bzip2":                 {twoLinesBzip2, 1},
		"bzip2, two members":    {join(twoLinesBzip2, twoLinesBzip2), 2},
		"zstd":                  {zstded(text), 1},
		"zstd, two frames":      {join(zstded(text), zstded(text)), 2},
		"zstd, skippable first": {join(skippable, zstded(text)), 1},
	} {
		t.Run(name, func(t *testing.T) {
			var want []Op
			for i := range c.copies {
				want = append(want, twoOps(int64(1+2*i))...)
			}
			for how, r := range map[string]io.Reader{
				"whole":        bytes.NewReader(c.data),
				"byte by byte": iotest.OneByteReader(bytes.NewReader(c.data)),
				"data and EOF": iotest.DataErrReader(bytes.NewReader(c.data)),
			} {
				got, _, err := readAll(r, Options{})
				if err != nil || fmt.Sprint(got) != fmt.Sprint(want) || got[0].Line != 1 {
					t.Errorf("%s: got %v, %v", how, got, err)
				}
			}
		})
	}
}

func TestReaderErrorsNameFileAndLine(t *testing.T) {
	long := strings.Repeat("x", MaxLine+1)
	huge := strings.Repeat("y", 3*bufferSize)
	for name, c := range map[string]struct{ text, want string }{
		"unknown":          {lineA + "\n\n# comment\n" + lineB, `t:3: expected a time in seconds, found "#"`},
		"cut last line":    {lineA + "\n" + lineB[:40], "t:2: expected OFF:, found the end of the line"},
		"long":             {lineA + "\n" + long + "\n", "t:2: line is over 4096 bytes"},
		"long at the end":  {lineA + "\n" + long, "t:2: line is over 4096 bytes"},
		"huge":             {lineA + "\n" + huge + "\n" + lineB, "t:2: line is over 4096 bytes"},
		"huge at the end":  {huge, "t:1: line is over 4096 bytes"},
		"blanks too long":  {lineA + "\n" + strings.Repeat(" ", MaxLine+1), "t:2: line is over 4096 bytes"},
		"binary":           {"\x00\x01\x02\n", `t:1: expected a time in seconds, found "\x00\x01\x02"`},
		"empty line first": {"\r\n\n1 Attr", "t:3: expected READ or WRITE, found the end of the line"},
	} {
		in := NewReader(strings.NewReader(c.text), "t", Options{})
		var err error
		for err == nil {
			_, err = in.Next()
		}
		var le *LineError
		if !errors.As(err, &le) || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
		if _, again := in.Next(); again != err {
			t.Errorf("%s: then got %v", name, again)
		}
	}
}

func TestReaderSkips(t *testing.T) {
	text := "header\n" + lineA + "\n" + strings.Repeat("z", 2*bufferSize) + "\n\n" + lineB + "\n" + strings.Repeat("x", MaxLine+1)
	ops, in, err := readAll(strings.NewReader(text), Options{SkipUnknown: true})
	if err != nil || len(ops) != 2 || ops[0].Line != 2 || ops[1].Line != 5 {
		t.Fatalf("got %v, %v", ops, err)
	}
	n, first := in.Skipped()
	if n != 3 || first.Error() != `t:1: expected a time in seconds, found "header"` {
		t.Errorf("skipped %d, first %v", n, first)
	}
}

func TestReaderAcceptsLinesUpToTheLimit(t *testing.T) {
	line := lineA + strings.Repeat(" ", MaxLine-len(lineA))
	ops, _, err := readAll(strings.NewReader(line+"\n"+line), Options{})
	if err != nil || len(ops) != 2 {
		t.Errorf("got %v, %v", ops, err)
	}
}

func TestReaderEmpty(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":     {nil, "t: the trace holds no operation"},
		"empty lines": {[]byte("\n \r\n"), "t: after line 2: the trace holds no operation"},
		"gzip":        {gzipped(""), "t: the trace holds no operation"},
		"all skipped": {[]byte("a\nb\n"), "t: after line 2: the trace holds no operation (every line was skipped, the first because: " +
			`expected a time in seconds, found "a")`},
	} {
		_, _, err := readAll(bytes.NewReader(c.data), Options{SkipUnknown: true})
		if !errors.Is(err, ErrEmpty) || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

func TestReaderAfterClose(t *testing.T) {
	in, err := openInput(strings.NewReader(lineA), -1, "t", Options{}, Text)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Next(); !errors.Is(err, ErrClosed) {
		t.Errorf("Next gives %v", err)
	}
	if err := in.Close(); err != nil {
		t.Errorf("second Close gives %v", err)
	}
}

func FuzzReader(f *testing.F) {
	text := lineA + "\n" + lineB + "\n"
	f.Add([]byte(text), false)
	f.Add([]byte("junk\n"+text), true)
	f.Add(gzipped(text), false)
	f.Add(twoLinesBzip2, false)
	f.Add(zstded(text), false)
	f.Fuzz(func(t *testing.T, data []byte, skip bool) {
		in, err := openInput(bytes.NewReader(data), -1, "t", Options{SkipUnknown: skip}, Text)
		if err != nil {
			return
		}
		defer in.Close()
		last := int64(0)
		for range 10_000 { // a few bytes can unpack to very many lines
			op, err := in.Next()
			if err != nil {
				return
			}
			if op.Check() != nil || op.Line <= last {
				t.Fatalf("bad operation %+v after line %d", op, last)
			}
			last = op.Line
		}
	})
}

func BenchmarkReader(b *testing.B) {
	var text, placed []byte
	for i := range 20_000 {
		op := Op{Time: 748521923_402318 + int64(i)*997, Type: Block, FID: 0x5e1e000000004d79, Off: int64(i) * 4096, Size: 4096, Host: 1066}
		text = append(AppendText(text, op), '\n')
		op.Place = &Place{Dir: 0x5e1e000000004d70, Name: "thesis.tex"}
		placed = append(AppendText(placed, op), '\n')
	}
	for _, c := range []struct {
		name string
		data []byte
	}{{"plain", text}, {"with places", placed}, {"gzip", gzipped(string(text))}, {"zstd", zstded(string(text))}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.data)))
			lines := 0
			for b.Loop() {
				in, err := openInput(bytes.NewReader(c.data), -1, "t", Options{}, Text)
				if err != nil {
					b.Fatal(err)
				}
				for _, err := range All(in) {
					if err != nil {
						b.Fatal(err)
					}
					lines++
				}
				in.Close()
			}
			b.ReportMetric(float64(lines)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
