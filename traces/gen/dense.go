package gen

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tidemark/tidemark/traces"
)

// DenseName is how the dense load is called.
const DenseName = "dense"

// Dense are the parameters of a short load with far more in each second than
// the hour has: hosts that read the same blocks again, data that some hosts
// write and others read, and conflicts. Every field of DefaultDense is an
// assumption, except ReadOnly, which is the report's share of read-only
// transactions.
type Dense struct {
	Seed     uint64
	Hosts    int
	Duration time.Duration
	// A host is idle for a random time of mean Idle, then issues a burst of
	// transactions, Burst on average, one each Gap on average.
	Idle, Gap time.Duration
	Burst     float64
	// ReadOnly is the share of transactions that only read, and Stat the
	// share of these that are a lone Attr record.
	ReadOnly, Stat float64
	// Each host re-reads and writes OwnFiles files of its own; the Group
	// hosts of a workgroup read SharedFiles more; each has FileBlocks blocks.
	Group, OwnFiles, SharedFiles, FileBlocks int
	// SharedReads and SharedWrites are the shares of accesses that go to
	// shared files.
	SharedReads, SharedWrites float64
}

// DefaultDense returns the parameters of the load "dense".
func DefaultDense() Dense {
	return Dense{
		Seed: 1, Hosts: 128, Duration: 15 * time.Second,
		Idle: 400 * time.Millisecond, Gap: 8 * time.Millisecond, Burst: 24,
		ReadOnly: 0.944, Stat: 0.6,
		Group: 8, OwnFiles: 4, SharedFiles: 8, FileBlocks: 2,
		SharedReads: 0.3, SharedWrites: 0.04,
	}
}

// epoch is the time of its first operation, an arbitrary second.
const epoch = int64(1_000_000_000_000_000)

// Ops returns the operations of the load in order of time. The same
// parameters give the same operations.
func (p Dense) Ops() []traces.Op {
	var ops []traces.Op
	for h := range p.Hosts {
		g := &denseHost{p: p, host: uint32(1000 + h), rng: rand.New(rand.NewPCG(p.Seed, uint64(h)))}
		ops = append(ops, g.run()...)
	}
	slices.SortStableFunc(ops, func(a, b traces.Op) int { return cmp.Compare(a.Time, b.Time) })
	return ops
}

// Source returns the load as a trace. Each reading makes the operations anew.
func (p Dense) Source() traces.Source {
	return source{DenseName, func() traces.Stream {
		ops := p.Ops()
		for i := range ops {
			ops[i].Line = int64(i) + 1
		}
		return traces.Slice(ops)
	}}
}

// denseHost makes the operations of one host.
type denseHost struct {
	p    Dense
	host uint32
	rng  *rand.Rand
	now  float64 // seconds
	ops  []traces.Op
}

func (g *denseHost) run() []traces.Op {
	g.touchAll()
	end := g.p.Duration.Seconds()
	for {
		g.now += g.rng.ExpFloat64() * g.p.Idle.Seconds()
		for n := 1 + int(g.rng.ExpFloat64()*(g.p.Burst-1)); n > 0; n-- {
			g.now += g.rng.ExpFloat64() * g.p.Gap.Seconds()
			if g.now >= end {
				return g.ops
			}
			g.transaction()
		}
	}
}

// touchAll stats all files within the first second, so that they are in the
// starting image.
func (g *denseHost) touchAll() {
	for i := range g.p.OwnFiles {
		g.now = g.rng.Float64()
		g.emit(traces.Attr, traces.Read, g.own(i), 0, 0)
	}
	for i := range g.p.SharedFiles {
		g.now = g.rng.Float64()
		g.emit(traces.Attr, traces.Read, g.shared(i), 0, 0)
	}
	g.now = 1
}

// own is file i of the host.
func (g *denseHost) own(i int) traces.FID { return traces.FID(uint64(g.host)<<32 | uint64(i)) }

// shared is file i of the host's workgroup.
func (g *denseHost) shared(i int) traces.FID {
	return traces.FID(uint64(int(g.host)/g.p.Group)<<16 | uint64(i))
}

// pick chooses a file. The hot set is skewed: of two draws the lower one, so
// that the first files are used most.
func (g *denseHost) pick(sharedShare float64) traces.FID {
	if g.rng.Float64() < sharedShare {
		return g.shared(min(g.rng.IntN(g.p.SharedFiles), g.rng.IntN(g.p.SharedFiles)))
	}
	return g.own(min(g.rng.IntN(g.p.OwnFiles), g.rng.IntN(g.p.OwnFiles)))
}

func (g *denseHost) transaction() {
	if g.rng.Float64() >= g.p.ReadOnly {
		g.file(g.pick(g.p.SharedWrites), true)
		return
	}
	fid := g.pick(g.p.SharedReads)
	if g.rng.Float64() < g.p.Stat {
		g.emit(traces.Attr, traces.Read, fid, 0, 0)
		return
	}
	g.file(fid, false)
}

// file opens a file, moves one to FileBlocks blocks, and closes it.
func (g *denseHost) file(fid traces.FID, write bool) {
	size := int64(g.p.FileBlocks) * blockBytes
	g.emit(traces.Open, traces.Read, fid, size, 0)
	first := g.rng.IntN(g.p.FileBlocks)
	for i := range 1 + g.rng.IntN(g.p.FileBlocks-first) {
		g.now += g.rng.ExpFloat64() * 0.001
		action := traces.Read
		if write && i == 0 {
			action = traces.Write
		}
		g.emit(traces.Block, action, fid, int64(first+i)*blockBytes, blockBytes)
	}
	g.now += g.rng.ExpFloat64() * 0.001
	g.emit(traces.Close, traces.Read, fid, size, 0)
}

func (g *denseHost) emit(t traces.Type, a traces.Action, fid traces.FID, off, size int64) {
	g.ops = append(g.ops, traces.Op{
		Time: epoch + int64(g.now*1e6), Type: t, Action: a, FID: fid, Off: off, Size: size, Host: g.host,
	})
}
