package tcp

import (
	"container/list"
	"net/netip"

	"github.com/tidemark/tidemark/traces/capture/packet"
)

const (
	// MaxFlows is how many flows are followed at a time.
	MaxFlows = 16384
	// MaxHeld is how many bytes of all flows are held back because others
	// before them are missing.
	MaxHeld = 16 << 20
	// MaxFlowHeld is the same for one flow.
	MaxFlowHeld = 4 << 20
	// MaxFlowSegments is how many segments of one flow are held back.
	MaxFlowSegments = 2048
	// MaxWait is how long in microseconds of the capture a missing segment is
	// waited for: longer than retransmission takes at first, no longer than
	// a trace may be out of order.
	MaxWait = 1_000_000

	// farAway is a distance in sequence numbers that no window reaches: what
	// is beyond it belongs to another connection, or the capture has paused.
	farAway = 1 << 26
	// overhead is what a segment counts besides its bytes.
	overhead = 64
)

// key names a flow.
type key struct{ src, dst netip.AddrPort }

// Table holds the flows. It is not safe for concurrent use.
type Table struct {
	sink    func(src, dst netip.AddrPort) Sink
	flows   map[key]*flow
	used    *list.List // of *flow, the one used longest ago first
	waiting *list.List // of *flow, those with a gap, the oldest gap first
	held    int
	counts  Counts
}

// NewTable returns a Table without flows, which asks for the sink of each.
func NewTable(sink func(src, dst netip.AddrPort) Sink) *Table {
	return &Table{sink: sink, flows: make(map[key]*flow), used: list.New(), waiting: list.New()}
}

// Counts returns what was counted so far.
func (t *Table) Counts() Counts { return t.counts }

// Add takes a segment.
func (t *Table) Add(p packet.Packet) {
	for e := t.waiting.Front(); e != nil; e = t.waiting.Front() {
		f := e.Value.(*flow)
		// A capture may step back in time, as when its clock was set.
		if p.Time-f.since <= MaxWait && p.Time >= f.since-MaxWait && t.held <= MaxHeld {
			break
		}
		f.skip(p.Time)
	}
	k := key{p.Src, p.Dst}
	f := t.flows[k]
	if p.Acks {
		t.acknowledge(f, k, p)
	}
	switch {
	case f != nil:
		t.used.MoveToBack(f.use)
	case p.Length > 0 || p.Syn:
		f = t.open(k, p)
	default:
		return
	}
	if p.Syn && f.first != p.Seq {
		f.flush(p.Time)
		f.begin(p.Seq, true)
	}
	if p.Length > 0 {
		f.segment(p)
	}
	if p.Rst {
		f.flush(p.Time)
		t.forget(f)
	}
}

// acknowledge tells the opposite of a flow, which may be nil, what has come.
// This goes before the payload, which may be the reply to it.
func (t *Table) acknowledge(f *flow, k key, p packet.Packet) {
	var peer *flow
	if f != nil {
		peer = f.peer
	} else {
		peer = t.flows[key{k.dst, k.src}]
	}
	if peer != nil {
		peer.acknowledged(p.Time, p.Ack)
	}
}

// Flush gives out what is held back. It ends the table at a time.
func (t *Table) Flush(time int64) {
	for e := t.waiting.Front(); e != nil; e = t.waiting.Front() {
		e.Value.(*flow).flush(time)
	}
	for e := t.used.Front(); e != nil; e = t.used.Front() {
		t.forget(e.Value.(*flow))
	}
}

func (t *Table) open(k key, p packet.Packet) *flow {
	if len(t.flows) == MaxFlows {
		oldest := t.used.Front().Value.(*flow)
		oldest.flush(p.Time)
		t.forget(oldest)
		t.counts.Evicted++
	}
	f := &flow{table: t, key: k, sink: t.sink(k.src, k.dst)}
	f.use = t.used.PushBack(f)
	t.flows[k] = f
	if f.peer = t.flows[key{k.dst, k.src}]; f.peer != nil {
		f.peer.peer = f
	}
	f.begin(p.Seq, p.Syn)
	return f
}

// forget ends a flow that holds nothing back.
func (t *Table) forget(f *flow) {
	f.sink.End()
	t.used.Remove(f.use)
	if f.peer != nil {
		f.peer.peer = nil
	}
	delete(t.flows, f.key)
}
