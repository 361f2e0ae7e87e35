package backup

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tidemark/tidemark/occ"
)

func open(t *testing.T, name string, h Header, records []Record) *Reader {
	t.Helper()
	r, err := NewReader(bytes.NewReader(write(t, h, records)), name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A chain gives what a model gives that lays one backup over the other.
func TestChain(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for round := range 50 {
		model := make(map[occ.BlockID]Record)
		var readers []*Reader
		at := occ.Timestamp(0)
		for i := range 1 + rng.IntN(6) {
			h := header(at, at+1+occ.Timestamp(rng.Uint64N(100)))
			if i == 0 {
				h.Since = 0
			}
			at = h.At
			records := random(rng, h, rng.IntN(40))
			for k := range records {
				records[k].Block = occ.BlockID(k*3 + rng.IntN(3)) // so that many are in several
				model[records[k].Block] = records[k]
			}
			readers = append(readers, open(t, "b", h, records))
		}
		want := make([]Record, 0, len(model))
		for _, r := range model {
			want = append(want, r)
		}
		slices.SortFunc(want, func(a, b Record) int { return int(a.Block) - int(b.Block) })
		c, err := NewChain(readers)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAll(c)
		if err == nil {
			err = same(got, want)
		}
		if err != nil || c.Header() != header(0, at) || c.FileBytes() == 0 {
			t.Fatalf("round %d: %v, header %+v", round, err, c.Header())
		}
	}
}

func TestChainsThatDoNotFit(t *testing.T) {
	full := header(0, 20)
	for want, change := range map[string]func(*Header){
		"backup inc does not fit: it is of store 00000000000000000000000000000000, and full of store a10102030405060708090a0b0c0d0e0f": func(h *Header) { h.Store = occ.StoreID{} },
		"backup inc does not fit: it has blocks of 1024 bytes, and full of 512":                                                        func(h *Header) { h.BlockSize = 1024 },
		"backup inc does not fit: the store was restored between full and it":                                                          func(h *Header) { h.Epoch += 1 << 32 },
		"backup inc does not fit: it goes on from timestamp 19, and full ends at 20":                                                   func(h *Header) { h.Since = 19 },
		"backup inc does not fit: it goes on from timestamp 0, and full ends at 20":                                                    func(h *Header) { h.Since = 0 },
		"backup inc does not fit: it is older than full":                                                                               func(h *Header) { h.Epoch-- },
		"backup inc does not fit: it is older than full ":                                                                              func(h *Header) { h.Next-- },
	} {
		h := header(20, 30)
		change(&h)
		_, err := NewChain([]*Reader{open(t, "full", full, nil), open(t, "inc", h, nil)})
		var misfit *ChainError
		if !errors.As(err, &misfit) || err.Error() != string(bytes.TrimSpace([]byte(want))) {
			t.Errorf("%v, not %s", err, want)
		}
	}
	_, err := NewChain([]*Reader{open(t, "inc", header(20, 30), nil), open(t, "full", full, nil)})
	if err == nil || err.Error() != "backup inc does not fit: it has only what changed since timestamp 20, and comes first" {
		t.Error(err)
	}
	for _, n := range []int{0, MaxChain + 1} {
		if _, err := NewChain(make([]*Reader, n)); !errors.As(err, new(*ChainError)) {
			t.Errorf("a chain of %d: %v", n, err)
		}
	}
}

// Damage in any backup of a chain is named, and stays.
func TestChainWithDamage(t *testing.T) {
	full := open(t, "full", header(0, 20), []Record{{1, 1, []byte("a")}, {2, 1, []byte("b")}})
	b := write(t, header(20, 30), []Record{{2, 25, []byte("c")}, {3, 25, []byte("d")}})
	inc, err := NewReader(bytes.NewReader(b[:len(b)-1]), "inc")
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewChain([]*Reader{full, inc})
	if err != nil {
		t.Fatal(err)
	}
	list, err := readAll(c)
	var damage *DamageError
	if !errors.As(err, &damage) || damage.Name != "inc" || damage.Offset != int64(len(b)-1) || len(list) != 3 {
		t.Errorf("%d records, %v", len(list), err)
	}
	if _, again := c.Next(); !errors.Is(again, err) {
		t.Errorf("again: %v", again)
	}
}

func BenchmarkWriter(b *testing.B) {
	h := Header{BlockSize: 4096, At: 100, Next: 1}
	data := bytes.Repeat([]byte("0123456789abcdef"), 256)
	w, err := NewWriter(io.Discard, h)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for block := occ.BlockID(0); b.Loop(); block++ {
		if err := w.Add(Record{block, 50, data}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReader(b *testing.B) {
	h := Header{BlockSize: 4096, At: 100, Next: 1}
	data := bytes.Repeat([]byte("0123456789abcdef"), 256)
	var records []Record
	for i := range 1024 {
		records = append(records, Record{occ.BlockID(i), 50, data})
	}
	file := write(b, h, records)
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := NewReader(bytes.NewReader(file), "b")
		for err == nil {
			_, err = r.Next()
		}
		if !errors.Is(err, io.EOF) || r.Summary().Records != uint64(len(records)) {
			b.Fatal(err)
		}
	}
}
