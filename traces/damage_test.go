package traces

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestReaderTruncated cuts each compressed form at every length. From the
// length on at which its kind is known, it must be called truncated, and no
// operation may be made up.
func TestReaderTruncated(t *testing.T) {
	text := lineA + "\n" + lineB + "\n"
	for name, c := range map[string]struct {
		data []byte
		from int
	}{
		"gzip":  {gzipped(text), 2},
		"bzip2": {twoLinesBzip2, 4},
		"zstd":  {zstded(text), 4},
	} {
		for n := c.from; n < len(c.data); n++ {
			ops, _, err := readAll(bytes.NewReader(c.data[:n]), Options{})
			if !errors.Is(err, ErrTruncated) {
				t.Errorf("%s cut to %d of %d bytes: got %v", name, n, len(c.data), err)
			}
			if len(ops) > 0 && fmt.Sprint(ops) != fmt.Sprint(twoOps(1)[:len(ops)]) {
				t.Errorf("%s cut to %d bytes: read %v", name, n, ops)
			}
		}
	}
}

func TestUnpackedErrorsStay(t *testing.T) {
	u, err := Unpack(bytes.NewReader(twoLinesBzip2[:len(twoLinesBzip2)-4]))
	if err != nil {
		t.Fatal(err)
	}
	_, first := io.ReadAll(u)
	_, second := io.ReadAll(u)
	if !errors.Is(first, ErrTruncated) || first != second {
		t.Errorf("first %v, then %v", first, second)
	}
	if u.Close(); u.Close() != nil {
		t.Error("closing twice is an error")
	}
	if _, err := u.Read(make([]byte, 1)); err != ErrClosed {
		t.Errorf("after Close: %v", err)
	}
}

// TestReaderDamaged flips every byte of each compressed form in turn.
// Checksums cover the text; what they do not cover may change nothing.
func TestReaderDamaged(t *testing.T) {
	text := lineA + "\n" + lineB + "\n"
	for name, data := range map[string][]byte{"gzip": gzipped(text), "bzip2": twoLinesBzip2, "zstd": zstded(text)} {
		caught := 0
		for i := range data {
			bad := bytes.Clone(data)
			bad[i] ^= 0xff
			ops, _, err := readAll(bytes.NewReader(bad), Options{})
			if err != nil {
				if strings.Contains(err.Error(), "\n") {
					t.Errorf("error of several lines: %q", err)
				}
				caught++
			} else if fmt.Sprint(ops) != fmt.Sprint(twoOps(1)) {
				t.Errorf("%s with byte %d damaged: read %v", name, i, ops)
			}
		}
		if caught < len(data)/2 {
			t.Errorf("%s: only %d of %d damages noticed", name, caught, len(data))
		}
	}
	bad := gzipped(text)
	bad[len(bad)-5] ^= 1 // the checksum
	if _, _, err := readAll(bytes.NewReader(bad), Options{}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("wrong checksum: %v", err)
	}
	if _, _, err := readAll(bytes.NewReader(append(gzipped(text), "rubbish"...)), Options{}); !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTruncated) {
		t.Errorf("rubbish after the data: %v", err)
	}
}

func TestReaderRefusesLargeWindow(t *testing.T) {
	// A frame header that asks for a window of 2^31 bytes (RFC 8878, 3.1.1.1).
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x01, 0x00, 0x00}
	if _, _, err := readAll(bytes.NewReader(frame), Options{}); !errors.Is(err, ErrWindow) {
		t.Errorf("got %v", err)
	}
}

func TestReaderNamesForeignFormats(t *testing.T) {
	_, _, err := readAll(strings.NewReader("\xfd7zXZ\x00\x00\x04"), Options{})
	if !errors.Is(err, ErrFormat) || err.Error() != "t: not in a format that can be read (xz)" {
		t.Errorf("got %v", err)
	}
}

func TestReaderPassesOnIOErrors(t *testing.T) {
	broken := errors.New("disk on fire")
	data := gzipped(strings.Repeat(lineA+"\n", 10))
	for _, n := range []int{0, 1, 5, len(data) / 2} {
		_, _, err := readAll(io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(broken)), Options{})
		if !errors.Is(err, broken) || errors.Is(err, ErrCorrupt) {
			t.Errorf("after %d bytes: got %v", n, err)
		}
	}
	stuck := io.MultiReader(strings.NewReader(lineA+"\n"), readerFunc(func([]byte) (int, error) { return 0, nil }))
	if _, _, err := readAll(stuck, Options{}); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("reader that never returns anything: %v", err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
