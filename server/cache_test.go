package server

import (
	"fmt"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/wal"
)

// figures are the counters of a server.
func (c *rawClient) figures() map[string]uint64 {
	c.t.Helper()
	c.send(&wire.Status{Req: c.next()})
	values := make(map[string]uint64)
	for _, v := range expect[*wire.StatusReply](c).Values {
		values[v.Name] = v.Value
	}
	return values
}

// content is that of a block of 4096 bytes.
func content(b occ.BlockID) string { return fmt.Sprintf("%04096d", b) }

// filled is a store on d of n blocks, each with its content, in commits of 64.
func filled(t *testing.T, log *wal.Memory, d disk.Disk, n int) (*Server, *rawClient) {
	t.Helper()
	s := running(t, Options{Log: log.Open(), Blocks: d, CacheBytes: 1 << 20, CheckpointBytes: 1 << 20})
	c := pipe(t, s).hello(occ.SessionID{})
	for first := 1; first <= n; first += 64 {
		var writes []occ.Write
		for b := first; b < first+64; b++ {
			writes = append(writes, write(occ.BlockID(b), content(occ.BlockID(b))))
		}
		c.committed(nil, writes...)
	}
	return s, c
}

// TestLargerThanCache: a store of 16 times the cache serves all its data, and
// its memory is bounded.
func TestLargerThanCache(t *testing.T) {
	const n = 4096
	s, c := filled(t, wal.NewMemory(occ.StoreID{}, 64<<20), disk.NewMemory(), n)
	check := func() {
		t.Helper()
		v := c.figures()
		if v["cache_bytes"] > 1<<20 || v["dirty_bytes"] > 2<<20+256<<10 || v["block_slots"] > n+512 {
			t.Fatalf("%v", v)
		}
	}
	check()
	for first := occ.BlockID(1); first <= n; first += 64 {
		m := &wire.Read{Req: c.next()}
		for b := first; b < first+64; b++ {
			m.Items = append(m.Items, wire.ReadItem{Block: b*1021%n + 1, At: occ.Latest, Have: wire.Absent})
		}
		c.send(m)
		for i, r := range expect[*wire.ReadReply](c).Results {
			if b := m.Items[i].Block; string(r.Data) != content(b) {
				t.Fatalf("block %d: status %d, %d bytes", b, r.Status, len(r.Data))
			}
		}
		check()
	}
	if v := c.figures(); v["cache_misses"] == 0 || v["checkpoints"] == 0 {
		t.Fatalf("%v", v)
	}
	shutdown(t, s)
}

// TestStalledRead: a read that the disk holds up holds up nothing but itself,
// and is answered with what is true then.
func TestStalledRead(t *testing.T) {
	d, log := disk.NewMemory(), wal.NewMemory(occ.StoreID{}, 64<<20)
	s, _ := filled(t, log, d, 512)
	shutdown(t, s)
	f := disk.NewFaulty(d)
	s = running(t, Options{Log: log.Open(), Blocks: f, CacheBytes: 1 << 20})
	t.Cleanup(f.Release)
	a, b := pipe(t, s).hello(occ.SessionID{}), pipe(t, s).hello(occ.SessionID{})
	f.Inject(disk.Fault{Op: disk.OpRead, Nth: f.Count(disk.OpRead) + 1, Kind: disk.Stall})
	a.send(&wire.Read{Req: a.next(), Items: []wire.ReadItem{{Block: 1, At: occ.Latest, Have: wire.Absent}}})
	held := a.req
	<-f.Stalled()
	b.reads(300, 5, content(300))
	a.reads(301, 5, content(301)) // overtakes
	if at := b.committed(nil, write(1, "newer"), write(2, "x")); at != 9 {
		t.Fatalf("committed at %d", at)
	}
	b.reads(1, 9, "newer")
	f.Release()
	if r := expect[*wire.ReadReply](a); r.Req != held || r.Results[0].From != 9 || string(r.Results[0].Data) != "newer" {
		t.Fatalf("%d: %+v", r.Req, r.Results[0].From)
	}
}
