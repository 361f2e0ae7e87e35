package record

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/occ"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden bytes in testdata")

func session(first byte) (id occ.SessionID) {
	for i := range id {
		id[i] = first + byte(i)
	}
	return id
}

// samples holds one group per kind and a mixed one. The names are those of
// the golden files.
func samples() map[string]Group {
	commit := &Commit{
		At: 300, Session: session(1), Seq: 7, Acked: 6, Digest: 0xdeadbeef,
		Writes: []occ.Write{{Block: 1, Data: []byte("hello")}, {Block: 1 << 40}, {Block: 0, Data: []byte{0, 1}}},
	}
	all := []Record{
		&Epoch{Epoch: 3},
		&Session{ID: session(1)},
		&Lease{Session: session(1), First: 1000, Count: 64},
		commit,
		&Trim{Session: session(1), UpTo: 6},
		&Horizon{At: 299},
		&SessionEnd{ID: session(1)},
	}
	return map[string]Group{
		"empty":      {},
		"epoch":      {Records: all[0:1]},
		"session":    {Records: all[1:2]},
		"lease":      {Records: all[2:3]},
		"commit":     {Records: all[3:4]},
		"trim":       {Records: all[4:5]},
		"horizon":    {Records: all[5:6]},
		"sessionend": {Records: all[6:7]},
		"all":        {Records: all},
		"patch": {Records: []Record{commit, &Commit{
			At: 301, Session: session(1), Seq: 8, Acked: 7, Digest: 0xdeadbeee,
			Writes: []occ.Write{
				{Block: 1, Ranges: []occ.Range{{Off: 0, Data: []byte("J")}, {Off: 4000, Data: []byte{0, 7, 0}}}},
				{Block: 2, Data: []byte("hello")},
			},
		}}},
		"pin":   {Records: []Record{&Pin{Name: "tonight", At: 299, Lease: time.Hour}}},
		"unpin": {Records: []Record{&Unpin{Name: "tonight"}}},
		"pins":  {Records: []Record{all[0], &Pin{Name: "p", At: 3}, commit, &Unpin{Name: "p"}}},
		"largest": {Records: []Record{&Commit{
			At: math.MaxUint64, Session: session(0xf0), Seq: math.MaxUint64, Acked: math.MaxUint64,
			Digest: math.MaxUint32, Writes: []occ.Write{{Block: math.MaxUint64, Data: []byte{0xff}}},
		}}},
	}
}

