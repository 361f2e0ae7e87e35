package history

import (
	"bytes"
	"testing"
	"time"

	"github.com/tidemark/tidemark/occ"
)

// script turns bytes into a history: mostly small numbers, some extreme.
type script struct{ data []byte }

func (s *script) byte() byte {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return b
}

func (s *script) number() uint64 {
	switch b := s.byte(); {
	case b >= 0xf0:
		return ^uint64(0) - uint64(b&0xf)
	case b >= 0xe8:
		return 1<<62 + uint64(b)
	default:
		return uint64(b % 16)
	}
}

func (s *script) event(end uint64) Event {
	e := Event{
		Client: int(s.byte() % 3), Kind: Kind(s.byte() % 6),
		Lo: occ.Timestamp(s.number()), Hi: occ.Timestamp(s.number()), Commit: occ.Timestamp(s.number()),
		Begin: time.Duration(s.number()), Epsilon: time.Duration(s.number()),
		BeginSeq: s.number(), EndSeq: end,
	}
	shape := s.byte()
	e.NoOpacity = shape&0x80 != 0
	for range shape % 4 {
		e.Reads = append(e.Reads, occ.Read{Block: occ.BlockID(s.byte() % 4), From: occ.Timestamp(s.number())})
	}
	for range shape / 4 % 4 {
		e.Writes = append(e.Writes, occ.BlockID(s.byte()%4))
	}
	return e
}

func FuzzChecker(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte{2, 3, 0, 0, 2, 0, 0, 1, 0, 0, 0, 4, 1, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 1, 1})
	f.Add(bytes.Repeat([]byte{1, 2, 0, 3, 1, 0xff, 0, 2, 0xe8, 0x8b, 1, 0xf1, 3}, 20))
	f.Fuzz(func(t *testing.T, data []byte) {
		data = data[:min(len(data), 2000)]
		// All history kept, events only: the twin must agree.
		s := script{data}
		var events []Event
		for len(s.data) > 0 && len(events) < 40 {
			// The twin does not know how many commits in doubt happened.
			if e := s.event(uint64(len(events))); e.Kind < kinds && e.Kind != InDoubt {
				// The twin subtracts times without care for overflow.
				e.Begin, e.Epsilon = e.Begin%100, e.Epsilon%100
				events = append(events, e)
			}
		}
		applied := []point{{-1, 1}, {0, 2}, {3, 3}, {7, 5}}
		wrong, disorder := twin(events, applied)
		if r := check(Options{Keep: keepAll}, events, applied); (r.Err() != nil) != (wrong > 0 || disorder) {
			t.Errorf("twin finds %d wrong (disorder %v), checker %v; events %+v", wrong, disorder, r.Err(), events)
		}
		// Anything at all, with little memory: it ends, within its limits.
		s = script{data}
		c := New(Options{Window: int(s.byte() % 8), Pending: int(s.byte() % 8), Keep: int(s.byte() % 8)})
		for len(s.data) > 0 {
			switch s.byte() % 6 {
			case 0:
				c.InDoubt()
			case 1:
				c.Applied(time.Duration(s.number()), occ.Timestamp(s.number()))
			case 2:
				c.Unknown(occ.Timestamp(s.number()), []occ.BlockID{occ.BlockID(s.byte() % 4)})
			default:
				c.Record(s.event(s.number()))
			}
			if n := c.ahead.len() + c.waiting.len(); n > c.opts.Pending {
				t.Fatalf("%d wait, the limit is %d", n, c.opts.Pending)
			}
		}
		if r := c.Finish(); r.Total < len(r.Violations) || len(r.Violations) > c.opts.Keep {
			t.Errorf("%d violations kept of %d", len(r.Violations), r.Total)
		}
	})
}

func FuzzReadEvents(f *testing.F) {
	f.Add([]byte(`{"event":{"client":2,"kind":"committed","commit":1,"reads":[7,0],"writes":[7,8]}}` + "\n"))
	f.Add([]byte(`{"unknown":{"ts":2,"writes":[7]}}` + "\n" + `{"in_doubt":true}` + "\n" + `{"applied":{"t":-5,"stable":2}}`))
	f.Add([]byte(`{"event":{"client":1,"kind":"aborted","reads":[1]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, second bytes.Buffer
		w := NewWriter(&first)
		_ = ReadEvents(bytes.NewReader(data), w) // what comes before an error counts
		if err := w.Flush(); err != nil {
			t.Fatalf("what was read cannot be saved: %v", err)
		}
		w = NewWriter(&second)
		if err := ReadEvents(bytes.NewReader(first.Bytes()), w); err != nil {
			t.Fatalf("what was saved cannot be read: %v", err)
		}
		if err := w.Flush(); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Fatalf("saved %q, then %q (%v)", first.Bytes(), second.Bytes(), err)
		}
	})
}
