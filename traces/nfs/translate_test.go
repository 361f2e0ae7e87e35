package nfs

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/traces"
)

// h makes a handle and fid its FID.
func h(s string) []byte { return []byte(s) }

func fid(s string) traces.FID { return FileID(h(s)) }

// at returns a place in the directory "d".
func at(name string) *traces.Place { return &traces.Place{Dir: fid("d"), Name: name} }

// op makes an operation as the exchanges of these tests give it.
func op(typ traces.Type, a traces.Action, f traces.FID, off, size int64, p *traces.Place) traces.Op {
	return traces.Op{Time: 5, Host: 7, FID: f, Type: typ, Action: a, Off: off, Size: size, Place: p}
}

// check translates exchanges one after the other and compares what comes of all
// of them, and the findings.
func check(t *testing.T, name string, exchanges []Exchange, want []traces.Op, found ...traces.Finding) {
	t.Helper()
	tr := NewTranslator()
	var got []traces.Op
	for _, x := range exchanges {
		x.Time, x.Host = 5, 7
		got = tr.Translate(&x, got)
	}
	equal := slices.EqualFunc(got, want, func(a, b traces.Op) bool {
		samePlace := a.Place == b.Place || a.Place != nil && b.Place != nil && *a.Place == *b.Place
		a.Place, b.Place = nil, nil
		return samePlace && a == b
	})
	if !equal {
		t.Errorf("%s: got  %v\nwant %v", name, got, want)
	}
	if f := tr.Findings(); !slices.Equal(f, found) {
		t.Errorf("%s: found %v", name, f)
	}
}

func counted(name string) traces.Finding {
	return traces.Finding{Group: "NFS calls without operations", Name: name, Count: 1}
}

func odd(name string) traces.Finding {
	f := counted(name)
	f.Odd = true
	return f
}

var byName = traces.Finding{Group: "NFS files", Name: "known by name only", Count: 1}

const R, W = traces.Read, traces.Write

func TestTranslateFiles(t *testing.T) {
	const longest = math.MaxInt64
	f := fid("f")
	impossible := odd("with impossible names or ranges")
	for name, c := range map[string]struct {
		x     Exchange
		want  []traces.Op
		found []traces.Finding
	}{
		"other":           {Exchange{Proc: Other, File: h("f")}, nil, nil},
		"getattr":         {Exchange{Proc: GetAttr, File: h("f")}, []traces.Op{op(traces.Attr, R, f, 0, 0, nil)}, nil},
		"access":          {Exchange{Proc: Access, File: h("f")}, []traces.Op{op(traces.Attr, R, f, 0, 0, nil)}, nil},
		"setattr":         {Exchange{Proc: SetAttr, File: h("f")}, []traces.Op{op(traces.Attr, W, f, 0, 0, nil)}, nil},
		"truncate":        {Exchange{Proc: SetAttr, File: h("f"), SetSize: true, Size: 9}, []traces.Op{op(traces.Truncate, W, f, 9, 0, nil)}, nil},
		"size of 64 bits": {Exchange{Proc: SetAttr, File: h("f"), SetSize: true, Size: 1 << 63}, nil, []traces.Finding{impossible}},
		"readlink":        {Exchange{Proc: ReadLink, File: h("f"), Offset: 3, Count: 11}, []traces.Op{op(traces.Block, R, f, 0, 11, nil)}, nil},
		"read":            {Exchange{Proc: Read, File: h("f"), Offset: 3, Count: 11}, []traces.Op{op(traces.Block, R, f, 3, 11, nil)}, nil},
		"read less":       {Exchange{Proc: Read, File: h("f"), Offset: 3, Count: 11, Answered: true, HasDone: true, Done: 2}, []traces.Op{op(traces.Block, R, f, 3, 2, nil)}, nil},
		"read nothing":    {Exchange{Proc: Read, File: h("f"), Offset: 3, Count: 11, Answered: true, HasDone: true}, []traces.Op{op(traces.Block, R, f, 3, 0, nil)}, nil},
		"read too much": {Exchange{Proc: Read, File: h("f"), Offset: 3, Count: 11, Answered: true, HasDone: true, Done: 12}, []traces.Op{op(traces.Block, R, f, 3, 11, nil)},
			[]traces.Finding{{Group: "NFS files", Name: "replies of more bytes than asked for", Count: 1, Odd: true}}},
		"read failed":    {Exchange{Proc: Read, File: h("f"), Count: 11, Answered: true, Status: 70}, nil, []traces.Finding{counted("failed")}},
		"largest":        {Exchange{Proc: Read, File: h("f"), Count: 16 << 20}, []traces.Op{op(traces.Block, R, f, 0, traces.MaxTransfer, nil)}, nil},
		"too large":      {Exchange{Proc: Read, File: h("f"), Count: 16<<20 + 1}, nil, []traces.Finding{impossible}},
		"last byte":      {Exchange{Proc: Read, File: h("f"), Offset: longest - 1, Count: 1}, []traces.Op{op(traces.Block, R, f, longest-1, 1, nil)}, nil},
		"beyond 63 bits": {Exchange{Proc: Read, File: h("f"), Offset: longest, Count: 1}, nil, []traces.Finding{impossible}},
		"offset":         {Exchange{Proc: Read, File: h("f"), Offset: 1 << 63, Count: 1}, nil, []traces.Finding{impossible}},
		"count":          {Exchange{Proc: Read, File: h("f"), Count: math.MaxUint64}, nil, []traces.Finding{impossible}},
		"write":          {Exchange{Proc: Write, File: h("f"), Offset: 3, Count: 11, HasDone: true, Done: 4}, []traces.Op{op(traces.Block, W, f, 3, 4, nil)}, nil},
		"write nothing":  {Exchange{Proc: Write, File: h("f")}, nil, []traces.Finding{counted("writes of no bytes")}},
		"readdir":        {Exchange{Proc: ReadDir, File: h("f"), Offset: 512, Count: 4096}, []traces.Op{op(traces.Dir, R, f, 512, 4096, nil)}, nil},
		"readdir largest": {Exchange{Proc: ReadDir, File: h("f"), Offset: 1<<31 - 1, Count: 1 << 40},
			[]traces.Op{op(traces.Dir, R, f, 1<<31-1, 64<<10, nil)}, nil},
		"readdir hash":     {Exchange{Proc: ReadDir, File: h("f"), Offset: 1 << 31, Count: 1}, []traces.Op{op(traces.Dir, R, f, 0, 1, nil)}, nil},
		"commit":           {Exchange{Proc: Commit, File: h("f"), Offset: 4, Count: 9}, []traces.Op{op(traces.Commit, W, f, 4, 9, nil)}, nil},
		"close":            {Exchange{Proc: Close, File: h("f")}, []traces.Op{op(traces.Close, R, f, 0, 0, nil)}, nil},
		"open by handle":   {Exchange{Proc: Open, File: h("f"), WriteAccess: true}, []traces.Op{op(traces.Open, W, f, 0, 0, nil)}, nil},
		"open and set":     {Exchange{Proc: Open, File: h("f"), SetSize: true}, []traces.Op{op(traces.Open, R, f, 0, 0, nil), op(traces.Truncate, W, f, 0, 0, nil)}, nil},
		"no handle":        {Exchange{Proc: GetAttr}, nil, []traces.Finding{odd("without a file handle")}},
		"hidden handle":    {Exchange{Proc: Lookup, Name: h("a"), Hidden: true}, nil, []traces.Finding{counted("on files whose handle is not shown")}},
		"hidden second":    {Exchange{Proc: Link, File: h("f"), ToName: h("b"), Hidden: true}, nil, []traces.Finding{counted("on files whose handle is not shown")}},
		"no second handle": {Exchange{Proc: Rename, File: h("d"), Name: h("a"), ToName: h("b")}, nil, []traces.Finding{odd("without a file handle")}},
		"link nowhere":     {Exchange{Proc: Link, File: h("f"), ToName: h("b")}, nil, []traces.Finding{odd("without a file handle")}},
	} {
		check(t, name, []Exchange{c.x}, c.want, c.found...)
	}
}

