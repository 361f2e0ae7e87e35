package exp

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestQuantiles(t *testing.T) {
	var r Recorder
	if q := r.Quantiles(); q != (Quantiles{}) {
		t.Errorf("nothing recorded: %+v", q)
	}
	for _, i := range rand.Perm(1000) {
		r.Add(time.Duration(i+1) * time.Millisecond)
	}
	q := r.Quantiles()
	if q.Count != 1000 || !near(q.Mean, 0.5005) || !near(q.P50, 0.500) || !near(q.P99, 0.990) || !near(q.Max, 1) {
		t.Errorf("1 ms to 1 s: %+v", q)
	}
}

func TestRecorderBounds(t *testing.T) {
	var r Recorder
	r.Add(-time.Second)
	r.Add(100 * time.Hour)
	if q := r.Quantiles(); q.Count != 2 || q.P50 != 0 || !near(q.Max, 3600) {
		t.Errorf("%+v", q)
	}
}

func TestMerge(t *testing.T) {
	var a, b, empty Recorder
	a.Add(time.Second)
	a.Merge(&empty)
	empty.Merge(&b)
	b.Add(3 * time.Second)
	a.Merge(&b)
	if q := a.Quantiles(); q.Count != 2 || !near(q.Mean, 2) || !near(q.Max, 3) {
		t.Errorf("%+v", q)
	}
	if q := empty.Quantiles(); q.Count != 0 {
		t.Errorf("nothing merged: %+v", q)
	}
	var c Recorder
	c.Merge(&a)
	c.Add(time.Second)
	if q := a.Quantiles(); q.Count != 2 {
		t.Errorf("a merged recorder was changed: %+v", q)
	}
}

// TestSummarize checks against t(0.975) of 1, 2, 4 and 9 degrees of freedom
// from printed tables: 12.706, 4.303, 2.776, 2.262.
func TestSummarize(t *testing.T) {
	for _, c := range []struct {
		samples    []float64
		mean, half float64
	}{
		{nil, 0, 0},
		{[]float64{3}, 3, 0},
		{[]float64{1, 3}, 2, 12.706 * 1.4142 / 1.4142},                            // s = √2
		{[]float64{2, 1, 3}, 2, 4.303 * 1 / 1.7321},                               // s = 1
		{[]float64{10, 20, 30, 40, 50}, 30, 2.776 * 15.8114 / 2.2361},             // s = √250
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 5.5, 2.262 * 3.02765 / 3.1623}, // s = √(82.5/9)
		{[]float64{4, 4, 4}, 4, 0},
	} {
		if got := Summarize(c.samples); !near(got.Mean, c.mean) || !near(got.Half, c.half) {
			t.Errorf("%v: %+v, want %v ±%v", c.samples, got, c.mean, c.half)
		}
	}
	samples := []float64{3, 1, 2}
	Summarize(samples)
	if samples[0] != 3 {
		t.Error("the samples were reordered")
	}
}
