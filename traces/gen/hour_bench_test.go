package gen

import (
	"io"
	"testing"
	"time"
)

// BenchmarkHour makes operations, one an iteration, at the hour's rate.
func BenchmarkHour(b *testing.B) {
	b.ReportAllocs()
	h := DefaultHour()
	h.Operations = max(int64(b.N), MinHostOperations*int64(h.Hosts))
	h.Duration = min(max(time.Duration(h.Operations)*(time.Hour/reportOperations), MinDuration), MaxDuration)
	if err := h.Check(); err != nil {
		b.Fatal(err)
	}
	g := newGenerator(h)
	for {
		if _, err := g.Next(); err == io.EOF {
			return
		}
	}
}
