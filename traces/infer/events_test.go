package infer

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/sample"
)

// checkEvents is what any stream of events must satisfy.
func checkEvents(events []Event, complete bool) error {
	type tx struct {
		begin Event
		wrote bool
		ended bool
	}
	seen := map[TxID]*tx{}
	last := int64(0)
	for _, e := range events {
		if e.Time < last {
			return fmt.Errorf("%v: time goes back from %d", e, last)
		}
		last = e.Time
		x := seen[e.Tx]
		if e.Kind == Begin {
			if x != nil || e.Tx != TxID(len(seen)+1) {
				return fmt.Errorf("%v: out of turn", e)
			}
			for _, id := range e.Waits {
				if seen[id] == nil || !seen[id].ended {
					return fmt.Errorf("%v: waits for what has not ended", e)
				}
			}
			seen[e.Tx] = &tx{begin: e}
			continue
		}
		switch {
		case x == nil || x.ended:
			return fmt.Errorf("%v: not under way", e)
		case e.Host != x.begin.Host || e.Class != x.begin.Class || e.Origin != x.begin.Origin:
			return fmt.Errorf("%v: not as begun", e)
		case e.Kind == Do && e.Op.Host != e.Host:
			return fmt.Errorf("%v: another host's operation", e)
		case e.Time-x.begin.Time > Timeout+1 || e.Kind == Do && e.Time-x.begin.Time > Timeout:
			return fmt.Errorf("%v: too late", e)
		}
		if e.Kind == End {
			x.ended = true
			continue
		}
		x.wrote = x.wrote || classOf(e.Op) == ReadWrite
	}
	if !complete {
		return nil
	}
	for id, x := range seen {
		if !x.ended {
			return fmt.Errorf("tx %d never ends", id)
		}
		if x.wrote != (x.begin.Class == ReadWrite) {
			return fmt.Errorf("tx %d is %s but wrote: %v", id, x.begin.Class, x.wrote)
		}
	}
	return nil
}

func TestSample(t *testing.T) {
	for _, c := range []struct {
		opt               Options
		readOnly, written int64
	}{
		{Options{}, 3803, 6},
		{Options{PerOperation: true}, 7334, 38},
	} {
		in, err := sample.Source().Open()
		if err != nil {
			t.Fatal(err)
		}
		e := NewEvents(in, c.opt)
		var events []Event
		hosts := map[uint32]bool{}
		for ev, err := range e.All() {
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, ev)
			hosts[ev.Host] = true
		}
		in.Close()
		n := e.Counts()
		if n.ReadOnly != c.readOnly || n.ReadWrite != c.written || n.Operations != 7372 || len(hosts) != 56 || n.Clamped != 0 {
			t.Errorf("%+v: %d hosts, %+v", c.opt, len(hosts), n)
		}
		if err := checkEvents(events, true); err != nil {
			t.Errorf("%+v: %v", c.opt, err)
		}
	}
}

func TestEventsPassOnErrors(t *testing.T) {
	ops := trace(t, `
		1 Attr READ a 1
		2 Block READ a 1`)
	ops = append(ops, traces.Op{Line: 3}, traces.Op{Type: traces.Attr, Line: 4})
	e := NewEvents(traces.Slice(ops), Options{})
	var err error
	n := 0
	for err == nil {
		_, err = e.Next()
		n++
	}
	var oe *traces.OpError
	if !errors.As(err, &oe) || oe.Line != 3 {
		t.Errorf("got %v", err)
	}
	if n != 4 { // the three events of line 1; line 2 is not decided
		t.Errorf("error after %d calls", n)
	}
	if _, again := e.Next(); again != err {
		t.Errorf("then %v", again)
	}
}

// TestBufferIsBounded holds back as much as is allowed, and one more.
func TestBufferIsBounded(t *testing.T) {
	endless := func(n int) traces.Stream {
		ops := trace(t, "1 Block READ a 1")
		for range n {
			ops = append(ops, traces.Op{Type: traces.Attr, Time: 1_000_000, FID: 2, Line: int64(len(ops) + 1)})
		}
		return traces.Slice(ops)
	}
	const limit = 50
	for _, c := range []struct {
		attrs int
		over  bool
	}{{limit - 3, false}, {limit - 2, true}, {10 * limit, true}} { // the Block is a begin, a do and an open
		e := NewEvents(endless(c.attrs), Options{MaxBuffered: limit})
		var err error
		for err == nil {
			_, err = e.Next()
		}
		var le *LookaheadError
		if c.over != errors.As(err, &le) || !c.over && err != io.EOF {
			t.Errorf("%d lines: %v", c.attrs, err)
		}
		if c.over && le.Line != limit-1 {
			t.Errorf("%d lines: refused at line %d", c.attrs, le.Line)
		}
	}
}

