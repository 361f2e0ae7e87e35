package binary

import (
	"bytes"
	"io"
	"testing"

	"github.com/tidemark/tidemark/traces"
)

// named gives every operation one of a few hundred places.
func named(ops []traces.Op) []traces.Op {
	ops = append([]traces.Op(nil), ops...)
	for i := range ops {
		ops[i].Place = &traces.Place{Dir: 7, Name: "file-" + ops[i].FID.String()[12:]}
	}
	return ops
}

func BenchmarkReader(b *testing.B) {
	plain := sampleOps(b)
	for range 4 {
		plain = append(plain, plain...)
	}
	for _, c := range []struct {
		name string
		ops  []traces.Op
	}{{"plain", plain}, {"with places", named(plain)}} {
		b.Run(c.name, func(b *testing.B) {
			data := encode(b, c.ops)
			r := bytes.NewReader(data)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				r.Reset(data)
				in, err := NewReader(r, "t", traces.Options{})
				if err != nil {
					b.Fatal(err)
				}
				for {
					if _, err = in.Next(); err != nil {
						break
					}
					n++
				}
				if err != io.EOF {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "ops/s")
			b.ReportMetric(float64(len(data))/float64(len(c.ops)), "B/op-stored")
		})
	}
}

func BenchmarkWriter(b *testing.B) {
	ops := sampleOps(b)
	b.SetBytes(int64(len(encode(b, ops))))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		w, err := NewWriter(io.Discard)
		if err != nil {
			b.Fatal(err)
		}
		for _, op := range ops {
			if err := w.Write(op); err != nil {
				b.Fatal(err)
			}
			n++
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "ops/s")
}
