package gen

import (
	"io"
	"testing"
	"time"
)

func BenchmarkHour(b *testing.B) {
	b.ReportAllocs()
	h := DefaultHour()
	h.Operations, h.Duration = int64(max(b.N, 10*h.Hosts)), time.Duration(max(b.N, 10*h.Hosts))*36*time.Millisecond
	h.Duration = min(max(h.Duration, MinDuration), MaxDuration)
	g := newGenerator(h)
	b.ResetTimer()
	for {
		if _, err := g.Next(); err == io.EOF {
			return
		}
	}
}