// TestWriteDecidesAtOnce checks that nothing waits for the end of an open that
// is known to write.
func TestWriteDecidesAtOnce(t *testing.T) {
	ops := trace(t, "1 Block WRITE a 1")
	for range 100 {
		ops = append(ops, traces.Op{Type: traces.Attr, Time: 1_000_000, FID: 2, Line: int64(len(ops) + 1)})
	}
	if _, n := infer(t, ops, Options{}); n.MaxBuffered != 2 { // the begin and the Block
		t.Errorf("held back %d", n.MaxBuffered)
	}
}

// TestBufferEmptiesWhenDecided checks that a long trace needs no more memory
// than its busiest 120 s.
func TestBufferEmptiesWhenDecided(t *testing.T) {
	var ops []traces.Op
	for i := range int64(20_000) {
		ops = append(ops, traces.Op{Type: traces.Block, Time: i * 1_000_000, FID: traces.FID(i % 7), Line: i + 1})
	}
	_, n := infer(t, ops, Options{MaxBuffered: 200})
	if n.MaxBuffered > 160 || n.MaxOpen != 7 {
		t.Errorf("held back %d, %d opens", n.MaxBuffered, n.MaxOpen)
	}
}

// opsFrom makes operations of arbitrary bytes, impossible ones among them.
func opsFrom(data []byte) []traces.Op {
	var ops []traces.Op
	now := int64(0)
	for len(data) >= 6 {
		b := data[:6]
		data = data[6:]
		now += int64(int8(b[0])) * 1_000_003
		ops = append(ops, traces.Op{
			Time: now, Type: traces.Type(b[1] % 8), Action: traces.Action(b[1] / 128),
			FID: traces.FID(b[2] % 8), Host: uint32(b[3] % 8),
			Off: int64(b[4]) << (b[5] % 64), Size: int64(b[5]) * 17, Line: int64(len(ops) + 1),
		})
	}
	return ops
}

func FuzzInference(f *testing.F) {
	f.Add([]byte("\x01\x05\x01\x01\x00\x00\x01\x02\x01\x01\x00\x10\x7f\x04\x01\x02\x00\x00"), false)
	f.Add([]byte("\x01\x02\x01\x01\x00\x01\xff\x01\x01\x01\x00\x01\x78\x82\x01\x01\x00\x01"), true)
	f.Add([]byte("\x01\x00\x00\x00\x00\x00"), false)
	f.Fuzz(func(t *testing.T, data []byte, perOperation bool) {
		ops := opsFrom(data)
		e := NewEvents(traces.Slice(ops), Options{PerOperation: perOperation, MaxBuffered: 100})
		var events []Event
		var err error
		for {
			var ev Event
			if ev, err = e.Next(); err != nil {
				break
			}
			events = append(events, ev)
		}
		if broken := checkEvents(events, err == io.EOF); broken != nil {
			t.Fatal(broken)
		}
		if _, again := e.Next(); again != err {
			t.Fatalf("%v, then %v", err, again)
		}
		img, err := NewImage(traces.Slice(ops), 4096)
		if err == nil {
			err = checkImage(img)
		} else if oe := (*traces.OpError)(nil); errors.As(err, &oe) {
			err = nil
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkEvents(b *testing.B) {
	in, err := sample.Source().Open()
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	var ops []traces.Op
	for op, err := range traces.All(in) {
		if err != nil {
			b.Fatal(err)
		}
		ops = append(ops, op)
	}
	b.ReportAllocs()
	for b.Loop() {
		e := NewEvents(traces.Slice(ops), Options{})
		for {
			if _, err := e.Next(); err != nil {
				break
			}
		}
	}
	b.ReportMetric(float64(b.N)*float64(len(ops))/b.Elapsed().Seconds(), "ops/s")
}