func TestImpossibleTime(t *testing.T) {
	tr := NewTranslator()
	for _, time := range []int64{-1, traces.MaxTime + 1} {
		if got := tr.Translate(&Exchange{Proc: GetAttr, File: h("f"), Time: time}, nil); len(got) != 0 {
			t.Errorf("got %v", got)
		}
	}
	if tr.impossible != 2 {
		t.Errorf("found %v", tr.Findings())
	}
}

func TestImpossibleNames(t *testing.T) {
	impossible := odd("with impossible names or ranges")
	for _, name := range []string{"", ".", "..", "a/b", "a\x00", strings.Repeat("x", 256)} {
		check(t, "lookup "+name, []Exchange{{Proc: Lookup, File: h("d"), Name: h(name), Result: h("f")}}, []traces.Op{op(traces.Attr, R, fid("f"), 0, 0, nil)})
		for _, proc := range []Proc{Create, Mknod, Mkdir, Symlink} {
			check(t, "make "+name, []Exchange{{Proc: proc, File: h("d"), Name: h(name), Result: h("f")}}, nil, impossible)
		}
		for _, proc := range []Proc{Remove, Rmdir} {
			check(t, "remove "+name, []Exchange{{Proc: proc, File: h("d"), Name: h(name)}}, nil, impossible)
		}
		check(t, "from "+name, []Exchange{{Proc: Rename, File: h("d"), Name: h(name), ToDir: h("d"), ToName: h("b")}}, nil, impossible)
		check(t, "link "+name, []Exchange{{Proc: Link, File: h("f"), ToDir: h("d"), ToName: h(name)}}, nil, impossible)
		if name != "" {
			check(t, "open "+name, []Exchange{{Proc: Open, File: h("d"), Name: h(name), Result: h("f")}}, nil, impossible)
		}
	}
	longest := strings.Repeat("x", 255)
	check(t, "longest", []Exchange{{Proc: Lookup, File: h("d"), Name: h(longest), Result: h("f")}}, []traces.Op{op(traces.Lookup, R, fid("f"), 0, 0, at(longest))})
}
