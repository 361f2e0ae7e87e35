package wire

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tidemark/tidemark/occ"
)

const top = math.MaxUint32 // "below 2^32": ids, timestamps and request numbers

func TestPingSize(t *testing.T) {
	for _, m := range []Message{&Ping{Req: top}, &Pong{Req: top, Stable: top}} {
		if n := len(Append(nil, m)); n > 12 {
			t.Errorf("%T takes %d bytes", m, n)
		}
	}
}

func TestReadSize(t *testing.T) {
	block := make([]byte, 4096)
	block[4095] = 1
	for _, c := range []struct {
		name  string
		read  Read
		reply ReadReply
		max   int
	}{
		{"newest",
			Read{top, []ReadItem{{top, occ.Latest, Absent}}},
			ReadReply{top, top, []ReadResult{{Status: StatusCurrent, From: 0, Data: block}}}, 32},
		{"at a timestamp, first 2^28 requests of a connection",
			Read{1<<28 - 1, []ReadItem{{top, top, Absent}}},
			ReadReply{1<<28 - 1, top, []ReadResult{{Status: StatusClosed, From: 0, To: top, Data: block}}}, 40},
		{"still current",
			Read{top, []ReadItem{{top, occ.Latest, top}}},
			ReadReply{top, top, []ReadResult{{Status: StatusStill, From: 0}}}, 36},
	} {
		n := len(Append(nil, &c.read)) + len(Append(nil, &c.reply)) - len(trim(c.reply.Results[0].Data))
		if n > c.max {
			t.Errorf("%s: %d bytes besides the block, want at most %d", c.name, n, c.max)
		}
	}
}

// deprecations makes a batch of random items below 2^32.
func deprecations(n int, draw func() uint32) *Items {
	m := &Items{Items: make([]Item, n)}
	for i := range m.Items {
		a, b := draw(), draw()
		m.Items[i] = Item{At: occ.Timestamp(max(a, b)), From: occ.Timestamp(min(a, b)), Block: occ.BlockID(draw())}
	}
	slices.SortFunc(m.Items, func(a, b Item) int { return cmp.Compare(a.At, b.At) })
	m.Stable = m.Items[n-1].At
	return m
}

// A deprecation takes at most 12 bytes, everything around the batch
// included, whatever its numbers are: random ones, and the worst that the
// encoding knows.
func TestDeprecationSize(t *testing.T) {
	r := newRand(t)
	batches := map[string]*Items{
		"random":   deprecations(100, r.Uint32),
		"extremes": deprecations(100, func() uint32 { return uint32(-int32(r.IntN(2))) }),
	}
	worst := deprecations(100, r.Uint32)
	for i := range worst.Items {
		worst.Items[i] = Item{At: top/100 + occ.Timestamp(i)*(top/100), Block: top - occ.BlockID(i)}
	}
	worst.Items[0].Block = 1 << 28
	worst.Items[99].At = top
	worst.Stable = 0
	batches["evenly spread"] = worst
	for name, m := range batches {
		n := len(Append(nil, m))
		t.Logf("%s: %.2f bytes each", name, float64(n)/100)
		if n > 1200 {
			t.Errorf("%s: %d bytes for 100 deprecations", name, n)
		}
	}
}

// What happens rather than what could: one transaction that rewrites
// neighbouring blocks, and single deprecations.
func TestTypicalItemsSize(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	m := &Items{Stable: 2_000_000}
	for i := range 100 {
		m.Items = append(m.Items, Item{At: 2_000_000, From: occ.Timestamp(1_990_000 + r.IntN(10_000)), Block: occ.BlockID(700_000 + i)})
	}
	if n := len(Append(nil, m)); n > 320 {
		t.Errorf("100 neighbouring blocks take %d bytes", n)
	}
	m.Items = m.Items[:1]
	if n := len(Append(nil, m)); n > 13 {
		t.Errorf("one deprecation takes %d bytes, frame and all", n)
	}
	own := &Items{Stable: 2_000_000, Items: []Item{{Kind: ItemCommitted, At: 2_000_000, Req: 100}}}
	if n := len(Append(nil, own)); n > 8 {
		t.Errorf("a commit reply takes %d bytes", n)
	}
}
