package gen_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/gen"
	"github.com/tidemark/tidemark/traces/infer"
)

func open(t testing.TB, h gen.Hour) traces.Input {
	t.Helper()
	src, err := h.Source()
	if err != nil {
		t.Fatal(err)
	}
	in, err := src.Open()
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func operations(t testing.TB, h gen.Hour) (ops []traces.Op) {
	t.Helper()
	for op, err := range traces.All(open(t, h)) {
		if err != nil {
			t.Fatal(err)
		}
		ops = append(ops, op)
	}
	return ops
}

func inferred(t testing.TB, ops []traces.Op) infer.Counts {
	t.Helper()
	e := infer.NewEvents(traces.Slice(ops), infer.Options{})
	for {
		if _, err := e.Next(); err == io.EOF {
			return e.Counts()
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// sound checks what is promised for all parameters.
func sound(t *testing.T, h gen.Hour, ops []traces.Op) {
	t.Helper()
	if int64(len(ops)) != h.Operations {
		t.Fatalf("%+v: %d operations", h, len(ops))
	}
	const start = 748_519_200_000_000
	hosts := make(map[uint32]bool)
	last := int64(start)
	for i, op := range ops {
		if err := op.Check(); err != nil {
			t.Fatal(err)
		}
		if op.Time < last || op.Time >= start+h.Duration.Microseconds() || op.Line != int64(i)+1 {
			t.Fatalf("%+v: operation %d, line %d, at %d after %d", h, i, op.Line, op.Time, last)
		}
		last = op.Time
		hosts[op.Host] = true
	}
	if len(hosts) != h.Hosts {
		t.Errorf("%+v: %d hosts", h, len(hosts))
	}
	c := inferred(t, ops)
	all := int64(math.Round(float64(h.Operations) * 0.69765))
	writes := float64(all) * h.WriteShare
	if c.Transactions() != all || math.Abs(float64(c.ReadWrite)-writes) > 0.501 {
		t.Errorf("%+v: %d read-only and %d read/write transactions, not %d with %.1f read/write", h, c.ReadOnly, c.ReadWrite, all, writes)
	}
	if c.Closed != c.ExplicitOpens || c.ImplicitOpens+c.UnmatchedCloses > 0 {
		t.Errorf("%+v: opens that are not closed, or blocks without one: %+v", h, c)
	}
}

// TestHourHasTheReportsTransactions, whatever the seed.
func TestHourHasTheReportsTransactions(t *testing.T) {
	for seed := range uint64(4) {
		h := gen.DefaultHour()
		h.Seed = seed
		ops := operations(t, h)
		sound(t, h, ops)
		if c := inferred(t, ops); c.ReadOnly != 65_883 || c.ReadWrite != 3_882 {
			t.Errorf("seed %d: %d read-only and %d read/write transactions", seed, c.ReadOnly, c.ReadWrite)
		}
	}
}

func TestHourScales(t *testing.T) {
	d := gen.DefaultHour()
	list := []gen.Hour{
		{Hosts: 1, Operations: 10, Duration: time.Second, WriteShare: d.WriteShare},
		{Hosts: 1, Operations: 1000, Duration: time.Second, WriteShare: 0.5, SharingShare: 1},
		{Hosts: 5000, Operations: 50_000, Duration: time.Hour, WriteShare: d.WriteShare, SharingShare: d.SharingShare},
		{Hosts: 134, Operations: 100_000, Duration: 15 * time.Second, WriteShare: 0.3, SharingShare: 0.6},
		{Hosts: 20, Operations: 20_000, Duration: gen.MaxDuration, WriteShare: 1, SharingShare: 0.5},
		{Hosts: 500, Operations: 400_000, Duration: 48 * time.Hour, WriteShare: d.WriteShare, SharingShare: d.SharingShare},
	}
	for n := range int64(60) { // short ones, where not every kind has room
		for _, w := range []float64{0, 0.05, 0.4, 0.9, 1} {
			list = append(list, gen.Hour{Seed: uint64(n), Hosts: 1 + int(n)/20, Operations: 40 + n, Duration: time.Minute, WriteShare: w, SharingShare: 0.3})
			list = append(list, gen.Hour{Hosts: 1, Operations: 10 + n/3, Duration: time.Minute, WriteShare: w})
		}
	}
	for _, h := range list {
		sound(t, h, operations(t, h))
	}
}

// TestHourIsReproducible: to the byte, on every machine and in every version.
// A change of the trace changes every figure that was measured with it.
func TestHourIsReproducible(t *testing.T) {
	digest := func(h gen.Hour) string {
		sum := sha256.New()
		var line []byte
		for op, err := range traces.All(open(t, h)) {
			if err != nil {
				t.Fatal(err)
			}
			line = append(traces.AppendAuspex(line[:0], op), '\n')
			sum.Write(line)
		}
		return hex.EncodeToString(sum.Sum(nil))
	}
	h := gen.DefaultHour()
	const want = "d98dc6b6fc0a8779907905109b2511e66d922f3061028eb1ac5ab27d4f04d3dc"
	if got := digest(h); got != want {
		t.Errorf("the trace of seed 1 has SHA-256 %s", got)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if got := digest(h); got != want {
		t.Errorf("on one processor it has SHA-256 %s", got)
	}
	h.Seed = 2
	if digest(h) == want {
		t.Error("the seed changes nothing")
	}
}

// TestReadingsAreIndependent reads one source twice at the same time.
func TestReadingsAreIndependent(t *testing.T) {
	h := gen.DefaultHour()
	h.Operations = 5000
	src, err := h.Source()
	if err != nil {
		t.Fatal(err)
	}
	a, _ := src.Open()
	b, _ := src.Open()
	for {
		x, errX := a.Next()
		y, errY := b.Next()
		if x != y || errX != errY {
			t.Fatalf("%v (%v) and %v (%v)", x, errX, y, errY)
		}
		if errX == io.EOF {
			return
		}
	}
}

func TestHourChecksItsParameters(t *testing.T) {
	for name, change := range map[string]func(*gen.Hour){
		"hosts":      func(h *gen.Hour) { h.Hosts = gen.MaxHosts + 1 },
		"operations": func(h *gen.Hour) { h.Operations = gen.MaxOperations + 1 },
		"duration":   func(h *gen.Hour) { h.Duration = gen.MaxDuration + 1 },
		"writes":     func(h *gen.Hour) { h.WriteShare = math.NaN() },
		"sharing":    func(h *gen.Hour) { h.SharingShare = -0.1 },
	} {
		h := gen.DefaultHour()
		change(&h)
		var p *gen.ParamError
		if _, err := h.Source(); !errors.As(err, &p) || p.Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	h := gen.DefaultHour()
	h.Operations = 10*134 - 1
	if h.Check() == nil {
		t.Error("fewer than 10 operations for each host are allowed")
	}
	h = gen.DefaultHour()
	h.Hosts, h.Duration = 1, 99*time.Second
	if h.Check() == nil {
		t.Error("more than 1000 operations a second of one host are allowed")
	}
	h.Duration += time.Second
	if err := h.Check(); err != nil {
		t.Error(err)
	}
}
