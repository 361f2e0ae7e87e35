package gen_test

import (
	"testing"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/gen"
)

const block = 4096

// changes counts the blocks that were written and later overwritten or
// deleted, as Anderson and others do: by whom, and how soon.
type changes struct {
	last           map[traces.FID]map[int64]traces.Op // the last write of each block
	all            int
	foreign, quick int // by another host than wrote last; within 30 s by the same one
}

func (c *changes) change(op, before traces.Op) {
	c.all++
	if before.Host != op.Host {
		c.foreign++
	} else if op.Time-before.Time <= 30_000_000 {
		c.quick++
	}
}

func (c *changes) see(op traces.Op) {
	switch {
	case op.Type == traces.Delete:
		for _, before := range c.last[op.FID] {
			c.change(op, before)
		}
		delete(c.last, op.FID)
	case op.Type == traces.Block && op.Action == traces.Write:
		if c.last[op.FID] == nil {
			c.last[op.FID] = make(map[int64]traces.Op)
		}
		for b := op.Off / block; b*block < op.End(); b++ {
			if before, ok := c.last[op.FID][b]; ok {
				c.change(op, before)
			}
			c.last[op.FID][b] = op
		}
	}
}

// bursts is the share of transactions that begin within 0.1 s of another of
// the same host.
func bursts(ops []traces.Op) float64 {
	last := make(map[uint32]int64)
	follow, all := 0, 0
	for _, op := range ops {
		if op.Type == traces.Block || op.Type == traces.Close {
			continue
		}
		all++
		if before, ok := last[op.Host]; ok && op.Time-before < 100_000 {
			follow++
		}
		last[op.Host] = op.Time
	}
	return float64(follow) / float64(all)
}

// users returns how many files have one user, how many more than one, and how
// many more than half of the hosts.
func users(ops []traces.Op, hosts int) (one, more, most int) {
	who := make(map[traces.FID]map[uint32]bool)
	for _, op := range ops {
		if who[op.FID] == nil {
			who[op.FID] = make(map[uint32]bool)
		}
		who[op.FID][op.Host] = true
	}
	for _, w := range who {
		switch n := len(w); {
		case n == 1:
			one++
		case n > hosts/2:
			most++
			fallthrough
		default:
			more++
		}
	}
	return one, more, most
}

// TestHourShape computes the shape back from the operations. The numbers are
// those of docs/loads.md.
func TestHourShape(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		h := gen.DefaultHour()
		h.Seed = seed
		ops := operations(t, h)
		near := func(what string, got, want, tolerance float64) {
			t.Helper()
			if got < want-tolerance || got > want+tolerance {
				t.Errorf("seed %d: %s: %.3f, not %.3f ± %.3f", seed, what, got, want, tolerance)
			}
		}
		part := func(n, of int) float64 { return float64(n) / float64(of) }

		c := inferred(t, ops)
		near("lone operations", part(int(c.Singles), int(c.Transactions())), 0.674, 0.003)
		near("opens without blocks", part(int(c.EmptyOpens), int(c.ExplicitOpens)), 0.78, 0.01)
		near("transactions in bursts", bursts(ops), 0.915, 0.01)

		ch := changes{last: make(map[traces.FID]map[int64]traces.Op)}
		count := make(map[traces.Type]int)
		transfers, whole, odd, double := 0, 0, 0, 0
		thirds := [3]int{}
		for _, op := range ops {
			ch.see(op)
			count[op.Type]++
			thirds[(op.Time-748_519_200_000_000)*3/h.Duration.Microseconds()]++
			if op.Type != traces.Block {
				continue
			}
			transfers++
			switch {
			case op.Off%block != 0 || op.Size < 1 || op.Size > 2*block:
				t.Fatalf("a transfer that cannot be: %v", op)
			case op.Size == block:
				whole++
			case op.Size == 2*block:
				double++
			default:
				odd++
			}
		}
		near("overwrites by the last writer", 1-part(ch.foreign, ch.all), 0.962, 0.02)
		near("overwrites within 30 s", part(ch.quick, ch.all), 0.33, 0.04)
		near("overwritten blocks", float64(ch.all), 2500, 200)
		near("transfers of one block", part(whole, transfers), 0.69, 0.03)
		near("transfers with an odd tail", part(odd, transfers), 0.275, 0.03)
		near("drift, last third to first", part(thirds[2], thirds[0]), 1.08, 0.03)
		if n := count[traces.Dir] + count[traces.Delete]; n < 500 || n > 1500 || double == 0 {
			t.Errorf("seed %d: %d Dir and Delete records, %d double transfers", seed, n, double)
		}

		one, more, most := users(ops, h.Hosts)
		near("files of one host", part(one, one+more), 0.975, 0.006)
		if most < 5 || most > 32 {
			t.Errorf("seed %d: %d files are used by most hosts", seed, most)
		}
	}
}

// TestSharesShowInTheTrace scales the two shares that can be asked for.
func TestSharesShowInTheTrace(t *testing.T) {
	measure := func(sharing float64) (shared, foreign float64) {
		h := gen.DefaultHour()
		h.Operations, h.SharingShare, h.WriteShare = 30_000, sharing, 0.3
		ops := operations(t, h)
		users := make(map[traces.FID]uint32)
		ch := changes{last: make(map[traces.FID]map[int64]traces.Op)}
		for _, op := range ops {
			ch.see(op)
			if u, ok := users[op.FID]; !ok {
				users[op.FID] = op.Host
			} else if u != op.Host {
				users[op.FID] = 0
			}
		}
		n := 0
		for _, op := range ops {
			if users[op.FID] == 0 {
				n++
			}
		}
		return float64(n) / float64(len(ops)), float64(ch.foreign) / float64(ch.all)
	}
	if shared, foreign := measure(0); shared != 0 || foreign != 0 {
		t.Errorf("without sharing, %.3f of the operations are on shared files", shared)
	}
	little, _ := measure(0.1)
	much, _ := measure(0.8)
	if little <= 0.03 || much < 4*little {
		t.Errorf("%.3f and %.3f of the operations are on shared files", little, much)
	}
}
