package traces

import (
	"cmp"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
)

func drain(t *testing.T, s Stream) []Op {
	t.Helper()
	var ops []Op
	for op, err := range All(s) {
		if err != nil {
			t.Fatal(err)
		}
		ops = append(ops, op)
	}
	return ops
}

// at makes operations of the given times, numbered by line.
func at(times ...int64) []Op {
	var ops []Op
	for i, t := range times {
		ops = append(ops, Op{Time: t, Type: Attr, Line: int64(i + 1)})
	}
	return ops
}

func timesAndLines(ops []Op) (times, lines []int64) {
	for _, op := range ops {
		times, lines = append(times, op.Time), append(lines, op.Line)
	}
	return times, lines
}

func TestReorder(t *testing.T) {
	const s = 1_000_000
	for name, c := range map[string]struct {
		in, times, lines []int64
		counts           ReorderCounts
	}{
		"in order":             {in: []int64{1, 2, 3}, times: []int64{1, 2, 3}, lines: []int64{1, 2, 3}},
		"equal times":          {in: []int64{5, 5, 5, 4}, times: []int64{4, 5, 5, 5}, lines: []int64{4, 1, 2, 3}, counts: ReorderCounts{OutOfOrder: 1}},
		"exactly a second":     {in: []int64{s, 2 * s, s}, times: []int64{s, s, 2 * s}, lines: []int64{1, 3, 2}, counts: ReorderCounts{OutOfOrder: 1}},
		"a second and more":    {in: []int64{s, 2 * s, 2 * s, s - 1}, times: []int64{s, s, 2 * s, 2 * s}, lines: []int64{1, 4, 2, 3}, counts: ReorderCounts{1, 1}},
		"late, but its place":  {in: []int64{5 * s, 3 * s}, times: []int64{3 * s, 5 * s}, lines: []int64{2, 1}, counts: ReorderCounts{OutOfOrder: 1}},
		"one from the future":  {in: []int64{1, MaxTime, 2, 3}, times: []int64{1, 2, 3, MaxTime}, lines: []int64{1, 3, 4, 2}, counts: ReorderCounts{OutOfOrder: 2}},
		"clamped to delivered": {in: []int64{3 * s, 9 * s, 9 * s, 1}, times: []int64{3 * s, 3 * s, 9 * s, 9 * s}, lines: []int64{1, 4, 2, 3}, counts: ReorderCounts{1, 1}},
	} {
		r := NewReorder(Slice(at(c.in...)))
		times, lines := timesAndLines(drain(t, r))
		if !slices.Equal(times, c.times) || !slices.Equal(lines, c.lines) || r.Counts() != c.counts {
			t.Errorf("%s: got times %v, lines %v, %+v", name, times, lines, r.Counts())
		}
	}
}

// TestReorderSorts compares with sorting when no line is more than a second
// late: then the two are the same.
func TestReorderSorts(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var times []int64
		now := int64(10_000_000)
		for range 300 {
			now += rng.Int64N(200_000)
			times = append(times, now-rng.Int64N(ReorderWindow/2))
		}
		in := at(times...)
		want := slices.Clone(in)
		slices.SortStableFunc(want, func(a, b Op) int { return cmp.Compare(a.Time, b.Time) })
		r := NewReorder(Slice(in))
		if got := drain(t, r); !slices.Equal(got, want) || r.Counts().Clamped != 0 {
			t.Fatalf("seed %d: not sorted, or clamped: %+v", seed, r.Counts())
		}
	}
}

// TestReorderAnyTimes checks what must hold however wild the times are.
func TestReorderAnyTimes(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var times []int64
		for range 200 {
			times = append(times, rng.Int64N(20_000_000))
		}
		in := at(times...)
		r := NewReorder(Slice(in))
		r.limit = 1 + rng.IntN(20)
		out := drain(t, r)
		moved := int64(0)
		for i, op := range out {
			if i > 0 && op.Time < out[i-1].Time {
				t.Fatalf("seed %d: time goes back", seed)
			}
			if op.Time != times[op.Line-1] {
				moved++
			}
		}
		if len(out) != len(in) || moved != r.Counts().Clamped {
			t.Fatalf("seed %d: %d of %d operations, %d moved, %+v", seed, len(out), len(in), moved, r.Counts())
		}
	}
}

func TestReorderHoldsAtMostLimit(t *testing.T) {
	var taken, given int
	src := streamFunc(func() (Op, error) {
		if taken == 1000 {
			return Op{}, io.EOF
		}
		taken++
		return Op{Type: Attr, Time: 7}, nil // time stands still
	})
	r := NewReorder(src)
	r.limit = 16
	for range All(r) {
		given++
		if taken-given >= r.limit {
			t.Fatalf("holds %d operations", taken-given)
		}
	}
	if given != 1000 {
		t.Errorf("delivered %d", given)
	}
}

type streamFunc func() (Op, error)

func (f streamFunc) Next() (Op, error) { return f() }

func TestReorderDeliversBeforeAnError(t *testing.T) {
	ops := at(3, 1)
	ops = append(ops, Op{Line: 3}) // no type
	r := NewReorder(Slice(ops))
	for _, want := range []int64{1, 3} {
		if op, err := r.Next(); err != nil || op.Time != want {
			t.Fatalf("got %v, %v", op, err)
		}
	}
	for range 2 {
		var oe *OpError
		if _, err := r.Next(); !errors.As(err, &oe) || oe.Line != 3 {
			t.Fatalf("got %v", err)
		}
	}
}

func BenchmarkReorder(b *testing.B) {
	var ops []Op
	for i := range int64(100_000) {
		ops = append(ops, Op{Type: Attr, Time: i * 1000}) // a thousand within the window
	}
	b.ReportAllocs()
	for b.Loop() {
		r := NewReorder(Slice(ops))
		for {
			if _, err := r.Next(); err != nil {
				break
			}
		}
	}
	b.ReportMetric(float64(b.N)*float64(len(ops))/b.Elapsed().Seconds(), "ops/s")
}
