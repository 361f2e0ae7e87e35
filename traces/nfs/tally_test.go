package nfs

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"testing"

	"github.com/tidemark/tidemark/traces"
)

func end(s string) End { return EndOf(netip.MustParseAddrPort(s)) }

func TestAddr(t *testing.T) {
	for want, a := range map[string]Addr{
		"10.0.0.1": end("10.0.0.1:1").Addr, "fe80::1": AddrOf(netip.MustParseAddr("fe80::1%eth0")), "1f": NumberAddr(0x1f),
		"ffffffffffffffff": NumberAddr(1<<64 - 1),
	} {
		if a.String() != want {
			t.Errorf("got %s, want %s", a, want)
		}
	}
	if end("10.0.0.1:1").Addr != AddrOf(netip.MustParseAddr("::ffff:10.0.0.1")) {
		t.Error("an IPv4 address differs from its IPv6 form")
	}
}

func TestHosts(t *testing.T) {
	var h Hosts
	for i, n := range []uint64{7, 5, 7, 6, 5} {
		if got, want := h.Number(NumberAddr(n)), []uint32{1, 2, 1, 3, 2}[i]; got != want {
			t.Errorf("client %d is number %d", n, got)
		}
	}
	for n := range uint64(MaxHosts + 10) {
		h.Number(NumberAddr(n))
	}
	if h.Len() != MaxHosts || h.Beyond() != 10 || h.Number(NumberAddr(1<<40)) != MaxHosts+1 || h.Has(NumberAddr(1<<40)) || !h.Has(NumberAddr(7)) {
		t.Errorf("%d clients, %d beyond", h.Len(), h.Beyond())
	}
	next := uint32(1)
	for n, a := range h.All() {
		if n != next || h.Number(a) != n {
			t.Fatalf("number %d is %s", n, a)
		}
		next++
	}
}

func TestTally(t *testing.T) {
	var tally Tally
	if tally.Findings(Matches{}) != nil {
		t.Error("nothing was found of nothing")
	}
	server := end("10.0.0.9:2049")
	call := func(time int64, client string, tcp bool, version, proc uint32) uint32 {
		return tally.Call(&Message{Time: time, Client: end(client), Server: server, TCP: tcp, Version: version}, proc)
	}
	if call(50, "10.0.0.1:900", true, 3, 7) != 1 || call(60, "10.0.0.2:900", false, 2, 8) != 2 || call(40, "10.0.0.1:901", true, 4, 1) != 1 {
		t.Error("clients have other numbers")
	}
	call(51, "10.0.0.1:900", true, 3, 17)
	call(51, "10.0.0.1:900", true, 3, 99)
	call(51, "10.0.0.1:900", true, 9, 1)
	for _, op := range []uint32{22, 9, 9, 2000, 2} {
		tally.Operation(op)
	}
	for _, status := range []uint32{0, 2, 2, 70, 12345} {
		tally.Status(status)
	}
	tally.Reply(&Message{Time: 90, Client: end("10.0.0.3:1"), Server: server})
	want := []traces.Finding{
		{Group: "NFS messages", Name: "calls", Count: 6},
		{Group: "NFS messages", Name: "replies", Count: 1},
		{Group: "NFS messages", Name: "matched replies", Count: 3},
		{Group: "NFS messages", Name: "calls over TCP", Count: 5},
		{Group: "NFS messages", Name: "calls over UDP", Count: 1},
		{Group: "NFS messages", Name: "clients", Count: 2},
		{Group: "NFS messages", Name: "connections", Count: 3},
		{Group: "NFS messages", Name: "servers", Count: 1},
		{Group: "NFS messages", Name: "microseconds from first to last", Count: 50},
		{Group: "NFS messages", Name: "calls of another version", Count: 1, Odd: true},
		{Group: "NFS messages", Name: "retransmitted calls", Count: 1, Odd: true},
		{Group: "NFS messages", Name: "calls without a reply", Count: 2, Odd: true},
		{Group: "NFS messages", Name: "late replies", Count: 1, Odd: true},
		{Group: "NFS messages", Name: "repeated replies", Count: 4, Odd: true},
		{Group: "NFS messages", Name: "replies without a call", Count: 5, Odd: true},
		{Group: "NFS messages", Name: "clients in replies only", Count: 1, Odd: true},
		{Group: "NFS version 2 calls", Name: "WRITE", Count: 1},
		{Group: "NFS version 3 calls", Name: "WRITE", Count: 1},
		{Group: "NFS version 3 calls", Name: "READDIRPLUS", Count: 1},
		{Group: "NFS version 3 calls", Name: "unknown", Count: 1},
		{Group: "NFS version 4 calls", Name: "COMPOUND", Count: 1},
		{Group: "NFS version 4 operations", Name: "GETATTR", Count: 2},
		{Group: "NFS version 4 operations", Name: "PUTFH", Count: 1},
		{Group: "NFS version 4 operations", Name: "unknown", Count: 2},
		{Group: "NFS errors", Name: "NOENT", Count: 2},
		{Group: "NFS errors", Name: "STALE", Count: 1},
		{Group: "NFS errors", Name: "of unknown status", Count: 1, Odd: true},
	}
	got := tally.Findings(Matches{Calls: 6, Retransmitted: 1, Matched: 2, Late: 1, Duplicate: 4, Orphans: 5})
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if first, last := tally.Span(); first != 40 || last != 90 || tally.Messages() != 7 || tally.Calls() != 6 {
		t.Errorf("%d messages from %d to %d", tally.Messages(), first, last)
	}
}

func TestTallyIsBounded(t *testing.T) {
	var tally Tally
	for i := range uint32(MaxEnds + 5) {
		var a [4]byte
		binary.BigEndian.PutUint32(a[:], i)
		e := EndOf(netip.AddrPortFrom(netip.AddrFrom4(a), 1))
		tally.Call(&Message{Client: e, Server: e, Version: 3}, 1)
	}
	if len(tally.connections.seen) != MaxEnds || tally.connections.beyond != 5 || len(tally.servers.seen) != MaxEnds || tally.servers.beyond != 5 {
		t.Errorf("%d connections", len(tally.connections.seen))
	}
}

func TestProcedures(t *testing.T) {
	for _, c := range []struct {
		version, number uint32
		name            string
		proc            Proc
	}{
		{2, 8, "WRITE", Write}, {2, 16, "READDIR", ReadDir}, {2, 17, "STATFS", Other}, {2, 18, "unknown", Other},
		{3, 3, "LOOKUP", Lookup}, {3, 17, "READDIRPLUS", ReadDir}, {3, 21, "COMMIT", Commit}, {3, 1 << 31, "unknown", Other},
		{4, 1, "COMPOUND", Other}, {5, 1, "unknown", Other},
	} {
		if name, proc := ProcName(c.version, c.number), ProcOf(c.version, c.number); name != c.name || proc != c.proc {
			t.Errorf("version %d, %d: %s, %d", c.version, c.number, name, proc)
		}
	}
	for number, want := range map[uint32]string{0: "unknown", 3: "ACCESS", 18: "OPEN", 39: "RELEASE_LOCKOWNER", 53: "SEQUENCE", 58: "RECLAIM_COMPLETE", 71: "CLONE", 75: "REMOVEXATTR", 76: "unknown"} {
		if got := OperationName(number); got != want {
			t.Errorf("operation %d is %s", number, got)
		}
	}
	if OperationOf(38) != Write || OperationOf(22) != Other || OperationOf(9999) != Other {
		t.Error("operations are others")
	}
}
