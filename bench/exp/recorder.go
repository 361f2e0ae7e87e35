package exp

import (
	"math"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Recorder gathers times for their quantiles, in constant memory: to 3
// significant digits, from 1 µs to an hour. The zero value is ready.
type Recorder struct{ h *hdrhistogram.Histogram }

const maxRecorded = int64(time.Hour / time.Microsecond)

// Add records one time; longer ones than an hour count as an hour.
func (r *Recorder) Add(d time.Duration) {
	if r.h == nil {
		r.h = hdrhistogram.New(1, maxRecorded, 3)
	}
	// The value is within the bounds, so this cannot fail.
	_ = r.h.RecordValue(min(max(d.Microseconds(), 0), maxRecorded))
}

// Merge adds what another recorder gathered.
func (r *Recorder) Merge(o *Recorder) {
	if o.h == nil {
		return
	}
	if r.h == nil {
		r.h = hdrhistogram.New(1, maxRecorded, 3)
	}
	r.h.Merge(o.h)
}

// Quantiles describes what was recorded.
func (r *Recorder) Quantiles() Quantiles {
	if r.h == nil || r.h.TotalCount() == 0 {
		return Quantiles{}
	}
	seconds := func(us int64) float64 { return float64(us) / 1e6 }
	return Quantiles{
		Count: r.h.TotalCount(), Mean: r.h.Mean() / 1e6,
		P50: seconds(r.h.ValueAtQuantile(50)), P99: seconds(r.h.ValueAtQuantile(99)), Max: seconds(r.h.Max()),
	}
}

// Summarize returns the mean of samples with its 95% confidence interval by
// Student's t-distribution; the half width is 0 for a single sample.
func Summarize(samples []float64) Interval {
	if len(samples) == 0 {
		return Interval{}
	}
	sorted := slices.Sorted(slices.Values(samples))
	mean, dev := stat.MeanStdDev(sorted, nil)
	if len(samples) == 1 {
		return Interval{Mean: mean}
	}
	n := float64(len(samples))
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975)
	return Interval{Mean: mean, Half: t * dev / math.Sqrt(n)}
}
