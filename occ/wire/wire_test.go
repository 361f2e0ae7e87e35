package wire

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/occ"
)

// decodeFrame splits and decodes one frame that must be the whole of b.
func decodeFrame(t *testing.T, b []byte) Message {
	t.Helper()
	body, rest, err := SplitFrame(b, MaxFrame)
	if err != nil || body == nil || len(rest) != 0 {
		t.Fatalf("SplitFrame: body %v, rest %d bytes, %v", body != nil, len(rest), err)
	}
	m, err := Decode(body)
	if err != nil {
		t.Fatalf("Decode(%x): %v", body, err)
	}
	return m
}

func TestRoundTrip(t *testing.T) {
	r := newRand(t)
	for typ, generate := range generators {
		for range 500 {
			m := generate(r)
			if m.Type() != typ {
				t.Fatalf("%T has type %v, want %v", m, m.Type(), typ)
			}
			b := Append([]byte("before"), m)
			if got := decodeFrame(t, b[6:]); !reflect.DeepEqual(got, m) {
				t.Fatalf("got  %+v\nwant %+v\nfrom %x", got, m, b[6:])
			}
		}
	}
	for typ := range 256 {
		if _, ok := generators[Type(typ)]; ok != !strings.HasPrefix(Type(typ).String(), "type ") {
			t.Errorf("%v has a name but no generator, or the reverse", Type(typ))
		}
	}
}

// Every proper prefix, and every body with a byte behind it, is refused.
func TestNothingMissingNothingMore(t *testing.T) {
	r := newRand(t)
	for range 2000 {
		m := random(r)
		body, _, _ := SplitFrame(Append(nil, m), MaxFrame)
		for n := range body {
			if got, err := Decode(body[:n]); err == nil {
				// The data of the last result and the results as a whole end
				// with the frame: a shorter body can be another message.
				if _, ok := m.(*ReadReply); ok && bytes.Equal(bodyOf(got), body[:n]) {
					continue
				}
				t.Fatalf("%d of %d bytes of %+v decode as %+v", n, len(body), m, got)
			}
		}
		if _, ok := m.(*ReadReply); ok {
			continue
		}
		var de *DecodeError
		if _, err := Decode(append(bytes.Clone(body), 0)); !errors.As(err, &de) || de.Type != m.Type() {
			t.Fatalf("a byte behind %+v: %v", m, err)
		}
	}
}

func bodyOf(m Message) []byte {
	body, _, _ := SplitFrame(Append(nil, m), MaxFrame)
	return body
}

