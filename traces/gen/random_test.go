package gen

import (
	"math"
	"math/big"
	"testing"
)

func TestRandomNumbersHaveTheirMeans(t *testing.T) {
	r := newRandom(1, 1)
	const n = 200_000
	mean := func(draw func() int64) float64 {
		sum := int64(0)
		for range n {
			sum += draw()
		}
		return float64(sum) / n
	}
	for _, c := range []struct {
		what      string
		draw      func() int64
		want, off float64
	}{
		{"below 11", func() int64 { return r.below(11) }, 5, 0.05},
		{"exponential", func() int64 { return r.exponential(1_000_000) }, 1_000_000, 10_000},
		{"octaves 1000 to 8000", func() int64 { return r.octaves(1000, 3) }, 3500, 20},
		{"coin", func() int64 { return int64(r.doubling(40)) }, 1, 0.02},
		{"skewed below 4", func() int64 { return r.skewed(4) }, (0 + 0.5 + 1.5) / 3, 0.01},
		{"chance of 0.3", func() int64 {
			if r.chance(oddsOf(0.3)) {
				return 1
			}
			return 0
		}, 0.3, 0.005},
	} {
		if got := mean(c.draw); math.Abs(got-c.want) > c.off {
			t.Errorf("%s: mean %v, not %v", c.what, got, c.want)
		}
	}
	// An exponential time is over twice its mean with probability e^-2.
	long := mean(func() int64 { return min(1, r.exponential(1000)/2000) })
	if math.Abs(long-math.Exp(-2)) > 0.005 {
		t.Errorf("%v of exponential times are over twice the mean", long)
	}
	if r.chance(0) || !r.chance(certain) || r.exponential(0) != 0 || r.skewed(1) != 0 {
		t.Error("a certain draw is not certain")
	}
}

func TestPortionIsExact(t *testing.T) {
	r := newRandom(2, 0)
	for range 10_000 {
		total, whole := r.below(math.MaxInt64), 1+r.below(math.MaxInt64)
		part := r.below(whole + 1)
		want := new(big.Int).Mul(big.NewInt(total), big.NewInt(part))
		want.Div(want, big.NewInt(whole))
		if got := portion(total, part, whole); got != want.Int64() {
			t.Fatalf("portion(%d, %d, %d) = %d, not %v", total, part, whole, got, want)
		}
	}
}
