package gen

import (
	"math/bits"
	"math/rand/v2"
)

// random draws in integers alone, so that no machine's way of rounding can
// change a trace.
type random struct{ src *rand.PCG }

func newRandom(seed, stream uint64) random { return random{rand.NewPCG(seed, stream)} }

// below returns a number from 0 to n-1.
func (r random) below(n int64) int64 {
	hi, _ := bits.Mul64(r.src.Uint64(), uint64(n))
	return int64(hi)
}

// odds is a probability in units of 2^-32.
type odds uint64

const certain odds = 1 << 32

// oddsOf converts a share from 0 to 1. The product is exact.
func oddsOf(share float64) odds { return odds(share * float64(certain)) }

func (r random) chance(p odds) bool { return odds(r.src.Uint64()>>32) < p }

// exponential returns a time with the given mean, by von Neumann's method
// (1951), which only compares: a run of falling numbers of odd length keeps
// its first one, an even one adds a whole mean and begins anew.
func (r random) exponential(mean int64) int64 {
	for whole := int64(0); ; whole += mean {
		first := r.src.Uint64()
		length := 1
		for last := first; ; length++ {
			next := r.src.Uint64()
			if next >= last {
				break
			}
			last = next
		}
		if length%2 == 1 {
			hi, _ := bits.Mul64(first, uint64(mean))
			return whole + int64(hi)
		}
	}
}

// octaves returns a number from least to least<<n: each doubling is as likely
// as any other.
func (r random) octaves(least int64, n int64) int64 {
	v := least << r.below(n)
	return v + r.below(v)
}

// skewed returns a number from 0 to n-1, low ones far more often: each of the
// ranges up to 1, 2, 4 and so on is drawn as often as any other.
func (r random) skewed(n int64) int64 {
	return r.below(min(n, 1<<r.below(int64(bits.Len64(uint64(n-1)))+1)))
}

// doubling returns how often a coin falls heads before it falls tails, at most
// limit times.
func (r random) doubling(limit int) int { return min(bits.TrailingZeros64(r.src.Uint64()), limit) }

// shuffle puts the first n of something in random order.
func (r random) shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, int(r.below(int64(i+1))))
	}
}

// portion returns total*part/whole, rounded down; part is at most whole.
func portion(total, part, whole int64) int64 {
	hi, lo := bits.Mul64(uint64(total), uint64(part))
	q, _ := bits.Div64(hi, lo, uint64(whole))
	return int64(q)
}
