package binary

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/sample"
)

func encode(t testing.TB, ops []traces.Op) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range ops {
		if err := w.Write(op); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func decode(r io.Reader) (ops []traces.Op, err error) {
	in, err := NewReader(r, "t", traces.Options{})
	if err != nil {
		return nil, err
	}
	for op, err := range traces.All(in) {
		if err != nil {
			return ops, err
		}
		ops = append(ops, op)
	}
	return ops, nil
}

// text is an operation with its line number: what tells two apart.
func text(op traces.Op) string { return fmt.Sprintf("%d: %v", op.Line, op) }

func alike(t *testing.T, got, want []traces.Op) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d operations, not %d", len(got), len(want))
	}
	for i := range got {
		if text(got[i]) != text(want[i]) {
			t.Fatalf("operation %d is %s, not %s", i, text(got[i]), text(want[i]))
		}
	}
}

// random returns operations of every type with values at and near all limits.
func random(seed uint64, n int) (ops []traces.Op) {
	rng := rand.New(rand.NewPCG(seed, 0))
	pick := func(values ...int64) int64 { return values[rng.IntN(len(values))] }
	name := func() string {
		b := make([]byte, pick(1, 3, 8, traces.MaxName))
		for i := range b {
			b[i] = byte(pick('a', 'b', ' ', '"', '\\', 0xff, 1))
		}
		return string(b)
	}
	fid := func() traces.FID { return traces.FID(pick(0, 1, -1, int64(rng.Uint64()), int64(rng.Uint64N(50)))) }
	for len(ops) < n {
		op := traces.Op{
			Time: pick(0, traces.MaxTime, rng.Int64N(traces.MaxTime+1), 1e15+rng.Int64N(1e6)),
			FID:  fid(), Off: pick(0, 4096, 1<<62, rng.Int64N(1<<40)), Size: pick(0, 4096, traces.MaxTransfer),
			Line: pick(0, 1, int64(len(ops)), int64(len(ops)), 1<<62), Host: uint32(pick(0, 7, 7, 7, 1<<32-1)),
			Type: traces.Types[rng.IntN(len(traces.Types))], Action: traces.Action(rng.IntN(2)),
		}
		if op.Type > traces.Close {
			op.Action = traces.Write
		}
		if op.Type == traces.Lookup {
			op.Action = traces.Read
		}
		if op.Type == traces.Lookup || op.Type == traces.Link || op.Type == traces.Rename || rng.IntN(3) == 0 {
			op.Place = &traces.Place{Dir: fid(), Name: name()}
			if op.Type == traces.Rename {
				op.Place.ToDir, op.Place.ToName = fid(), name()
			}
		}
		if len(ops) > 0 && rng.IntN(4) == 0 && op.Type != traces.Rename {
			if p := ops[len(ops)-1].Place; p != nil && p.ToName == "" {
				op.Place = p
			}
		}
		ops = append(ops, op)
	}
	return ops
}

func TestNothingIsLost(t *testing.T) {
	for seed := range uint64(5) {
		ops := random(seed, 5000)
		data := encode(t, ops)
		if len(data) < 3*MaxPayload {
			t.Errorf("%d bytes are too few blocks for this test", len(data))
		}
		for _, r := range []io.Reader{bytes.NewReader(data), iotest.OneByteReader(bytes.NewReader(data)), iotest.DataErrReader(bytes.NewReader(data))} {
			got, err := decode(r)
			if err != nil {
				t.Fatal(err)
			}
			alike(t, got, ops)
		}
	}
}

// TestSample has a bound on the size, so that the form stays compact.
func TestSample(t *testing.T) {
	ops := sampleOps(t)
	data := encode(t, ops)
	got, err := decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	alike(t, got, ops)
	if perOp := float64(len(data)) / float64(len(ops)); perOp > 12 {
		t.Errorf("%.1f bytes for each operation", perOp)
	}
}

func sampleOps(t testing.TB) (ops []traces.Op) {
	t.Helper()
	in, err := sample.Source().Open()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for op, err := range traces.All(in) {
		if err != nil {
			t.Fatal(err)
		}
		ops = append(ops, op)
	}
	return ops
}

// TestGolden pins the bytes: files of this version must stay readable.
func TestGolden(t *testing.T) {
	want := []traces.Op{
		{Time: 2, Type: traces.Block, Action: traces.Write, FID: 0x1122334455667788, Off: 1, Size: 300, Line: 1, Host: 300},
		{Time: 1, Type: traces.Rename, Action: traces.Write, FID: 9, Line: 2, Host: 300,
			Place: &traces.Place{Dir: 0x1122334455667788, Name: "a", ToDir: 9, ToName: "bc"}},
		{Time: 1, Type: traces.Attr, FID: 9, Line: 2, Host: 7},
	}
	const golden = "8f544d4f50530d0a" + "01000000" + "42a75b2a" +
		"2c000000" + "03000000" + "a879b4d6" +
		"83" + "04" + "ac02" + "00" + "8877665544332211" + "02" + "ac02" +
		"f0" + "01" + "01" + "0900000000000000" + "00" + "00" + "00" + "00" + "0161" + "01" + "026263" +
		"00" + "00" + "00" + "07" + "01" + "00" + "00" +
		"00000000" + "0300000000000000" + "ea26c250"
	data, err := hex.DecodeString(golden)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	alike(t, got, want)
	if again := encode(t, want); !bytes.Equal(again, data) {
		t.Errorf("written as %x", again)
	}
}

func TestRecognize(t *testing.T) {
	data := encode(t, nil)
	if !Recognize(data) || Recognize(data[:7]) || Recognize(nil) || Recognize([]byte("TMOPS")) {
		t.Error("not told by its first bytes")
	}
	if _, err := decode(bytes.NewReader(data)); !errors.Is(err, traces.ErrEmpty) {
		t.Errorf("a trace of nothing: %v", err)
	}
}

func TestWriterErrors(t *testing.T) {
	full := errors.New("full")
	if _, err := NewWriter(&failing{err: full}); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	ops := random(1, 2000)
	for _, room := range []int{1, 2, 3, 5} {
		w, err := NewWriter(&failing{room, full})
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range ops {
			err = w.Write(op)
		}
		if room == 1 && !errors.Is(err, full) {
			t.Errorf("an error is forgotten: %v", err)
		}
		if err := w.Close(); !errors.Is(err, full) {
			t.Errorf("room for %d writes: closed with %v", room, err)
		}
	}
	var out bytes.Buffer
	w, err := NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	var oe *traces.OpError
	if err := w.Write(traces.Op{}); !errors.As(err, &oe) {
		t.Errorf("an impossible operation: %v", err)
	}
	if err := errors.Join(w.Write(ops[0]), w.Close()); err != nil {
		t.Errorf("after it: %v", err)
	}
	if got, err := decode(&out); err != nil || len(got) != 1 {
		t.Errorf("read %v, %v", got, err)
	}
	if err := w.Write(ops[0]); !errors.Is(err, traces.ErrClosed) {
		t.Errorf("written after Close: %v", err)
	}
}

type failing struct {
	room int
	err  error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.room--; f.room < 0 {
		return 0, f.err
	}
	return len(p), nil
}

func TestReaderClose(t *testing.T) {
	in, err := NewReader(bytes.NewReader(encode(t, random(1, 10))), "t", traces.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n, first := in.Skipped(); n != 0 || first != nil {
		t.Errorf("skipped %d, %v", n, first)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Next(); !errors.Is(err, traces.ErrClosed) || !strings.HasPrefix(err.Error(), "t: ") {
		t.Errorf("got %v", err)
	}
}