// A changed byte gives an error or another message in its one encoding.
func TestFlips(t *testing.T) {
	r := newRand(t)
	for range 20000 {
		body := bytes.Clone(bodyOf(random(r)))
		for range 1 + r.IntN(3) {
			body[r.IntN(len(body))] ^= 1 << r.IntN(8)
		}
		if m, err := Decode(body); err == nil && !bytes.Equal(bodyOf(m), body) {
			t.Fatalf("%x decodes as %+v, which encodes as %x", body, m, bodyOf(m))
		}
	}
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		body  string
		field string
	}{
		"empty":                      {"", "type"},
		"unknown type":               {"\x3f\x01", "type"},
		"request 0":                  {"\x02\x00", "request"},
		"overlong number":            {"\x02\x81\x00", "request"},
		"number beyond 64 bits":      {"\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", "request"},
		"number without end":         {"\x02\xff", "request"},
		"bytes behind":               {"\x02\x01\x00", "end"},
		"magic":                      {"\x01\x01HTTP", "magic"},
		"commit flag":                {"\x04\x01\x08", "flags"},
		"read set of 2^40":           {"\x05\x01\x80\x80\x80\x80\x80\x20", "reads"},
		"read set longer than frame": {"\x05\x01\x05\x00\x00", "reads"},
		"items longer than frame":    {"\x03\x01\xfc\x07\x00", "items"},
		"needless column of a read":  {"\x03\x01\x05\x02\x00", "items"},
		"write ends in zero":         {"\x04\x01\x00\x01\x00\x00\x00\x00\x00\x00\x01\x02\x02\x01\x00", "writes"},
		"write longer than frame":    {"\x04\x01\x00\x01\x00\x00\x00\x00\x00\x00\x01\x02\x7f\x01", "writes"},
		"result ends in zero":        {"\x42\x01\x05\x04\x00\x01\x00", "data"},
		"still current with data":    {"\x42\x01\x05\x09\x00\x07\x05\x00", "results"},
		"last result with a length":  {"\x42\x01\x05\x0c\x00\x07", "results"},
		"no last result":             {"\x42\x01\x05\x01\x00", "results"},
		"outcome status":             {"\x46\x01\x05\x03", "status"},
		"kind of no items":           {"\x43\x05\x01", "items"},
		"mixed kind of one item":     {"\x43\x05\x07\x00\x00\x00\x00", "items"},
		"item kind":                  {"\x43\x05\x07\x00\x00\x00\xc0", "items"},
		"bits left over":             {"\x43\x05\x08\x00\x00\x00\x00\x01\x00\x01", "items"},
		"wide without need":          {"\x43\x05\x08\x00\x00\x01\x00\x01\x00\x00", "items"},
		"65 bits wide":               {"\x43\x05\x08\x00\x00\x41\x00\x01\x00\x00", "block"},
		"a step too many bits":       {"\x43\x05\x08\x00\x40\x00\x00\x01\x00\x00", "steps"},
		"committed request 0":        {"\x43\x05\x05\x00\x00", "request"},
	} {
		m, err := Decode([]byte(c.body))
		var de *DecodeError
		if m != nil || !errors.As(err, &de) || de.Field != c.field {
			t.Errorf("%s: got %+v, %v; want an error in field %q", name, m, err, c.field)
		}
	}
}

// Counts that the bytes cannot hold cost no memory.
func TestHostileCountsAllocateNothing(t *testing.T) {
	for _, body := range []string{
		"\x03\x01\xfc\xff\x0f", "\x05\x01\xff\xff\x3f", "\x04\x01\x00\x01\x00\x00\x00\x00\x00\x00\xff\xff\x3f",
		"\x43\x05\xfc\xff\x0f\x00", "\x44\x01\x05\xff\xff\x3f", "\x48\x01\x05\xff\xff\x3f", "\x49\x01\x05\x01\x00\x00\xff\xff\x3f",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 100 {
			if _, err := Decode([]byte(body)); err == nil {
				t.Fatalf("%x decodes", body)
			}
		}
		runtime.ReadMemStats(&after)
		if n := (after.TotalAlloc - before.TotalAlloc) / 100; n > 4096 {
			t.Errorf("%x: %d bytes allocated", body, n)
		}
	}
}

func TestProgrammerErrorsPanic(t *testing.T) {
	for name, m := range map[string]Message{
		"nil":            nil,
		"read status":    &ReadReply{Results: []ReadResult{{Status: 4}}},
		"outcome status": &Outcome{Status: 3},
		"item kind":      &Items{Items: []Item{{Kind: 3}}},
		"item order":     &Items{Items: []Item{{At: 2}, {At: 1}}},
		"two forms":      &Commit{Writes: []occ.Write{{Data: []byte{1}, Ranges: []occ.Range{{Data: []byte{1}}}}}},
		"no ranges":      &Commit{Writes: []occ.Write{{Ranges: []occ.Range{}}}},
		"touching":       &Commit{Writes: []occ.Write{{Ranges: []occ.Range{{Data: []byte{1}}, {Off: 1, Data: []byte{1}}}}}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			Append(nil, m)
		}()
	}
}

