package format

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/binary"
)

const text = `1.000000 Attr READ FID: 000000000000000a OFF: 0 SIZE: 0 HOST: 1
2.000000 Rename WRITE FID: 000000000000000b OFF: 0 SIZE: 0 HOST: 2 DIR: 0000000000000001 NAME: "a b" TODIR: 0000000000000002 TONAME: "c"
`

func asBinary(t testing.TB) []byte {
	var out bytes.Buffer
	w, err := binary.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	for op, err := range traces.All(traces.NewReader(strings.NewReader(text), "t", traces.Options{})) {
		if err := errors.Join(err, w.Write(op)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func gzipped(t testing.TB, data []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write(data)
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zstded(t testing.TB, data []byte) []byte {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	return z.EncodeAll(data, nil)
}

// read returns the operations as text, and the name of the format.
func read(src traces.Source, err error) (ops, format string, _ error) {
	if err != nil {
		return "", "", err
	}
	defer src.Close()
	in, err := src.Open()
	if err != nil {
		return "", "", err
	}
	defer in.Close()
	var b strings.Builder
	for op, err := range traces.All(in) {
		if err != nil {
			return "", "", err
		}
		b.WriteString(op.String() + "\n")
	}
	return b.String(), traces.Format(in), nil
}

// TestFormatsByContent reads every form from a file whose name misleads, and
// from standard input.
func TestFormatsByContent(t *testing.T) {
	for format, data := range map[string][]byte{
		"Auspex text":                 []byte(text),
		"Auspex text, gzip":           gzipped(t, []byte(text)),
		"Auspex text, zstd":           zstded(t, []byte(text)),
		"Tidemark binary trace":       asBinary(t),
		"Tidemark binary trace, gzip": gzipped(t, asBinary(t)),
		"Tidemark binary trace, zstd": zstded(t, asBinary(t)),
	} {
		path := filepath.Join(t.TempDir(), "trace.pcap.bz2")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, from := range []string{path, traces.Stdin} {
			got, name, err := read(NewSource(from, iotest.OneByteReader(bytes.NewReader(data)), traces.Options{}))
			if err != nil || got != text || name != format {
				t.Errorf("%s from %s: %s reads %s, %v", format, from, name, got, err)
			}
		}
	}
}

// sampled returns a file of another package's test data.
func sampled(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile("../" + path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestNamesOfFormats checks that every reader says what it reads, also inside
// compression.
func TestNamesOfFormats(t *testing.T) {
	named := map[string][]byte{
		"Auspex text":           []byte(text),
		"Tidemark binary trace": asBinary(t),
		"pcap":                  sampled(t, "capture/testdata/zeek-nfs-base.pcap"),
		"pcapng":                sampled(t, "capture/testdata/tcpdump-nfs-write-verf-cookie.pcapng"),
		"nfsdump text":          sampled(t, "nfsdump/testdata/ellard-a.txt"),
	}
	if len(named) < len(formats)+1 {
		t.Errorf("%d names of %d formats and text", len(named), len(formats))
	}
	for want, data := range named {
		for suffix, data := range map[string][]byte{"": data, ", gzip": gzipped(t, data)} {
			ops, name, err := read(NewSource(traces.Stdin, bytes.NewReader(data), traces.Options{}))
			if err != nil || ops == "" || name != want+suffix {
				t.Errorf("%s is called %q; %v", want+suffix, name, err)
			}
		}
	}
}

func TestForeignFiles(t *testing.T) {
	const can = "; it can be Auspex text"
	for _, c := range []struct{ data, want string }{
		{"\x7fELF\x02\x01\x01\x00", "stdin: not in a format that can be read (it is no text" + can},
		{"hello\n", `stdin: not in a format that can be read (as text, its first line is no operation: expected a time in seconds, found "hello"` + can},
		{"\n\n hello", `stdin: not in a format that can be read (as text, its first line is no operation: expected a time in seconds, found "hello"` + can},
		{text + "hello\n", `stdin:3: expected a time in seconds, found "hello"`},
		{strings.Repeat("x", headLen), `stdin:1: expected a time in seconds, found "xxxx`},
		{strings.Repeat("x", headLen+1), "stdin:1: line is over 4096 bytes"},
		{"", "stdin: the trace holds no operation"},
		{"\n", "stdin: after line 1: the trace holds no operation"},
		{"\xfd7zXZ\x00\x00", "stdin: not in a format that can be read (xz)"},
	} {
		_, _, err := read(NewSource(traces.Stdin, strings.NewReader(c.data), traces.Options{}))
		var se *traces.StreamError
		var le *traces.LineError
		if !errors.As(err, &se) && !errors.As(err, &le) || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.20q: got %v, want %s", c.data, err, c.want)
		}
		if strings.Contains(c.want, can) && !errors.Is(err, traces.ErrFormat) {
			t.Errorf("%.20q: got %v", c.data, err)
		}
	}
	got, _, err := read(NewSource(traces.Stdin, strings.NewReader("hello\n"+text), traces.Options{SkipUnknown: true}))
	if err != nil || got != text {
		t.Errorf("skipping: got %s, %v", got, err)
	}
}

// TestSupported keeps the list of formats and the table together.
func TestSupported(t *testing.T) {
	for _, f := range formats {
		if !strings.Contains(Supported(), f.name) || f.recognize(nil) || f.recognize([]byte(text)) {
			t.Errorf("%s is not listed, or takes text for its own", f.name)
		}
	}
}

func TestReadingFails(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, n := range []int{0, 10, len(text)} {
		r := io.MultiReader(strings.NewReader(text[:n]), iotest.ErrReader(broken))
		if in, err := Open(r, "t", traces.Options{}); err == nil {
			for err == nil {
				_, err = in.Next()
			}
			if !errors.Is(err, broken) {
				t.Errorf("after %d bytes: %v", n, err)
			}
		} else if !errors.Is(err, broken) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte(text), false)
	f.Add(asBinary(f), false)
	f.Add([]byte("\x00"+text), true)
	f.Fuzz(func(t *testing.T, data []byte, skip bool) {
		in, err := Open(bytes.NewReader(data), "t", traces.Options{SkipUnknown: skip})
		for n := 0; err == nil; n++ {
			var op traces.Op
			if op, err = in.Next(); err == nil && op.Check() != nil || n > len(data) {
				t.Fatalf("operation %d is %+v", n, op)
			}
		}
		var se *traces.StreamError
		var le *traces.LineError
		if err != io.EOF && !errors.As(err, &se) && !errors.As(err, &le) {
			t.Fatalf("untyped error %v", err)
		}
	})
}