// golden returns the golden bytes of that name and compares got with them.
// They are rewritten first, if that was asked for.
func golden(t *testing.T, name string, got []byte) []byte {
	t.Helper()
	path := filepath.Join("testdata", name+".hex")
	if *rewrite {
		if err := os.WriteFile(path, []byte(hex.EncodeToString(got)+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s encodes to\n%x, golden bytes are\n%x", name, got, want)
	}
	return want
}

func TestGoldenBytes(t *testing.T) {
	for name, g := range samples() {
		back, err := Decode(golden(t, name, Append(nil, g)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !reflect.DeepEqual(back, g) {
			t.Errorf("%s decodes to %+v, want %+v", name, back, g)
		}
	}
}

func TestBlockPaddingIsNotStored(t *testing.T) {
	for _, zeros := range []int{0, 1, 7, 8, 9, 4090} {
		for _, head := range [][]byte{nil, {1}, {0, 0, 5}, bytes.Repeat([]byte{9}, 17)} {
			data := append(bytes.Clone(head), make([]byte, zeros)...)
			g := Group{Records: []Record{&Commit{Writes: []occ.Write{{Data: data}}}}}
			b := Append(nil, g)
			if want := Append(nil, Group{Records: []Record{&Commit{Writes: []occ.Write{{Data: head}}}}}); !bytes.Equal(b, want) {
				t.Errorf("%x and %d zeros: encoding differs from that without the zeros", head, zeros)
			}
			back, err := Decode(b)
			if err != nil {
				t.Fatal(err)
			}
			if got := back.Records[0].(*Commit).Writes[0].Data; !bytes.Equal(got, head) {
				t.Errorf("%x and %d zeros decode to %x", head, zeros, got)
			}
		}
	}
}

func randomGroup(r *rand.Rand) Group {
	number := func() uint64 { return r.Uint64() >> r.IntN(64) }
	id := func() occ.SessionID { return session(byte(r.Uint32())) }
	var g Group
	for range r.IntN(6) {
		var rec Record
		switch r.IntN(9) {
		case 0:
			c := &Commit{At: occ.Timestamp(number()), Session: id(), Seq: number(), Acked: number(), Digest: r.Uint32()}
			for range r.IntN(4) {
				w := occ.Write{Block: occ.BlockID(number())}
				if n := r.IntN(200); n > 150 {
					w.Ranges = randomRanges(r)
				} else if n > 0 {
					w.Data = make([]byte, n)
					for i := range w.Data {
						w.Data[i] = byte(r.Uint32() >> 7)
					}
					w.Data[n-1] |= 1
				}
				c.Writes = append(c.Writes, w)
			}
			rec = c
		case 1:
			rec = &Session{ID: id()}
		case 2:
			rec = &SessionEnd{ID: id()}
		case 3:
			rec = &Lease{Session: id(), First: occ.BlockID(number()), Count: number()}
		case 4:
			rec = &Trim{Session: id(), UpTo: number()}
		case 5:
			rec = &Horizon{At: occ.Timestamp(number())}
		case 6:
			rec = &Epoch{Epoch: number()}
		case 7:
			rec = &Pin{Name: string(bytes.Repeat([]byte{'n'}, 1+r.IntN(MaxName))), At: occ.Timestamp(number()), Lease: time.Duration(number() >> 1)}
		case 8:
			rec = &Unpin{Name: "n"}
		}
		g.Records = append(g.Records, rec)
	}
	return g
}

func randomRanges(r *rand.Rand) []occ.Range {
	var list []occ.Range
	for off := r.IntN(2); len(list) < 1+r.IntN(4); off++ {
		data := make([]byte, 1+r.IntN(9))
		for i := range data {
			data[i] = byte(r.IntN(3))
		}
		list = append(list, occ.Range{Off: uint32(off), Data: data})
		off += len(data) + r.IntN(maxBlock/8>>r.IntN(18))
	}
	return list
}

func TestRoundTripSizeAndEveryCut(t *testing.T) {
	const seed = 20240611
	r := rand.New(rand.NewPCG(seed, 1))
	for round := range 300 {
		g := randomGroup(r)
		b := Append(nil, g)
		back, err := Decode(b)
		if err != nil {
			t.Fatalf("seed %d round %d: %v", seed, round, err)
		}
		if !reflect.DeepEqual(back, g) {
			t.Fatalf("seed %d round %d: got %+v, want %+v", seed, round, back, g)
		}
		sum := 1 + varintLen(uint64(len(g.Records)))
		for _, rec := range g.Records {
			sum += Size(rec)
		}
		if sum != len(b) {
			t.Fatalf("seed %d round %d: sizes add up to %d, the encoding has %d bytes", seed, round, sum, len(b))
		}
		for cut := range b {
			if _, err := Decode(b[:cut:cut]); !errors.Is(err, ErrTruncated) {
				t.Fatalf("seed %d round %d: cut at %d of %d: %v, want ErrTruncated", seed, round, cut, len(b), err)
			}
		}
	}
}

func TestDecodedDataAliasesTheInputWithoutReachingBeyondIt(t *testing.T) {
	g := Group{Records: []Record{&Commit{Writes: []occ.Write{{Block: 1, Data: []byte("abc")}, {Block: 2, Data: []byte("def")}}}}}
	b := Append(nil, g)
	back, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	w := back.Records[0].(*Commit).Writes
	_ = append(w[0].Data, "XXXX"...)
	if string(w[1].Data) != "def" || !bytes.Equal(b, Append(nil, g)) {
		t.Error("appending to decoded data changed the input behind it")
	}
}
