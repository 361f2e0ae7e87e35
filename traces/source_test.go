package traces

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

// readTwice opens a source for two readers at once and closes it.
func readTwice(t *testing.T, src Source) {
	t.Helper()
	a, err := src.Open()
	if err != nil {
		t.Fatal(err)
	}
	b, err := src.Open()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range twoOps(1) {
		for _, in := range []Input{a, b} {
			if op, err := in.Next(); err != nil || op != want {
				t.Errorf("got %v, %v, want %v", op, err, want)
			}
		}
	}
	for _, c := range []interface{ Close() error }{a, b, src} {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := src.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestSourceFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.txt") // not named .gz, all the same
	if err := os.WriteFile(path, gzipped(lineA+"\n"+lineB), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := NewSource(path, nil, Options{}, Text)
	if err != nil {
		t.Fatal(err)
	}
	if src.Name() != path {
		t.Errorf("called %s", src.Name())
	}
	readTwice(t, src)
}

func TestSourceBytes(t *testing.T) {
	readTwice(t, Bytes("b", []byte(lineA+"\n"+lineB), Options{}))
}

func TestSourceStdinIsSpooledAndRemoved(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	src, err := NewSource(Stdin, bytes.NewReader(zstded(lineA+"\n"+lineB)), Options{}, Text)
	if err != nil {
		t.Fatal(err)
	}
	if src.Name() != "stdin" {
		t.Errorf("called %s", src.Name())
	}
	readTwice(t, src)
	mustBeEmpty(t, dir)
}

func mustBeEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestSpoolFailuresLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	if _, err := spoolAtMost(strings.NewReader("12345"), "s", Options{}, Text, 4); !errors.Is(err, ErrTooLarge) {
		t.Errorf("over the limit: %v", err)
	}
	broken := errors.New("broken")
	if _, err := NewSource(Stdin, iotest.ErrReader(broken), Options{}, Text); !errors.Is(err, broken) {
		t.Errorf("reading fails: %v", err)
	}
	mustBeEmpty(t, dir)
	t.Setenv("TMPDIR", filepath.Join(dir, "missing"))
	if _, err := NewSource(Stdin, strings.NewReader(lineA), Options{}, Text); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no temporary folder: %v", err)
	}
}

func TestSourceErrorsAreOneLine(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "none")
	_, err := NewSource(missing, nil, Options{}, Text)
	if !errors.Is(err, fs.ErrNotExist) || err.Error() != missing+": "+errors.Unwrap(err).Error() || strings.Count(err.Error(), missing) != 1 {
		t.Errorf("missing file: %v", err)
	}
	gone := filepath.Join(dir, "gone")
	if err := os.WriteFile(gone, []byte(lineA), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := NewSource(gone, nil, Options{}, Text)
	if err != nil || os.Remove(gone) != nil {
		t.Fatal(err)
	}
	if _, err := src.Open(); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), gone+": ") {
		t.Errorf("a file that is gone: %v", err)
	}
	if _, err := NewSource(dir, nil, Options{}, Text); err == nil || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), dir+": ") {
		t.Errorf("a folder: %v", err)
	}
}

func TestSourcePipeIsSpooled(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.WriteString(lineA + "\n" + lineB); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	src, err := NewSource(fmt.Sprintf("/dev/fd/%d", r.Fd()), nil, Options{}, Text)
	if err != nil {
		t.Fatal(err)
	}
	readTwice(t, src)
}

// TestWatch follows the reading of a compressed file, and ends it.
func TestWatch(t *testing.T) {
	data := gzipped(strings.Repeat(lineA+"\n", 100_000))
	path := filepath.Join(t.TempDir(), "t")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	calls, last := 0, int64(0)
	var end error
	opt := Options{Watch: func(read, size int64) error {
		if size != int64(len(data)) || read < last || read > size {
			t.Errorf("%d of %d bytes after %d of %d", read, size, last, len(data))
		}
		last = read
		calls++
		return end
	}}
	src, err := NewSource(path, nil, opt, Text)
	if err != nil {
		t.Fatal(err)
	}
	in, err := src.Open()
	if err != nil {
		t.Fatal(err)
	}
	if format := Format(in); format != "Auspex text, gzip" {
		t.Errorf("the format is %s", format)
	}
	for _, err := range All(in) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if in.Close(); calls < 2 || last != int64(len(data)) {
		t.Errorf("%d calls, the last at byte %d of %d", calls, last, len(data))
	}
	end, last = enough, 0
	if _, err := src.Open(); !errors.Is(err, enough) {
		t.Errorf("the reading goes on: %v", err)
	}
	opt.Watch = func(read, size int64) error {
		if size != -1 {
			t.Errorf("standard input has %d bytes", size)
		}
		return enough
	}
	if _, err := NewSource(Stdin, strings.NewReader(lineA), opt, Text); !errors.Is(err, enough) {
		t.Errorf("the spooling goes on: %v", err)
	}
}
