package history

import (
	"math/rand/v2"
	"testing"

	"github.com/tidemark/tidemark/occ"
)

// benchHistory is 94% read-only, with eight reads each from 10,000 blocks.
func benchHistory(n int) []Event {
	const blocks, clients = 10_000, 56
	rng := rand.New(rand.NewPCG(1, 1))
	newest := make([]occ.Timestamp, blocks)
	var seq [clients]uint64
	var stable occ.Timestamp
	events := make([]Event, 0, n)
	for range n {
		c := rng.IntN(clients)
		e := Event{Client: c, Kind: ReadOnly, Lo: stable, Hi: stable, BeginSeq: seq[c] + 1, EndSeq: seq[c] + 2}
		seq[c] += 2
		for range 8 {
			b := rng.IntN(blocks)
			e.Reads = append(e.Reads, occ.Read{Block: occ.BlockID(b), From: newest[b]})
		}
		if rng.IntN(100) >= 94 {
			stable++
			e.Kind, e.Commit = Committed, stable
			for range 2 {
				b := rng.IntN(blocks)
				e.Writes = append(e.Writes, occ.BlockID(b))
				newest[b] = stable
			}
		}
		events = append(events, e)
	}
	return events
}

func benchmarkRecord(b *testing.B, shuffle int) {
	const n = 200_000
	events := benchHistory(n)
	rng := rand.New(rand.NewPCG(2, 2))
	for i := 0; shuffle > 0 && i+shuffle <= n; i += shuffle {
		part := events[i : i+shuffle]
		rng.Shuffle(shuffle, func(i, j int) { part[i], part[j] = part[j], part[i] })
	}
	b.ReportAllocs()
	done := 0
	for b.Loop() {
		c := New(Options{Window: 2000})
		for _, e := range events {
			c.Record(e)
		}
		if err := c.Finish().Err(); err != nil {
			b.Fatal(err)
		}
		done += n
	}
	b.ReportMetric(float64(done)/b.Elapsed().Seconds(), "events/s")
}

// One operation is a history of 200,000 events.
func BenchmarkRecordInOrder(b *testing.B)    { benchmarkRecord(b, 0) }
func BenchmarkRecordOutOfOrder(b *testing.B) { benchmarkRecord(b, 1000) }
