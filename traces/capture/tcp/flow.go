package tcp

import (
	"container/list"
	"slices"

	"github.com/tidemark/tidemark/traces/capture/packet"
)

// segment is one that is held back.
type segment struct {
	seq    uint32
	length int    // as sent
	data   []byte // as captured
}

// flow is one direction of a connection.
type flow struct {
	table *Table
	key   key
	sink  Sink
	use   *list.Element // in table.used
	peer  *flow         // the opposite direction, nil if unknown

	first uint32 // number of the first byte
	next  uint32 // number of the next byte to be given out
	acked uint32 // every byte before it has come to the other end; never before next

	segments []segment     // held back, sorted by distance from next
	held     int           // bytes of segments, with overhead
	wait     *list.Element // in table.waiting, nil if nothing is held back
	since    int64         // time of the gap
}

// begin starts the flow over at a sequence number. Nothing may be held back.
func (f *flow) begin(seq uint32, start bool) {
	f.first, f.next, f.acked = seq, seq, seq
	f.table.counts.Flows++
	f.sink.Begin(start)
}

// ahead is how far in the sequence a number is from the next byte.
func (f *flow) ahead(seq uint32) int { return int(int32(seq - f.next)) }

// advance moves on to a number at most 2*farAway ahead. What the other end has
// acknowledged moves along: left behind by 2 GiB, it would seem to be ahead.
func (f *flow) advance(seq uint32) {
	f.next = seq
	if f.ahead(f.acked) < 0 {
		f.acked = seq
	}
}

// segment takes the payload of a packet.
func (f *flow) segment(p packet.Packet) {
	s := segment{p.Seq, p.Length, p.Payload}
	ahead := f.ahead(s.seq)
	if ahead > farAway || ahead+s.length < -farAway {
		f.flush(p.Time)
		f.table.counts.Jumps++
		f.begin(s.seq, false)
		ahead = 0
	}
	switch {
	case ahead+s.length <= 0:
		f.table.counts.Repeated++
	case ahead <= 0:
		f.give(p.Time, s)
		f.drain(p.Time)
	default:
		f.hold(p.Time, s)
	}
}

// give gives out what is new of a segment that begins no later than the next
// byte.
func (f *flow) give(time int64, s segment) {
	old := -f.ahead(s.seq)
	if old >= s.length {
		return
	}
	f.advance(s.seq + uint32(s.length))
	if old < len(s.data) {
		f.sink.Data(time, s.data[old:])
		old = len(s.data)
	}
	if cut := s.length - old; cut > 0 {
		f.table.counts.Cut += int64(cut)
		f.sink.Gap(time, cut)
	}
}

// hold keeps a segment until the bytes before it come.
func (f *flow) hold(time int64, s segment) {
	at, found := slices.BinarySearchFunc(f.segments, f.ahead(s.seq), func(h segment, ahead int) int { return f.ahead(h.seq) - ahead })
	if found && f.segments[at].length >= s.length {
		f.table.counts.Repeated++
		return
	}
	if f.wait == nil {
		f.since = time
		f.wait = f.table.waiting.PushBack(f)
	} else if at < len(f.segments) {
		f.table.counts.Late++
	}
	s.data = slices.Clone(s.data)
	f.segments = slices.Insert(f.segments, at, s)
	f.account(len(s.data) + overhead)
	for len(f.segments) > MaxFlowSegments || f.held > MaxFlowHeld {
		f.skip(time)
	}
	f.skipAcknowledged(time)
}

// acknowledged says that the other end has every byte before a number.
func (f *flow) acknowledged(time int64, ack uint32) {
	if ahead := f.ahead(ack); ahead > 0 && ahead <= farAway && ahead > f.ahead(f.acked) {
		f.acked = ack
		f.skipAcknowledged(time)
	}
}

// skipAcknowledged gives up waiting for bytes that the other end has: nobody
// will send them again, so the capture has missed them.
func (f *flow) skipAcknowledged(time int64) {
	for len(f.segments) > 0 && f.ahead(f.acked) >= f.ahead(f.segments[0].seq) {
		f.skip(time)
	}
}

func (f *flow) account(n int) {
	f.held += n
	f.table.held += n
}

// drain gives out the segments that follow without a gap.
func (f *flow) drain(time int64) {
	n := 0
	for ; n < len(f.segments) && f.ahead(f.segments[n].seq) <= 0; n++ {
		f.give(time, f.segments[n])
		f.account(-len(f.segments[n].data) - overhead)
	}
	if n == 0 {
		return
	}
	f.table.counts.Late++ // what filled the gap
	f.settle(time, n)
}

// settle removes the first n segments, which were given out.
func (f *flow) settle(time int64, n int) {
	f.segments = slices.Delete(f.segments, 0, n)
	f.table.waiting.Remove(f.wait)
	f.wait = nil
	if len(f.segments) == 0 {
		f.segments = nil
		return
	}
	f.since = time // another gap
	f.wait = f.table.waiting.PushBack(f)
}

// skip gives up waiting for the bytes before the first segment held back.
func (f *flow) skip(time int64) {
	n := f.ahead(f.segments[0].seq)
	f.table.counts.Gaps++
	f.table.counts.Lost += int64(n)
	f.advance(f.segments[0].seq)
	f.sink.Gap(time, n)
	late := f.table.counts.Late
	f.drain(time)
	f.table.counts.Late = late
}

// flush gives out all that is held back.
func (f *flow) flush(time int64) {
	for len(f.segments) > 0 {
		f.skip(time)
	}
}
