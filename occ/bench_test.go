package occ

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

const benchBlocks = 10_000_000

// filled is an index of blocks that were written once, in transactions of a
// thousand.
func filled(blocks int) *Versions {
	v := NewVersions(Faults{})
	writes := make([]Write, 1000)
	for first := 0; first < blocks; first += len(writes) {
		for i := range writes {
			writes[i].Block = BlockID(1 + first + i)
		}
		v.Assign(writes)
		v.Apply(v.Stable()+1, writes, func(Write) uint32 { return 4096 })
	}
	v.SetHorizon(v.Stable())
	return v
}

// BenchmarkIndex10M measures the memory of an index of ten million blocks and
// the time of a forced garbage collection beside it.
func BenchmarkIndex10M(b *testing.B) {
	for b.Loop() {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		v := filled(benchBlocks)
		runtime.GC()
		runtime.ReadMemStats(&after)
		begun := time.Now()
		runtime.GC()
		b.ReportMetric(float64(time.Since(begun).Microseconds())/1000, "gc-ms")
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/benchBlocks, "B/block")
		runtime.KeepAlive(v)
	}
}

func BenchmarkLookup(b *testing.B) {
	v := filled(benchBlocks)
	rng := rand.New(rand.NewPCG(1, 2))
	ids := make([]BlockID, 1<<16)
	for i := range ids {
		ids[i] = BlockID(1 + rng.IntN(benchBlocks))
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if iv, ok := v.Lookup(ids[i%len(ids)], Latest); !ok || iv.To != Open {
			b.Fatal(iv, ok)
		}
		i++
	}
}

// BenchmarkValidate validates read sets of eight blocks.
func BenchmarkValidate(b *testing.B) {
	v := filled(benchBlocks)
	rng := rand.New(rand.NewPCG(1, 2))
	reads := make([]Read, 1<<16)
	for i := range reads {
		block := BlockID(1 + rng.IntN(benchBlocks))
		reads[i] = Read{Block: block, From: v.Current(block)}
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if changed := v.Validate(reads[i : i+8]); changed != nil {
			b.Fatal(changed)
		}
		i = (i + 8) % len(reads)
	}
}
