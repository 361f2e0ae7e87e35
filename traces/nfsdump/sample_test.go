package nfsdump

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/traces"
)

//go:embed testdata/ellard-a.txt
var sample []byte

// readAll returns the operations of a text and its reader.
func readAll(t *testing.T, text string) ([]traces.Op, *Reader) {
	t.Helper()
	r, err := NewReader(strings.NewReader(text), "t", traces.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var ops []traces.Op
	for {
		op, err := r.Next()
		if err == io.EOF {
			return ops, r
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := op.Check(); err != nil {
			t.Fatal(err)
		}
		ops = append(ops, op)
	}
}

// found returns the findings by name, as "group: name".
func found(r traces.Reporter) map[string]int64 {
	m := make(map[string]int64)
	for _, f := range r.Findings() {
		m[f.Group+": "+f.Name] = f.Count
	}
	return m
}

func TestSampleCounts(t *testing.T) {
	_, r := readAll(t, string(sample))
	want := map[string]int64{
		"NFS messages: calls":                           57,
		"NFS messages: replies":                         61,
		"NFS messages: calls over TCP":                  46,
		"NFS messages: calls over UDP":                  11,
		"NFS messages: clients":                         11,
		"NFS messages: clients in replies only":         2,
		"NFS messages: servers":                         1,
		"NFS messages: connections":                     14,
		"NFS messages: microseconds from first to last": 1046898420_816625 - 1002117896_251957,
		"NFS messages: matched replies":                 48,
		"NFS messages: replies without a call":          13,
		"NFS messages: calls without a reply":           9,
		"NFS version 3 calls: GETATTR":                  5,
		"NFS version 3 calls: LINK":                     4,
		"NFS version 3 calls: READ":                     4,
		"NFS version 3 calls: REMOVE":                   4,
		"NFS version 3 calls: SETATTR":                  4,
		"NFS version 3 calls: ACCESS":                   3,
		"NFS version 3 calls: COMMIT":                   3,
		"NFS version 3 calls: FSSTAT":                   3,
		"NFS version 3 calls: LOOKUP":                   3,
		"NFS version 3 calls: NULL":                     3,
		"NFS version 3 calls: READDIR":                  3,
		"NFS version 3 calls: READDIRPLUS":              3,
		"NFS version 3 calls: WRITE":                    3,
		"NFS version 3 calls: CREATE":                   2,
		"NFS version 3 calls: RENAME":                   2,
		"NFS version 3 calls: READLINK":                 1,
		"NFS version 3 calls: SYMLINK":                  1,
		"NFS version 2 calls: READ":                     1,
		"NFS version 2 calls: READDIR":                  1,
		"NFS version 2 calls: RENAME":                   1,
		"NFS version 2 calls: SETATTR":                  1,
		"NFS version 2 calls: SYMLINK":                  1,
		"NFS version 2 calls: WRITE":                    1,
		"nfsdump lines: SHORT PACKET":                   1,
	}
	got := found(r)
	for name, n := range want {
		if got[name] != n {
			t.Errorf("%s: %d, want %d", name, got[name], n)
		}
	}
	for name, n := range got {
		if want[name] == 0 && !strings.HasPrefix(name, "NFS files") {
			t.Errorf("%s: %d, not expected", name, n)
		}
	}
	if skipped, first := r.Skipped(); skipped != 0 || first != nil || r.Lines() != 118 {
		t.Errorf("%d of %d lines skipped, first %v", skipped, r.Lines(), first)
	}
	if first, last := r.Span(); first != 1002117896_251957 || last != 1046898420_816625 {
		t.Errorf("from %d to %d", first, last)
	}
}

// TestSampleOps counts the operations of the sample by type. The calls that
// make none are 3 null, 3 fsstat and the one with SHORT PACKET.
func TestSampleOps(t *testing.T) {
	ops, _ := readAll(t, string(sample))
	counts := make(map[string]int)
	for _, op := range ops {
		counts[fmt.Sprint(op.Type, " ", op.Action)]++
	}
	want := map[string]int{
		"Attr READ": 8, "Attr WRITE": 5, "Lookup READ": 3, "Block READ": 6, "Block WRITE": 4, "Create WRITE": 2,
		"Symlink WRITE": 2, "Delete WRITE": 4, "Rename WRITE": 2, "Link WRITE": 4, "Dir READ": 7, "Commit WRITE": 3,
	}
	for name, n := range want {
		if counts[name] != n {
			t.Errorf("%s: %d, want %d", name, counts[name], n)
		}
	}
	if len(ops) != 57-7 || len(counts) != len(want) {
		t.Errorf("%d operations of %d kinds", len(ops), len(counts))
	}
	if !slices.IsSortedFunc(ops, func(a, b traces.Op) int { return int(a.Line - b.Line) }) {
		t.Error("operations are not in the order of the calls")
	}
}

func TestHostsAreListed(t *testing.T) {
	_, r := readAll(t, string(sample))
	var got []string
	for n, a := range r.Hosts().All() {
		got = append(got, fmt.Sprint(n, "=", a))
	}
	want := "1=31 2=32 3=33 4=34 5=89 6=35 7=75 8=116 9=40 10=55 11=37"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got %s", s)
	}
}

func TestRecognize(t *testing.T) {
	if !Recognize(sample[:4096]) || !Recognize(sample[:90]) {
		t.Error("the sample is not recognised")
	}
	if !Recognize(append(bytes.Repeat([]byte{'#', '\n'}, 100), sample[:400]...)) {
		t.Error("the sample is not recognised behind other lines")
	}
	for _, s := range []string{
		"", "\n", "1006231501.391115 31.03f7 30.0801 T C3", "0.8 Attr READ FID: 1 OFF: 0 SIZE: 0 HOST: 1\n", "\xd4\xc3\xb2\xa1\x02",
		"1006231501.391115 31.03f7 30.0801 T C4 1 1 getattr\n",
	} {
		if Recognize([]byte(s)) {
			t.Errorf("%q is recognised", s)
		}
	}
}

// TestSampleDetails checks some operations in full. The FIDs were computed with
// another program.
func TestSampleDetails(t *testing.T) {
	ops, _ := readAll(t, string(sample))
	byLine := make(map[int64]traces.Op)
	for _, op := range ops {
		byLine[op.Line] = op
	}
	for _, want := range []traces.Op{
		{Time: 1006231501_391115, FID: 0xc5232f1f3bc3c9aa, Line: 1, Host: 1, Type: traces.Attr, Action: traces.Write},
		{Time: 1006231501_394289, FID: 0xc5232f1f3bc3c9aa, Line: 3, Host: 1, Type: traces.Lookup,
			Place: &traces.Place{Dir: 0xdba31ebc6346debf, Name: ".inbox.lock.1888f.11198.0003"}},
		{Time: 1004486397_743398, FID: 0x17343c5c1e55f643, Size: 24, Line: 92, Host: 4, Type: traces.Symlink, Action: traces.Write,
			Place: &traces.Place{Dir: 0xbb04c184f7ba7c74, Name: ".#1694.txt"}},
	} {
		got := byLine[want.Line]
		if !same(got, want) || got.Time != want.Time || got.Host != want.Host {
			t.Errorf("line %d: got %v, %v", want.Line, got, got.Place)
		}
	}
}
