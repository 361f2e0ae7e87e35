package backup

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/occ"
)

var store = occ.StoreID{0xa1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

func header(since, at occ.Timestamp) Header {
	return Header{Store: store, BlockSize: 512, Epoch: 3<<32 + 7, At: at, Since: since, Next: 1 << 20}
}

// write makes a backup; it fails the test if that cannot be.
func write(t testing.TB, h Header, records []Record) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if sum.FileBytes != int64(out.Len()) || sum.Records != uint64(len(records)) {
		t.Fatalf("%+v of %d records in %d bytes", sum, len(records), out.Len())
	}
	return out.Bytes()
}

// source is a Reader or a Chain.
type source interface{ Next() (Record, error) }

// readAll returns the records up to the end or an error.
func readAll(s source) (list []Record, err error) {
	for {
		r, err := s.Next()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		r.Data = bytes.Clone(r.Data)
		list = append(list, r)
	}
}

func parse(b []byte) (Header, []Record, error) {
	r, err := NewReader(bytes.NewReader(b), "b")
	if err != nil {
		return Header{}, nil, err
	}
	list, err := readAll(r)
	return r.Header(), list, err
}

func same(a, b []Record) error {
	if len(a) != len(b) {
		return fmt.Errorf("%d records, not %d", len(a), len(b))
	}
	for i := range a {
		if a[i].Block != b[i].Block || a[i].From != b[i].From || !bytes.Equal(trim(a[i].Data), trim(b[i].Data)) {
			return fmt.Errorf("record %d is (%d, %d, %d bytes), not (%d, %d, %d bytes)", i,
				a[i].Block, a[i].From, len(a[i].Data), b[i].Block, b[i].From, len(b[i].Data))
		}
	}
	return nil
}

func trim(b []byte) []byte { return bytes.TrimRight(b, "\x00") }

// random makes records in order, with data of all shapes.
func random(rng *rand.Rand, h Header, n int) []Record {
	list := make([]Record, 0, n)
	block := uint64(0)
	for range n {
		block += 1 + rng.Uint64N(1<<rng.UintN(20))
		data := make([]byte, rng.IntN(h.BlockSize+1))
		for i := range data[:rng.IntN(len(data)+1)] {
			data[i] = byte(rng.Uint32())
		}
		from := h.Since + 1 + occ.Timestamp(rng.Uint64N(uint64(h.At-h.Since)))
		list = append(list, Record{occ.BlockID(block), from, data})
	}
	return list
}

func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 100, 3000} {
		h := header(occ.Timestamp(rng.Uint64N(50)), 1000)
		records := random(rng, h, n)
		got, list, err := parse(write(t, h, records))
		if err == nil {
			err = same(list, records)
		}
		if err != nil || got != h {
			t.Errorf("%d records: %v, header %+v", n, err, got)
		}
	}
}

func TestExtremes(t *testing.T) {
	h := Header{BlockSize: MaxBlockSize, Epoch: math.MaxUint64, At: occ.Open - 1, Next: math.MaxUint64}
	full := bytes.Repeat([]byte{0xff}, MaxBlockSize)
	records := []Record{{0, 1, full}, {1, h.At, nil}, {2, 1, []byte{1}}, {math.MaxUint64, h.At, full}}
	got, list, err := parse(write(t, h, records))
	if err == nil {
		err = same(list, records)
	}
	if err != nil || got != h {
		t.Errorf("%v, header %+v", err, got)
	}
}

// The bytes of a backup are frozen.
func TestGolden(t *testing.T) {
	text, err := os.ReadFile("testdata/version1.hex")
	if err != nil {
		t.Fatal(err)
	}
	golden, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	if err != nil {
		t.Fatal(err)
	}
	records := []Record{
		{5, 18, []byte("five")}, {6, 300, nil}, {1 << 20, 40, append([]byte{0, 0, 7}, make([]byte, 20)...)},
	}
	if b := write(t, header(17, 300), records); !bytes.Equal(b, golden) {
		t.Errorf("written:\n%x", b)
	}
	h, list, err := parse(golden)
	if err == nil {
		err = same(list, records)
	}
	if err != nil || h != header(17, 300) {
		t.Errorf("read: %v, %+v", err, h)
	}
}

func TestWriterRefuses(t *testing.T) {
	for _, h := range []Header{
		{At: 1, Next: 1}, {BlockSize: MaxBlockSize + 1, At: 1, Next: 1}, {BlockSize: 1, At: 1},
		{BlockSize: 1, At: 1, Since: 2, Next: 1}, {BlockSize: 1, At: occ.Open, Next: 1},
	} {
		if _, err := NewWriter(io.Discard, h); !errors.As(err, new(*HeaderError)) {
			t.Errorf("%+v: %v", h, err)
		}
	}
	w, err := NewWriter(io.Discard, header(10, 20))
	if err == nil {
		err = w.Add(Record{7, 15, nil})
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []Record{{7, 16, nil}, {6, 16, nil}, {8, 10, nil}, {8, 21, nil}, {8, 15, make([]byte, 513)}} {
		if err := w.Add(r); !errors.As(err, new(*RecordError)) {
			t.Errorf("(%d, %d): %v", r.Block, r.From, err)
		}
	}
	if err := w.Add(Record{8, 20, make([]byte, 512)}); err != nil {
		t.Error(err)
	}
}

var errFull = errors.New("no room")

// narrow takes so many bytes and then fails.
type narrow int

func (n *narrow) Write(b []byte) (int, error) {
	if len(b) > int(*n) {
		k := int(*n)
		*n = 0
		return k, errFull
	}
	*n -= narrow(len(b))
	return len(b), nil
}

func TestWriterFails(t *testing.T) {
	whole := len(write(t, header(0, 9), []Record{{1, 1, []byte("data")}}))
	for room := range whole {
		n := narrow(room)
		w, err := NewWriter(&n, header(0, 9))
		if err == nil {
			err = w.Add(Record{1, 1, []byte("data")})
		}
		if err == nil {
			_, err = w.Close()
		}
		if !errors.Is(err, errFull) {
			t.Fatalf("with room for %d of %d bytes: %v", room, whole, err)
		}
		if _, err := w.Close(); !errors.Is(err, errFull) {
			t.Fatalf("closed after an error: %v", err)
		}
	}
}
