package exp

import (
	"errors"
	"testing"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/history"
	"github.com/tidemark/tidemark/occ/wire"
)

// sized makes versions of block b that began at ts cost 1000·b + ts bytes.
func sized(b occ.BlockID, ts occ.Timestamp) int { return 1000*int(b) + int(ts) }

// part makes the write of such a version cost half as much.
func part(b occ.BlockID, ts occ.Timestamp) int { return sized(b, ts) / 2 }

func TestCompulsoryTraffic(t *testing.T) {
	l := Ledger{Size: sized, Sent: part}
	want := uint64(0)
	for i, c := range []struct {
		event history.Event
		costs uint64
	}{
		// A client fetches what it reads ...
		{history.Event{Client: 1, Reads: []occ.Read{{Block: 1, From: 5}, {Block: 2, From: 0}}}, 1005 + 2000},
		// ... once, whatever becomes of the transaction ...
		{history.Event{Client: 1, Reads: []occ.Read{{Block: 1, From: 5}}}, 0},
		{history.Event{Client: 1, Kind: history.Aborted, Reads: []occ.Read{{Block: 2, From: 0}, {Block: 3, From: 2}}}, 3002},
		{history.Event{Client: 1, Kind: history.Validated, Reads: []occ.Read{{Block: 3, From: 2}}}, 0},
		// ... each client and each version for itself.
		{history.Event{Client: 2, Reads: []occ.Read{{Block: 1, From: 5}}}, 1005},
		{history.Event{Client: 1, Reads: []occ.Read{{Block: 1, From: 6}}}, 1006},
		// What it writes it sends, and need not fetch.
		{history.Event{Client: 1, Kind: history.Committed, Commit: 7, Reads: []occ.Read{{Block: 1, From: 6}}, Writes: []occ.BlockID{1, 4}}, 503 + 2003},
		{history.Event{Client: 1, Reads: []occ.Read{{Block: 1, From: 7}, {Block: 4, From: 7}}}, 0},
		{history.Event{Client: 2, Reads: []occ.Read{{Block: 4, From: 7}}}, 4007},
		// What did not commit need not have been sent.
		{history.Event{Client: 2, Kind: history.Aborted, Writes: []occ.BlockID{9}}, 0},
	} {
		l.Record(c.event)
		if want += c.costs; l.Compulsory() != want {
			t.Fatalf("after event %d: %d bytes, want %d", i, l.Compulsory(), want)
		}
	}
}

func TestStaleness(t *testing.T) {
	for _, c := range []struct {
		name  string
		lo    occ.Timestamp
		begin time.Duration
		want  time.Duration
	}{
		{"at the newest state", 3, 9 * time.Second, 0},
		{"superseded 2 s before it began", 2, 9 * time.Second, 2 * time.Second},
		{"superseded at the moment it began", 2, 7 * time.Second, 0},
		{"superseded while it ran", 2, 6 * time.Second, 0},
		{"two commits back", 1, 9 * time.Second, 5 * time.Second},
		{"the empty store", 0, 9 * time.Second, 5 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l Ledger
			l.Applied(0, 0)
			l.Applied(4*time.Second, 2) // 1 and 2 become stable together
			l.Applied(7*time.Second, 3)
			l.Applied(8*time.Second, 3) // nothing new
			l.Record(history.Event{Kind: history.ReadOnly, Lo: c.lo, Hi: 3, Begin: c.begin})
			if q := l.Staleness.Quantiles(); q.Count != 1 || !(q.Max == c.want.Seconds() || near(q.Max, c.want.Seconds())) {
				t.Errorf("%+v, want %v", q, c.want)
			}
		})
	}
	// Only local read-only transactions are stale.
	l := Ledger{Size: sized}
	for _, k := range []history.Kind{history.Validated, history.Committed, history.Aborted} {
		l.Record(history.Event{Kind: k})
	}
	if q := l.Staleness.Quantiles(); q.Count != 0 {
		t.Errorf("%+v", q)
	}
}

func TestTrafficIsSorted(t *testing.T) {
	var host, builder client.Stats
	sent, received := &host.Traffic.Sent, &host.Traffic.Received
	sent[wire.TypeHello] = client.Count{Messages: 1, Bytes: 10}
	received[wire.TypeWelcome] = client.Count{Messages: 1, Bytes: 20}
	sent[wire.TypeRead] = client.Count{Messages: 3, Bytes: 30}
	received[wire.TypeReadReply] = client.Count{Messages: 3, Bytes: 400}
	received[wire.TypeItems] = client.Count{Messages: 2, Bytes: 50}
	sent[wire.TypeStatus] = client.Count{Messages: 5, Bytes: 500}
	host.Stats = core.Stats{ReadOnly: 4}
	builder.Traffic.Sent[wire.TypeCommit] = client.Count{Messages: 7, Bytes: 7000}
	builder.Stats = core.Stats{ReadWrite: 9}

	var f Figures
	f.AddClient(host, false)
	f.AddClient(host, false)
	f.AddClient(builder, true)
	tr := f.Traffic
	if tr.Messages != 16 || tr.Bytes != 960 || tr.RoundTrips != 6 {
		t.Errorf("traffic %+v", tr)
	}
	if tr.Setup != (Count{11, 7060}) {
		t.Errorf("setup %+v", tr.Setup)
	}
	if len(tr.ByType) != 3 || tr.ByType[wire.TypeReadReply.String()] != (Count{6, 800}) {
		t.Errorf("by type %+v", tr.ByType)
	}
	if f.Clients.ReadOnly != 8 || f.Clients.ReadWrite != 0 {
		t.Errorf("clients %+v", f.Clients)
	}
}

func TestFiguresThatAreVoid(t *testing.T) {
	var f Figures
	f.Replay.Failed = 3
	if err := f.Err(); err != nil {
		t.Errorf("transactions that were given up: %v", err)
	}
	f.Problems = 2
	if f.Err() == nil {
		t.Error("a broken file system is no error")
	}
	f.History.Total = 1
	if err := f.Err(); !errors.As(err, new(*history.Error)) {
		t.Errorf("a violation: %v", err)
	}
}
