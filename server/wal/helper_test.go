package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/occ"
)

var (
	testStore  = occ.StoreID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	otherStore = occ.StoreID{0xff}
)

// small makes segments of three to five test entries.
var small = Options{SegmentBytes: 300}

// payload is the content of entry index in most tests: 4 to 44 bytes.
func payload(index uint64) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(index))
	return append(b, bytes.Repeat([]byte{byte(index)}, int(index*7%41))...)
}

func mustOpen(t *testing.T, dir string, opts Options) (*Disk, Report) {
	t.Helper()
	d, report, err := Open(dir, testStore, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil && !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
	return d, report
}

func mustClose(t *testing.T, l Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func mustFence(t *testing.T, l Log) {
	t.Helper()
	if _, err := l.Fence(l.Head().Epoch + 1); err != nil {
		t.Fatal(err)
	}
}

// fill appends entries up to index last.
func fill(t *testing.T, l Log, last uint64) {
	t.Helper()
	for l.Head().Index < last {
		want := l.Head().Index + 1
		got, err := l.Append(payload(want))
		if err != nil || got != want {
			t.Fatalf("append gave %d, %v; want %d", got, err, want)
		}
	}
}

// plenty of test entries begin several segments.
const plenty = 50

// fillUntil appends entries until the log says that something has happened.
func fillUntil(t *testing.T, l Log, what string, happened func() bool) {
	t.Helper()
	for n := 0; !happened(); n++ {
		if n == plenty {
			t.Fatalf("%s: that does not happen within %d entries", what, n)
		}
		fill(t, l, l.Head().Index+1)
	}
}

// wantEntries checks that the log holds exactly entries first to last.
func wantEntries(t *testing.T, l Log, first, last uint64) {
	t.Helper()
	next := first
	err := l.Read(0, func(index uint64, p []byte) error {
		if index != next || !bytes.Equal(p, payload(index)) {
			return fmt.Errorf("entry %d, want %d, holds %x", index, next, p)
		}
		next++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if next != last+1 || l.Head().Index != last {
		t.Fatalf("log ends at %d, head is %d, want %d", next-1, l.Head().Index, last)
	}
}

// image is a log directory in memory, so that a test can damage copies of it.
type image map[string][]byte

func takeImage(t *testing.T, dir string) image {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	img := image{}
	for _, f := range files {
		if img[f.Name()], err = os.ReadFile(filepath.Join(dir, f.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return img
}

// put makes dir hold exactly the image.
func (img image) put(t *testing.T, dir string) {
	t.Helper()
	for name := range takeImage(t, dir) {
		if _, ok := img[name]; !ok {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, b := range img {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// with returns a copy in which one file has another content, nil for none.
func (img image) with(name string, content []byte) image {
	out := image{}
	for n, b := range img {
		out[n] = b
	}
	delete(out, name)
	if content != nil {
		out[name] = content
	}
	return out
}

// setByte changes one byte of a file in place.
func setByte(t *testing.T, path string, at int, b byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{b}, int64(at)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func (img image) equal(other image) bool {
	if len(img) != len(other) {
		return false
	}
	for name, b := range img {
		if o, ok := other[name]; !ok || !bytes.Equal(b, o) {
			return false
		}
	}
	return true
}

// span is where an entry stands in its segment; at includes the library's
// prefix.
type span struct {
	segment string
	index   uint64
	at, end int
	prefix  int
}

// spans finds the entries of an undamaged image, in order.
func (img image) spans() []span {
	var all []span
	for index := uint64(1); ; {
		name := segmentName(index)
		b, ok := img[name]
		if !ok || len(b) == 0 {
			return all
		}
		for at := 0; at < len(b); index++ {
			n, p := binary.Uvarint(b[at:])
			all = append(all, span{name, index, at, at + p + int(n), p})
			at += p + int(n)
		}
	}
}

// pristine writes entries 1 to last in small segments and returns the closed
// directory's image.
func pristine(t *testing.T, last uint64) image {
	t.Helper()
	dir := t.TempDir()
	d, _ := mustOpen(t, dir, small)
	mustFence(t, d)
	fill(t, d, last)
	mustClose(t, d)
	return takeImage(t, dir)
}

// wantTorn opens dir, expects a torn end at entry torn, then goes on with the
// log and opens it once more.
func wantTorn(t *testing.T, dir string, torn span) {
	t.Helper()
	d, report := mustOpen(t, dir, small)
	if report.Torn == nil || report.Torn.Index != torn.index || report.Torn.Offset != int64(torn.at) ||
		filepath.Base(report.Torn.Segment) != torn.segment {
		t.Fatalf("torn end %+v, want entry %d at %s:%d", report.Torn, torn.index, torn.segment, torn.at)
	}
	wantEntries(t, d, 1, torn.index-1)
	mustFence(t, d)
	fill(t, d, torn.index+2)
	mustClose(t, d)
	d, report = mustOpen(t, dir, small)
	if report.Torn != nil || len(report.Leftovers) != 0 {
		t.Fatalf("after mending: %+v", report)
	}
	wantEntries(t, d, 1, torn.index+2)
	mustClose(t, d)
}

// wantCorrupt expects Open to refuse dir, naming the place, and to leave
// every byte as it is.
func wantCorrupt(t *testing.T, dir, segment string, offset int, index uint64) {
	t.Helper()
	before := takeImage(t, dir)
	_, _, err := Open(dir, testStore, small)
	checkCorrupt(t, err, segment, offset, index)
	if !before.equal(takeImage(t, dir)) {
		t.Error("a refused log was changed")
	}
}

func checkCorrupt(t *testing.T, err error, segment string, offset int, index uint64) {
	t.Helper()
	var c *CorruptError
	if !errors.As(err, &c) {
		t.Fatalf("got %v, want a CorruptError", err)
	}
	if filepath.Base(c.Segment) != segment || c.Offset != int64(offset) || c.Index != index {
		t.Fatalf("got %v, want %s, offset %d, entry %d", err, segment, offset, index)
	}
	oneLine(t, c, c.Segment, fmt.Sprintf("offset %d, entry %d", offset, index))
}

// oneLine checks that an error prints as one line with these words.
func oneLine(t *testing.T, err error, words ...string) {
	t.Helper()
	for _, w := range words {
		if text := err.Error(); !strings.Contains(text, w) || strings.Contains(text, "\n") {
			t.Errorf("message %q does not name %q in one line", text, w)
		}
	}
}
