package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/tidemark/tidemark/occ"
)

// tape keeps what a Sink is given, as printed text.
type tape []string

func (p *tape) Record(e Event)                            { *p = append(*p, fmt.Sprintf("%+v", e)) }
func (p *tape) Unknown(ts occ.Timestamp, w []occ.BlockID) { *p = append(*p, fmt.Sprint(ts, w)) }
func (p *tape) InDoubt()                                  { *p = append(*p, "in doubt") }
func (p *tape) Applied(t time.Duration, s occ.Timestamp)  { *p = append(*p, fmt.Sprint(t, s)) }

func TestSavedHistoryIsJudgedAlike(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 4))
		events, applied := generate(rng, 200)
		events, what := mutate(rng, events)
		var file bytes.Buffer
		w := NewWriter(&file)
		c := New(Options{Keep: keepAll})
		var want, got tape
		for _, sink := range []Sink{w, c, &want} {
			for _, p := range applied {
				sink.Applied(p.t, p.stable)
			}
			for _, e := range events {
				sink.Record(e)
			}
			sink.InDoubt()
			sink.Unknown(occ.Open-1, []occ.BlockID{1, 1 << 63})
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		again := New(Options{Keep: keepAll})
		for _, sink := range []Sink{again, &got} {
			if err := ReadEvents(bytes.NewReader(file.Bytes()), sink); err != nil {
				t.Fatal(err)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: read back differently", seed)
		}
		if a, b := c.Finish(), again.Finish(); !reflect.DeepEqual(a, b) {
			t.Fatalf("seed %d (%s): %v, read back %v", seed, what, a.Err(), b.Err())
		}
	}
}

func TestSavedLine(t *testing.T) {
	var file strings.Builder
	e := Event{Client: 2, Kind: ReadOnly, Lo: 3, Hi: 4, Reads: reads(7, 3), Epsilon: 2 * time.Second, BeginSeq: 1, EndSeq: 2}
	if err := WriteEvents(&file, []Event{e}); err != nil {
		t.Fatal(err)
	}
	const want = `{"event":{"client":2,"kind":"read-only","lo":3,"hi":4,"reads":[7,3],"begin_seq":1,"end_seq":2,"epsilon":2000000000}}` + "\n"
	if file.String() != want {
		t.Errorf("got  %swant %s", file.String(), want)
	}
}

func TestReadEventsRefuses(t *testing.T) {
	const good = `{"applied":{"t":1,"stable":2}}` + "\n"
	for name, text := range map[string]string{
		"nothing on the line": "\n",
		"null":                "null",
		"no member":           "{}",
		"false member":        `{"in_doubt":false}`,
		"two members":         `{"in_doubt":true,"applied":{"t":1,"stable":2}}`,
		"unknown member":      `{"other":1}`,
		"cut off":             `{"event":{"client":1,"ki`,
		"two values":          `{"in_doubt":true}{}`,
		"unknown kind":        `{"event":{"client":1,"kind":"lost"}}`,
		"odd reads":           `{"event":{"client":1,"kind":"aborted","reads":[1,2,3]}}`,
		"negative timestamp":  `{"event":{"client":1,"kind":"read-only","lo":-1}}`,
		"too large":           `{"event":{"client":1,"kind":"read-only","lo":18446744073709551616}}`,
		"binary":              "\x00\xff",
	} {
		var got tape
		err := ReadEvents(strings.NewReader(good+text), &got)
		if name == "nothing on the line" {
			err = ReadEvents(strings.NewReader(good+text+good), &got)
		}
		var at *LineError
		if !errors.As(err, &at) || at.Line != 2 {
			t.Errorf("%s: got %v", name, err)
		}
		if len(got) == 0 {
			t.Errorf("%s: the line before was not given", name)
		}
	}
}

func TestLineLengthIsBounded(t *testing.T) {
	// A line of just MaxLine bytes, padded inside, and one of a byte more.
	padded := func(n int) io.Reader {
		const head, tail = `{"in_doubt":true`, `}`
		return io.MultiReader(strings.NewReader(head), strings.NewReader(strings.Repeat(" ", n-len(head)-len(tail))), strings.NewReader(tail+"\n"))
	}
	if err := ReadEvents(padded(MaxLine), new(tape)); err != nil {
		t.Error(err)
	}
	for _, n := range []int{MaxLine + 1, MaxLine + 2, 2 * MaxLine} {
		if err := ReadEvents(padded(n), new(tape)); !errors.Is(err, ErrLineTooLong) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	w := NewWriter(io.Discard)
	w.Unknown(1, make([]occ.BlockID, MaxLine/2))
	w.InDoubt()
	if err := w.Flush(); !errors.Is(err, ErrLineTooLong) {
		t.Error(err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestFilesThatFail(t *testing.T) {
	if err := WriteEvents(failing{}, base()); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
	if err := WriteEvents(io.Discard, []Event{{Kind: 9}}); err == nil {
		t.Error("saved an event that could not be read back")
	}
	broken := io.MultiReader(strings.NewReader(`{"in_doubt":true}`+"\n"+`{"in_do`), iotest.ErrReader(io.ErrNoProgress))
	var at *LineError
	if err := ReadEvents(broken, new(tape)); !errors.Is(err, io.ErrNoProgress) || !errors.As(err, &at) || at.Line != 2 {
		t.Error(err)
	}
}
