package nfs

import (
	"testing"

	"github.com/tidemark/tidemark/traces"
)

// TestTranslateNames plays sequences of exchanges in the directory "d".
func TestTranslateNames(t *testing.T) {
	f, g := fid("f"), fid("g")
	guess := func(name string) traces.FID { return nameID(fid("d"), h(name)) }
	lookup := Exchange{Proc: Lookup, File: h("d"), Name: h("a"), Result: h("f")}
	again := Exchange{Proc: Lookup, File: h("d"), Name: h("a")}
	found := op(traces.Lookup, R, f, 0, 0, at("a"))
	remove := Exchange{Proc: Remove, File: h("d"), Name: h("a")}
	create := Exchange{Proc: Create, File: h("d"), Name: h("a"), Result: h("f")}
	made := op(traces.Create, W, f, 0, 0, at("a"))
	sized := create
	sized.SetSize, sized.Size = true, 4
	emptied := create
	emptied.SetSize = true
	open := Exchange{Proc: Open, File: h("d"), Name: h("a"), Result: h("f")}
	opened := op(traces.Open, R, f, 0, 0, at("a"))
	openNew := open
	openNew.Creates, openNew.SetSize = true, true
	rename := Exchange{Proc: Rename, File: h("d"), Name: h("a"), ToDir: h("e"), ToName: h("b")}
	moved := &traces.Place{Dir: fid("d"), Name: "a", ToDir: fid("e"), ToName: "b"}
	failed := func(x Exchange, status uint32) Exchange {
		x.Answered, x.Status, x.Result = true, status, nil
		return x
	}
	unresolved := counted("lookups and opens of unknown result")
	for name, c := range map[string]struct {
		in    []Exchange
		want  []traces.Op
		found []traces.Finding
	}{
		"lookup":              {[]Exchange{lookup, again}, []traces.Op{found, found}, nil},
		"lookup, no reply":    {[]Exchange{again}, nil, []traces.Finding{unresolved}},
		"lookup, gone":        {[]Exchange{lookup, failed(lookup, 2), again}, []traces.Op{found}, []traces.Finding{counted("failed"), unresolved}},
		"lookup, not allowed": {[]Exchange{lookup, failed(lookup, 13), again}, []traces.Op{found, found}, []traces.Finding{counted("failed")}},
		"remove":              {[]Exchange{lookup, remove, again}, []traces.Op{found, op(traces.Delete, W, f, 0, 0, at("a"))}, []traces.Finding{unresolved}},
		"remove by name":      {[]Exchange{remove}, []traces.Op{op(traces.Delete, W, guess("a"), 0, 0, at("a"))}, []traces.Finding{byName}},
		"rmdir by name":       {[]Exchange{{Proc: Rmdir, File: h("d"), Name: h("a")}}, []traces.Op{op(traces.Rmdir, W, guess("a"), 0, 0, at("a"))}, []traces.Finding{byName}},
		"mkdir, remove": {[]Exchange{{Proc: Mkdir, File: h("d"), Name: h("a"), Result: h("f")}, remove},
			[]traces.Op{op(traces.Mkdir, W, f, 0, 0, at("a")), op(traces.Rmdir, W, f, 0, 0, at("a"))}, nil},
		"readdir, remove": {[]Exchange{lookup, {Proc: ReadDir, File: h("f"), Count: 1}, remove},
			[]traces.Op{found, op(traces.Dir, R, f, 0, 1, nil), op(traces.Rmdir, W, f, 0, 0, at("a"))}, nil},
		"create":            {[]Exchange{create}, []traces.Op{made}, nil},
		"create empty":      {[]Exchange{emptied}, []traces.Op{made}, nil},
		"create with size":  {[]Exchange{sized}, []traces.Op{made, op(traces.Truncate, W, f, 4, 0, nil)}, nil},
		"create again":      {[]Exchange{create, create}, []traces.Op{made, op(traces.Attr, W, f, 0, 0, nil)}, nil},
		"create over":       {[]Exchange{lookup, emptied}, []traces.Op{found, op(traces.Truncate, W, f, 0, 0, nil)}, nil},
		"create another":    {[]Exchange{{Proc: Lookup, File: h("d"), Name: h("a"), Result: h("g")}, create}, []traces.Op{op(traces.Lookup, R, g, 0, 0, at("a")), made}, nil},
		"create, no handle": {[]Exchange{{Proc: Create, File: h("d"), Name: h("a")}, remove}, []traces.Op{op(traces.Create, W, guess("a"), 0, 0, at("a")), op(traces.Delete, W, guess("a"), 0, 0, at("a"))}, []traces.Finding{byName}},
		"mknod":             {[]Exchange{{Proc: Mknod, File: h("d"), Name: h("a"), Result: h("f")}}, []traces.Op{made}, nil},
		"symlink":           {[]Exchange{{Proc: Symlink, File: h("d"), Name: h("a"), Result: h("f"), Count: 6}}, []traces.Op{op(traces.Symlink, W, f, 0, 6, at("a"))}, nil},
		"link, remove": {[]Exchange{{Proc: Link, File: h("f"), ToDir: h("d"), ToName: h("a")}, remove},
			[]traces.Op{op(traces.Link, W, f, 0, 0, at("a")), op(traces.Delete, W, f, 0, 0, at("a"))}, nil},
		"rename": {[]Exchange{lookup, rename, again, {Proc: Lookup, File: h("e"), Name: h("b")}},
			[]traces.Op{found, op(traces.Rename, W, f, 0, 0, moved), op(traces.Lookup, R, f, 0, 0, &traces.Place{Dir: fid("e"), Name: "b"})}, []traces.Finding{unresolved}},
		"rename by name": {[]Exchange{rename, {Proc: Remove, File: h("e"), Name: h("b")}},
			[]traces.Op{op(traces.Rename, W, guess("a"), 0, 0, moved), op(traces.Delete, W, guess("a"), 0, 0, &traces.Place{Dir: fid("e"), Name: "b"})}, []traces.Finding{byName}},
		"open":            {[]Exchange{open, {Proc: Close, File: h("f")}}, []traces.Op{opened, op(traces.Close, R, f, 0, 0, nil)}, nil},
		"open, make":      {[]Exchange{openNew}, []traces.Op{made, opened}, nil},
		"open, make, had": {[]Exchange{lookup, openNew}, []traces.Op{found, opened, op(traces.Truncate, W, f, 0, 0, nil)}, nil},
		"open, make, read before": {[]Exchange{{Proc: GetAttr, File: h("f")}, openNew},
			[]traces.Op{op(traces.Attr, R, f, 0, 0, nil), opened, op(traces.Truncate, W, f, 0, 0, nil)}, nil},
		"open, make, removed before": {[]Exchange{lookup, remove, openNew}, []traces.Op{found, op(traces.Delete, W, f, 0, 0, at("a")), made, opened}, nil},
		"open, make, one of two names left": {[]Exchange{lookup, {Proc: Link, File: h("f"), ToDir: h("d"), ToName: h("b")}, remove, {Proc: Open, File: h("d"), Name: h("b"), Result: h("f"), Creates: true, WriteAccess: true}},
			[]traces.Op{found, op(traces.Link, W, f, 0, 0, at("b")), op(traces.Delete, W, f, 0, 0, at("a")), op(traces.Open, W, f, 0, 0, at("b"))}, nil},
		"open, no reply": {[]Exchange{{Proc: Open, File: h("d"), Name: h("a")}}, nil, []traces.Finding{unresolved}},
		"open, make, no reply": {[]Exchange{{Proc: Open, File: h("d"), Name: h("a"), Creates: true, WriteAccess: true}},
			[]traces.Op{op(traces.Create, W, guess("a"), 0, 0, at("a")), op(traces.Open, W, guess("a"), 0, 0, at("a"))}, []traces.Finding{byName}},
		"open known, no reply": {[]Exchange{lookup, {Proc: Open, File: h("d"), Name: h("a")}}, []traces.Op{found, opened}, nil},
	} {
		check(t, name, c.in, c.want, c.found...)
	}
}

