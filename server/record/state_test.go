package record

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/occ"
)

var states = map[string]*State{
	"state_empty": {Next: 1},
	"state": {
		Stable: 310, Horizon: 250, Epoch: 4, Next: 1064,
		Sessions: []SessionState{
			{ID: session(0x40), Next: 1},
			{ID: session(1), Mark: 6, Next: 12, Outcomes: []Outcome{{Seq: 7, Digest: 0xdeadbeef, At: 300}, {Seq: 11, Digest: 1, At: 310}}},
		},
		Pins: []Pin{{Name: "monthly", At: 17}, {Name: "tonight", At: 305, Lease: time.Hour}},
	},
	"state_largest": {
		Stable: math.MaxUint64, Horizon: math.MaxUint64, Epoch: math.MaxUint64, Next: math.MaxUint64,
		Sessions: []SessionState{{ID: session(0xf0), Mark: math.MaxUint64 - 2, Next: math.MaxUint64, Outcomes: []Outcome{
			{Seq: math.MaxUint64 - 1, Digest: math.MaxUint32, At: math.MaxUint64},
		}}},
		Pins: []Pin{{Name: strings.Repeat("\xff", MaxName), At: math.MaxUint64, Lease: math.MaxInt64}},
	},
}

func TestGoldenStates(t *testing.T) {
	for name, s := range states {
		want := golden(t, name, AppendState(nil, s))
		if back, err := DecodeState(want); err != nil || !reflect.DeepEqual(back, s) {
			t.Errorf("%s decodes to %+v, %v, want %+v", name, back, err, s)
		}
		for cut := range want {
			if _, err := DecodeState(want[:cut:cut]); !errors.Is(err, ErrTruncated) {
				t.Errorf("%s cut at %d: %v, want ErrTruncated", name, cut, err)
			}
		}
	}
}

func TestDecodeStateRefuses(t *testing.T) {
	head := []byte{1, 9, 8, 1, 1}
	with := func(parts ...[]byte) []byte { return slices.Concat(append([][]byte{head}, parts...)...) }
	id := make([]byte, sessionLen)
	most := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}
	for _, c := range []struct {
		name   string
		in     []byte
		cause  error
		offset int
		field  string
	}{
		{"newer version", []byte{2, 0}, ErrVersion, 0, "state version"},
		{"version 0", []byte{0, 0}, ErrVersion, 0, "state version"},
		{"trailing", with([]byte{0, 0, 0}), ErrTrailing, 7, "state"},
		{"too many sessions", with([]byte{0x80, 0x80, 1}), ErrTruncated, 5, "session count"},
		{"too many outcomes", with([]byte{1}, id, []byte{0, 3, 9, 0, 0}), ErrTruncated, 24, "outcome count"},
		{"too many pins", with([]byte{0, 9, 1}), ErrTruncated, 6, "pin count"},
		{"next wraps", with([]byte{1}, id, []byte{1}, most, []byte{0, 0}), ErrNumber, 23, "session next"},
		{"outcome at next", with([]byte{1}, id, []byte{0, 3, 1, 3, 0, 0, 0, 0, 0, 0}), ErrNumber, 25, "outcome seq"},
		{"outcome wraps", with([]byte{1}, id, []byte{0, 9, 2, 3, 0, 0, 0, 0, 0}, most, []byte{0, 0, 0, 0, 0}), ErrNumber, 31, "outcome seq"},
		{"pins out of order", with([]byte{0, 2, 1, 'b', 0, 0, 1, 'a', 0, 0}), ErrNumber, 11, "pin name"},
		{"pin twice", with([]byte{0, 2, 1, 'b', 0, 0, 1, 'b', 0, 0}), ErrNumber, 11, "pin name"},
		{"pin without a name", with([]byte{0, 1, 0, 0, 0, 0}), ErrName, 7, "pin name"},
		{"negative lease", with([]byte{0, 1, 1, 'a', 0}, most), ErrNumber, 10, "pin lease"},
	} {
		_, err := DecodeState(c.in)
		var de *DecodeError
		if !errors.As(err, &de) || !errors.Is(err, c.cause) || de.Offset != c.offset || de.Field != c.field {
			t.Errorf("%s: got %v, want %v in %s at %d", c.name, err, c.cause, c.field, c.offset)
		}
	}
}

func randomState(r *rand.Rand) *State {
	number := func() uint64 { return r.Uint64() >> (1 + r.IntN(63)) }
	s := &State{Stable: occ.Timestamp(number()), Horizon: occ.Timestamp(number()), Epoch: number(), Next: occ.BlockID(number())}
	for range r.IntN(4) {
		session := SessionState{ID: session(byte(r.Uint32())), Mark: number() >> 2}
		before := Outcome{Seq: session.Mark}
		for range r.IntN(4) {
			before = Outcome{Seq: before.Seq + 1 + number()>>4, At: before.At + 1 + occ.Timestamp(number()>>4), Digest: r.Uint32()}
			session.Outcomes = append(session.Outcomes, before)
		}
		session.Next = before.Seq + 1 + number()>>4
		s.Sessions = append(s.Sessions, session)
	}
	name := ""
	for range r.IntN(4) {
		name += string(rune('a' + r.IntN(26)))
		s.Pins = append(s.Pins, Pin{Name: name, At: occ.Timestamp(number()), Lease: time.Duration(number())})
	}
	return s
}

func FuzzDecodeState(f *testing.F) {
	for _, s := range states {
		f.Add(AppendState(nil, s))
	}
	r := rand.New(rand.NewPCG(5, 5))
	for range 20 {
		s := randomState(r)
		b := AppendState(nil, s)
		if back, err := DecodeState(b); err != nil || !reflect.DeepEqual(back, s) {
			f.Fatalf("%+v decodes to %+v, %v", s, back, err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := DecodeState(b)
		if err != nil {
			var de *DecodeError
			if !errors.As(err, &de) || de.Offset < 0 || de.Offset > len(b) {
				t.Fatalf("untyped or misplaced error %v", err)
			}
			return
		}
		if again := AppendState(nil, s); !bytes.Equal(again, b) {
			t.Fatalf("%x decodes, but encodes again as %x", b, again)
		}
	})
}
