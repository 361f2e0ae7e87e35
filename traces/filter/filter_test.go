package filter

import (
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/tidemark/tidemark/traces"
)

// trace is 100 operations, one a second, of hosts 0 to 4 and files 0 to 19.
func trace() (ops []traces.Op) {
	for i := range int64(100) {
		ops = append(ops, traces.Op{Time: (1000 + i) * 1e6, Type: traces.Attr, FID: traces.FID(i % 20), Host: uint32(i % 5), Line: 1 + i})
	}
	return ops
}

// pick returns the lines of what is picked.
func pick(t *testing.T, opt Options) (lines []int64) {
	t.Helper()
	if err := opt.Check(); err != nil {
		t.Fatal(err)
	}
	ops := trace()
	s := New(traces.Slice(ops), opt)
	for op, err := range traces.All(s) {
		if err != nil {
			t.Fatal(err)
		}
		if op != ops[op.Line-1] {
			t.Errorf("changed to %+v", op)
		}
		lines = append(lines, op.Line)
	}
	return lines
}

func moment(t *testing.T, text string) *Moment {
	t.Helper()
	m, err := ParseMoment(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestPicks(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Options)
		want   []int64
	}{
		"first":            {func(o *Options) { o.First = 3 }, []int64{1, 2, 3}},
		"from to":          {func(o *Options) { o.From, o.To = moment(t, "+10s"), moment(t, "+12s") }, []int64{11, 12}},
		"absolute":         {func(o *Options) { o.From, o.To = moment(t, "1010.0"), moment(t, "1970-01-01T00:16:51Z") }, []int64{11}},
		"from on":          {func(o *Options) { o.From = moment(t, "+1m38s") }, []int64{99, 100}},
		"to":               {func(o *Options) { o.To = moment(t, "1970-01-01 00:16:41.5") }, []int64{1, 2}},
		"hosts":            {func(o *Options) { o.Hosts, o.First = []uint32{3, 1, 9}, 4 }, []int64{2, 4, 7, 9}},
		"no hosts at all":  {func(o *Options) { o.HostShare = 0 }, nil},
		"host, then first": {func(o *Options) { o.Hosts, o.From, o.First = []uint32{0}, moment(t, "+50s"), 2 }, []int64{51, 56}},
	} {
		o := All()
		c.change(&o)
		if got := pick(t, o); !slices.Equal(got, c.want) {
			t.Errorf("%s: picked lines %v, not %v", name, got, c.want)
		}
	}
	if got := pick(t, All()); len(got) != 100 {
		t.Errorf("all are %d", len(got))
	}
}

// TestSamples: a host or file is in a sample with all its operations or with
// none, a larger share holds a smaller one, and the shares come out right.
func TestSamples(t *testing.T) {
	in := func(share float64, seed uint64) (n int, which map[uint64]bool) {
		s := New(nil, Options{Seed: seed})
		which = make(map[uint64]bool)
		for id := range uint64(10_000) {
			if s.sampled('f', id, share) {
				which[id] = true
			}
		}
		return len(which), which
	}
	n1, small := in(0.1, 1)
	n2, large := in(0.3, 1)
	_, other := in(0.1, 2)
	if n1 < 900 || n1 > 1100 || n2 < 2800 || n2 > 3200 {
		t.Errorf("%d and %d of 10,000", n1, n2)
	}
	both := 0
	for id := range small {
		if !large[id] {
			t.Fatalf("%d is in a tenth and not in three", id)
		}
		if other[id] {
			both++
		}
	}
	if both > 200 {
		t.Errorf("two seeds pick the same %d", both)
	}
	o := All()
	o.HostShare, o.FileShare, o.Seed = 0.5, 0.5, 4
	ops, lines := trace(), pick(t, o)
	if len(lines) == 0 || len(lines) == 100 {
		t.Fatalf("%d lines", len(lines))
	}
	s := New(nil, o)
	for _, op := range ops {
		want := s.sampled('h', uint64(op.Host), 0.5) && s.sampled('f', uint64(op.FID), 0.5)
		if slices.Contains(lines, op.Line) != want {
			t.Errorf("line %d is sampled %v", op.Line, want)
		}
	}
}

func TestEndsAndErrors(t *testing.T) {
	o := All()
	o.First = 1
	broken := errors.New("broken")
	s := New(&failing{broken}, o)
	if _, err := s.Next(); err != broken {
		t.Errorf("got %v", err)
	}
	s = New(traces.Slice(trace()), o)
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	s.src = &failing{broken}
	if _, err := s.Next(); err != io.EOF {
		t.Errorf("it reads on after the last: %v", err)
	}
	for _, o := range []Options{{HostShare: -1}, {HostShare: 1.5}, {FileShare: 2}, {First: -1}} {
		if o.Check() == nil {
			t.Errorf("%+v passes", o)
		}
	}
}

type failing struct{ err error }

func (f *failing) Next() (traces.Op, error) { return traces.Op{}, f.err }

func TestMomentsThatAreNone(t *testing.T) {
	for _, text := range []string{"", "+", "+5", "+-5s", "-5s", "5s", "tomorrow", "1.2.3", "1993-13-01", "."} {
		if m, err := ParseMoment(text); err == nil {
			t.Errorf("%q is %+v", text, m)
		}
	}
}
