package nfsdump

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/tidemark/tidemark/traces"
)

// FuzzReader reads any text: it ends, with operations that can be, not more
// than three for a line, and in the order of the lines.
func FuzzReader(f *testing.F) {
	f.Add(sample)
	for _, line := range bytes.SplitAfter(sample, []byte{'\n'}) {
		f.Add(line)
	}
	f.Add([]byte(call("1.0", "1", `8 create fh aa00 name "a" how U size 10`) + "\x00\x00\n" + call("1.0", "1", "SHORT PACKET")))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := NewReader(bytes.NewReader(text), "f", traces.Options{})
		for n, last := int64(0), int64(0); err == nil; n++ {
			var op traces.Op
			if op, err = r.Next(); err != nil {
				break
			}
			if bad := op.Check(); bad != nil {
				t.Fatal(bad)
			}
			if op.Line < last || op.Line > r.Lines() || n > 3*r.Lines() {
				t.Fatalf("operation %d is of line %d, after one of line %d", n, op.Line, last)
			}
			last = op.Line
		}
		var se *traces.StreamError
		if err != io.EOF && !errors.As(err, &se) {
			t.Fatalf("untyped error %v", err)
		}
		if r == nil {
			return
		}
		var calls, answers int64
		for _, found := range r.Findings() {
			if found.Count <= 0 || found.Group == "" || found.Name == "" {
				t.Fatalf("finding %+v", found)
			}
			switch found.Name {
			case "calls":
				calls = found.Count
			case "matched replies":
				answers = found.Count
			}
		}
		if answers > calls {
			t.Fatalf("%d calls had %d replies", calls, answers)
		}
	})
}
