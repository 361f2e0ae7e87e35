package nfs

import "github.com/tidemark/tidemark/traces"

const (
	// Patience is how long in microseconds of trace time the calls behind
	// one without a reply wait for it.
	Patience int64 = 2_000_000
	// Memory is how long in microseconds of trace time a call is remembered
	// after it was last sent, to know its repetitions and its later replies.
	Memory int64 = 60_000_000
	// JumpBack is how far in microseconds time must go back to be taken for
	// a clock that was set.
	JumpBack int64 = 10_000_000

	// MaxPending is how many calls are held at most, in order, until the
	// first of them is answered.
	MaxPending = 1 << 15
	// MaxPendingBytes is how many bytes they may keep, as told by Call and
	// Reply.
	MaxPendingBytes = 32 << 20
	// MaxRemembered is how many calls are known at most, the pending ones
	// among them.
	MaxRemembered = 1 << 16
)

// Matcher joins calls with their replies and hands them out in the order in
// which the calls came: a call that was answered waits for those before it. C
// is what is kept of a call and, in the end, of its reply.
//
// A call that has no reply after Patience is given up: it leaves unanswered. So
// does the first when too many are held. All calls, answered or given up, are
// remembered for Memory: one that comes again is a retransmission, and a reply
// to one that was given up is late, not an orphan. After that, or when too many
// calls came since, the same XID is a new call.
//
// A reply that comes before its call is an orphan.
//
// Time is that of the messages. It may go back a little. When it goes back by
// more than JumpBack, the clock was set, and waiting goes on from there.
type Matcher[C any] struct {
	index map[Key]uint64 // place of the last call of a key
	known ring[known]    // every call that is remembered
	calls ring[C]        // those at the end of known that have not left
	bytes int            // that these keep
	ended bool

	clock  int64 // only advances
	base   int64 // message time at which the clock would be 0
	counts Matches
}

// known is what is remembered of a call.
type known struct {
	key      Key
	seen     int64 // on the clock
	size     int
	answered bool
}

// Matches are the counts of a Matcher. Calls are Retransmitted ones and all
// others; of these each has a Matched or a Late reply, or is unanswered.
type Matches struct {
	Calls         int64
	Retransmitted int64 // calls seen before
	Matched       int64 // first replies
	Late          int64 // first replies to calls that had been given up
	Duplicate     int64 // further replies
	Orphans       int64 // replies to no known call
}

// Unanswered returns how many different calls had no reply.
func (m Matches) Unanswered() int64 { return m.Calls - m.Retransmitted - m.Matched - m.Late }

// Outcome says what a reply is.
type Outcome uint8

// What a reply can be: the first one to a call that is held, the first one to a
// call that was given up, a further one, or one to no known call.
const (
	Matched Outcome = iota
	Late
	Duplicate
	Orphan
)

// NewMatcher returns a Matcher that knows no call.
func NewMatcher[C any]() *Matcher[C] { return &Matcher[C]{index: make(map[Key]uint64)} }

// Call takes a call seen at a time, of which the caller will keep so many
// bytes. It returns where to keep them, valid until the next Call; what is
// there is zero or left from an earlier call, for reuse. It returns nil for a
// retransmission. After each Call, Next must be called until it has no more.
func (m *Matcher[C]) Call(key Key, time int64, size int) *C {
	m.tick(time)
	m.counts.Calls++
	if place, ok := m.find(key); ok {
		m.counts.Retransmitted++
		if place < m.calls.first {
			m.known.at(place).seen = m.clock
		}
		return nil
	}
	m.index[key] = m.known.next
	*m.known.add() = known{key: key, seen: m.clock, size: size}
	m.bytes += size
	return m.calls.add()
}

// Reply takes a reply. If it is Matched, the result is what Call returned, to
// which the caller adds what it wants of the reply, so many bytes; it is valid
// until the next Call. Otherwise it is nil.
func (m *Matcher[C]) Reply(key Key, time int64, size int) (*C, Outcome) {
	m.tick(time)
	place, ok := m.find(key)
	if !ok {
		m.counts.Orphans++
		return nil, Orphan
	}
	k := m.known.at(place)
	switch {
	case k.answered:
		m.counts.Duplicate++
		return nil, Duplicate
	case place < m.calls.first:
		k.answered = true
		m.counts.Late++
		return nil, Late
	}
	k.answered = true
	k.size += size
	m.bytes += size
	m.counts.Matched++
	return m.calls.at(place), Matched
}

// Next hands out the next call that is answered or given up, nil if there is
// none yet. It is valid until the next Call.
func (m *Matcher[C]) Next() (c *C, answered bool) {
	if m.calls.len() == 0 {
		return nil, false
	}
	k := m.known.at(m.calls.first)
	if !k.answered && !m.ended && m.clock-k.seen < Patience &&
		m.calls.len() <= MaxPending && m.bytes <= MaxPendingBytes {
		return nil, false
	}
	c = m.calls.at(m.calls.first)
	m.calls.first++
	m.bytes -= k.size
	return c, k.answered
}

// End says that no message follows: Next hands out everything that is left.
func (m *Matcher[C]) End() { m.ended = true }

// Counts returns the counts so far.
func (m *Matcher[C]) Counts() Matches { return m.counts }

// find returns the place of the last call with a key, if it is not too old.
func (m *Matcher[C]) find(key Key) (uint64, bool) {
	place, ok := m.index[key]
	return place, ok && (place >= m.calls.first || m.clock-m.known.at(place).seen <= Memory)
}

// leap is more than any waiting, so that a longer step of time has the effect
// of one that long, and the clock never overflows.
const leap = Patience + Memory + 1

// tick advances the clock to the time of a message, and forgets old calls.
func (m *Matcher[C]) tick(time int64) {
	time = min(max(time, 0), traces.MaxTime)
	switch now := time - m.base; {
	case now < m.clock-JumpBack:
		m.base = time - m.clock
	case now > m.clock+leap:
		m.clock += leap
		m.base = time - m.clock
	default:
		m.clock = max(m.clock, now)
	}
	for m.known.first < m.calls.first {
		k := m.known.at(m.known.first)
		if m.clock-k.seen <= Memory && m.known.len() < MaxRemembered {
			return
		}
		if m.index[k.key] == m.known.first {
			delete(m.index, k.key)
		}
		m.known.first++
	}
}