// TestPlacesAreShared checks that a name that is looked up again and again
// costs no memory.
func TestPlacesAreShared(t *testing.T) {
	tr := NewTranslator()
	x := Exchange{Proc: Lookup, File: h("d"), Name: h("a name of more than thirty-two bytes"), Result: h("f")}
	ops := tr.Translate(&x, nil)
	if n := testing.AllocsPerRun(100, func() { ops = tr.Translate(&x, ops[:0]) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestNamesAreBounded(t *testing.T) {
	tr := NewTranslator()
	var ops []traces.Op
	name := func(i int) []byte {
		return []byte{'a' + byte(i%26), 'a' + byte(i/26%26), 'a' + byte(i/676%26), 'a' + byte(i/17576)}
	}
	for i := range MaxFiles + 1000 {
		ops = tr.Translate(&Exchange{Proc: Lookup, File: h("d"), Name: name(i), Result: append(name(i), 'f')}, ops[:0])
	}
	if n := len(tr.names.entries.index); n != MaxNames || len(tr.names.files.index) != MaxFiles {
		t.Errorf("%d names, %d files", n, len(tr.names.files.index))
	}
	if m := tr.names.find(fid("d"), name(MaxFiles+999)); m == nil || m.fid != fid(string(name(MaxFiles+999))+"f") {
		t.Errorf("the last name stands for %v", m)
	}
}

// FuzzTranslate translates any exchanges: every operation can be, and there are
// at most three of one exchange.
func FuzzTranslate(fz *testing.F) {
	fz.Add(uint8(Open), []byte("d"), []byte("a"), []byte("f"), []byte("e"), uint64(1), uint64(2), uint8(255))
	fz.Add(uint8(Rename), []byte("d"), []byte("a"), []byte("b"), []byte("e"), uint64(1<<63), uint64(1<<62), uint8(0))
	for p := range Close + 1 {
		fz.Add(uint8(p), []byte("d"), []byte(".."), []byte{}, []byte("e"), uint64(1<<63-1), uint64(1), uint8(17))
	}
	tr := NewTranslator()
	fz.Fuzz(func(t *testing.T, proc uint8, file, name, result, to []byte, offset, count uint64, flags uint8) {
		flag := func(n int) bool { return flags>>n&1 == 1 }
		x := Exchange{
			Time: int64(offset), Proc: Proc(proc), Answered: flag(0), Status: uint32(flags >> 7 * 2),
			File: file, Name: name, Result: result, ToDir: to, ToName: name, Offset: offset, Count: count,
			HasDone: flag(1), Done: count / 2, SetSize: flag(2), Size: offset, Creates: flag(3), WriteAccess: flag(4),
		}
		ops := tr.Translate(&x, nil)
		if len(ops) > 3 {
			t.Fatalf("%d operations", len(ops))
		}
		for _, op := range ops {
			if err := op.Check(); err != nil {
				t.Fatalf("%v: %v", op, err)
			}
		}
	})
}

func BenchmarkTranslate(b *testing.B) {
	tr := NewTranslator()
	var ops []traces.Op
	var handle [32]byte
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		handle[0], handle[1] = byte(n), byte(n>>8&15)
		ops = tr.Translate(&Exchange{Proc: Read, File: handle[:], Offset: 8192, Count: 8192}, ops[:0])
	}
}