func TestTrailingZeros(t *testing.T) {
	r := newRand(t)
	for range 2000 {
		data := append(content(r), make([]byte, r.IntN(40))...)
		want := bytes.TrimRight(data, "\x00")
		if got := trim(data); !bytes.Equal(got, want) {
			t.Fatalf("trim(%x) = %x", data, got)
		}
		writes := []occ.Write{{Block: 7, Data: data}}
		short := []occ.Write{{Block: 7, Data: want}}
		if CommitDigest(nil, writes) != CommitDigest(nil, short) {
			t.Fatalf("the digest depends on the trailing zeros of %x", data)
		}
	}
	// However far off the guess of the frame's length is.
	for _, n := range []int{0, 1, 100, 111, 112, 113, 127, 128, 16383, 16384, 1 << 21} {
		for _, zeros := range []int{0, 1, 200, 20000, 1 << 21} {
			data := append(bytes.Repeat([]byte{1}, n), make([]byte, zeros)...)
			m := &ReadReply{Req: 1, Stable: 9, Results: []ReadResult{{From: 3, Data: data}}}
			got := decodeFrame(t, Append(nil, m)).(*ReadReply)
			if !bytes.Equal(got.Results[0].Data, data[:n]) {
				t.Fatalf("%d bytes and %d zeros come back as %d bytes", n, zeros, len(got.Results[0].Data))
			}
		}
	}
}

func TestPadding(t *testing.T) {
	m := &ReadReply{Req: 1, Stable: 9, Results: []ReadResult{
		{From: 1, Data: []byte("ab")}, {Status: StatusClosed, From: 2, To: 4}, {From: 3, Data: []byte("abcdefgh")},
	}}
	got, err := DecodeWith(bodyOf(m), 8)
	if err != nil {
		t.Fatal(err)
	}
	res := got.(*ReadReply).Results
	if string(res[0].Data) != "ab\x00\x00\x00\x00\x00\x00" || res[1].Data != nil || string(res[2].Data) != "abcdefgh" {
		t.Errorf("got %+v", res)
	}
	if !bytes.Equal(bodyOf(got), bodyOf(m)) {
		t.Error("the padded reply encodes differently")
	}
	if _, err := DecodeWith(bodyOf(m), 7); err == nil {
		t.Error("a block larger than a block is taken")
	}
	if _, err := DecodeWith(bodyOf(m), MaxFrame/2+1); err == nil {
		t.Error("more padding than a frame of full blocks is taken")
	}
}

// What Decode returns stays as it is when the buffer is used again.
func TestNoAliasing(t *testing.T) {
	r := newRand(t)
	for range 2000 {
		want := random(r)
		body := bytes.Clone(bodyOf(want))
		got, err := Decode(body)
		if err != nil {
			t.Fatal(err)
		}
		for i := range body {
			body[i] ^= 0xff
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v changed with its buffer into %+v", want, got)
		}
	}
}

func TestDigestIsOfTheEncodedSets(t *testing.T) {
	r := newRand(t)
	for range 200 {
		m := generators[TypeCommit](r).(*Commit)
		sets := appendWrites(appendReads(nil, m.Reads), m.Writes)
		if !bytes.HasSuffix(bodyOf(m), sets) {
			t.Fatalf("a commit does not end with its sets: %+v", m)
		}
		if hasRanges(m.Writes) {
			sets = append([]byte{2}, sets...)
		}
		if got, want := CommitDigest(m.Reads, m.Writes), crcOf(sets); got != want {
			t.Fatalf("digest %08x, want %08x", got, want)
		}
	}
}

// crcOf is CRC-32C bit by bit.
func crcOf(b []byte) uint32 {
	sum := ^uint32(0)
	for _, c := range b {
		sum ^= uint32(c)
		for range 8 {
			sum = sum>>1 ^ 0x82f63b78&-(sum&1)
		}
	}
	return ^sum
}

func TestIsRequest(t *testing.T) {
	for typ, generate := range generators {
		_, server := reflect.TypeOf(generate(rand.New(rand.NewPCG(1, 1)))).Elem().FieldByName("Stable")
		if want := !server || typ == TypeHello; IsRequest(typ) != want {
			t.Errorf("IsRequest(%v) = %v", typ, !want)
		}
	}
}
