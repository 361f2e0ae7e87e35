package rpc

import "encoding/binary"

const (
	// MaxRecord is the size in bytes of the largest message on a stream.
	MaxRecord = 32 << 20

	lastFragment = 1 << 31
)

// Message is a message and what is known of it: it begins with Head and ends
// with Tail. Between them, bytes were not captured or not kept. If Tail is
// empty, everything after Head is unknown.
type Message struct {
	Time       int64 // of the packet with its last byte
	Head, Tail []byte
	Size       int
}

// StreamCounts are what Streams met so far.
type StreamCounts struct {
	Messages int64
	// Partial are messages of which bytes were not captured.
	Partial int64
	// Searches are the places where a stream that had messages was lost, and
	// Passed the bytes passed over to find another one, there or after a
	// beginning that was not captured.
	Searches, Passed int64
	// Crowded are messages not kept because too many were incomplete.
	Crowded int64
}

// Stream finds the messages in the bytes of one direction of a connection
// (RFC 5531, section 11). Where it does not know its place it looks for what
// is likely the beginning of a message. It is a tcp.Sink.
type Stream struct {
	shared *Shared
	give   func(Message)
	record

	lost    bool   // looking for a message
	carry   []byte // of the last bytes, while lost
	skipped int64  // bytes passed over in this search
	spoke   bool   // it had a message
}

// record is the state of a Stream that knows its place.
type record struct {
	mark    [4]byte // of the next fragment
	marked  int     // bytes of it that have come
	inside  bool    // a fragment has begun
	last    bool    // it is the last of its record
	left    int     // its bytes that have not come
	pos     int     // bytes of the record that have come
	holes   bool    // some of them were not captured
	begun   bool    // a record has begun
	checked bool    // it looks like a message
	store   *store  // of the record, nil while nothing is kept
}

// NewStream returns a Stream that gives each message to a function, which may
// use it until it returns.
func NewStream(shared *Shared, give func(Message)) *Stream {
	return &Stream{shared: shared, give: give}
}

// Begin starts over, at the beginning of a connection or in its middle.
func (s *Stream) Begin(start bool) {
	s.End()
	s.lost = !start
}

// End forgets everything.
func (s *Stream) End() {
	s.reset()
	if s.spoke {
		s.shared.counts.Passed += s.skipped
	}
	s.lost, s.carry, s.skipped, s.spoke = false, nil, 0, false
}

// reset forgets the current record.
func (s *Stream) reset() {
	s.shared.free(s.store)
	s.record = record{}
}

// lose gives the place in the stream up.
func (s *Stream) lose() {
	s.reset()
	s.lost, s.carry = true, s.carry[:0]
	if s.spoke {
		s.shared.counts.Searches++
	}
}

// Data takes the next bytes.
func (s *Stream) Data(time int64, b []byte) {
	for len(b) > 0 {
		switch {
		case s.lost:
			b = s.search(time, b)
		case s.inside:
			b = s.body(time, b)
		default:
			b = s.header(time, b)
		}
	}
}

// header takes the mark of a fragment: its length, and whether it is the last
// of its record. A record that is all there needs no copy.
func (s *Stream) header(time int64, b []byte) []byte {
	if !s.begun && s.marked == 0 && len(b) >= 4 {
		mark := binary.BigEndian.Uint32(b)
		size := int(mark &^ lastFragment)
		if mark&lastFragment != 0 && size <= len(b)-4 && size >= headerLeast && possible(b[4:], size) {
			s.out(Message{Time: time, Head: b[4 : 4+size], Size: size})
			return b[4+size:]
		}
	}
	n := copy(s.mark[s.marked:], b)
	if s.marked += n; s.marked < 4 {
		return b[n:]
	}
	mark := binary.BigEndian.Uint32(s.mark[:])
	s.marked, s.inside, s.begun = 0, true, true
	s.last, s.left = mark&lastFragment != 0, int(mark&^lastFragment)
	if s.left > MaxRecord-s.pos || s.last && s.pos+s.left < headerLeast {
		s.lose()
	} else if s.left == 0 {
		s.finish(time)
	}
	return b[n:]
}

// body takes bytes of a fragment.
func (s *Stream) body(time int64, b []byte) []byte {
	n := min(len(b), s.left)
	s.keep(b[:n])
	s.pos += n
	s.left -= n
	if !s.checked && s.store != nil && len(s.store.head) >= 12 {
		if s.checked = true; !possible(s.store.head, MaxRecord) {
			s.lose()
			return b[n:]
		}
	}
	if s.left == 0 {
		s.finish(time)
	}
	return b[n:]
}

// keep keeps the first bytes of a record and the last of its last fragment.
func (s *Stream) keep(b []byte) {
	if s.store == nil {
		if s.pos > 0 {
			return // it began when there was no room, or with a hole
		}
		if s.store = s.shared.take(); s.store == nil {
			return
		}
	}
	k := s.store
	from := 0
	if s.pos == len(k.head) {
		from = min(len(b), MaxHead-len(k.head))
		k.head = append(k.head, b[:from]...)
	}
	if s.last {
		// So many bytes of the fragment come after b.
		after := s.left - len(b)
		from = max(from, len(b)+after-MaxTail)
		if from < len(b) {
			k.tail = append(k.tail, b[from:]...)
		}
	}
}

// finish ends a fragment.
func (s *Stream) finish(time int64) {
	s.inside = false
	if s.last {
		s.emit(time)
	}
}

// emit gives a record out and makes room for the next one.
func (s *Stream) emit(time int64) {
	switch {
	case s.holes:
		s.shared.counts.Partial++
	case s.store == nil:
		s.shared.counts.Crowded++
	}
	if s.store != nil && len(s.store.head) >= 12 {
		s.out(Message{Time: time, Head: s.store.head, Tail: s.store.tail, Size: s.pos})
	}
	s.reset()
}

func (s *Stream) out(m Message) {
	s.shared.counts.Messages++
	s.spoke = true
	s.give(m)
}

// Gap takes n bytes that are not known. As long as they are within a fragment,
// the place in the stream is known.
func (s *Stream) Gap(time int64, n int) {
	if s.lost {
		s.carry = s.carry[:0]
		return
	}
	if s.inside {
		if s.store != nil {
			s.store.tail = s.store.tail[:0]
		}
		s.holes = true
		cut := min(n, s.left)
		s.pos += cut
		s.left -= cut
		if s.left == 0 {
			s.finish(time)
		}
		n -= cut
	}
	if n > 0 {
		s.lose()
	}
}

// search looks for a message and returns the bytes from its beginning on.
func (s *Stream) search(time int64, b []byte) []byte {
	if len(s.carry) > 0 {
		// A message may begin in what is left of the bytes before.
		old := len(s.carry)
		joined := append(s.carry, b[:min(len(b), sightLength-1)]...)
		for i := 0; i < old && i+sightLength <= len(joined); i++ {
			if sighted(joined[i:]) {
				// The bytes up to the end of those carried go first.
				first := joined[i:old]
				s.found(i)
				s.Data(time, first)
				return b
			}
		}
		s.carry = joined[:old]
	}
	for i := 0; i+sightLength <= len(b); i++ {
		// The third of the bytes that say call or reply, of which the first
		// three are zero: if this one is not, no message begins here nor at
		// the next two bytes.
		if b[i+10] != 0 {
			i += 2
			continue
		}
		if b[i]&0x80 != 0 && sighted(b[i:]) {
			s.found(len(s.carry) + i)
			return b[i:]
		}
	}
	all := len(s.carry) + len(b)
	if len(b) < sightLength-1 {
		s.carry = append(s.carry, b...)
	} else {
		s.carry = append(s.carry[:0], b...)
	}
	drop := max(len(s.carry)-(sightLength-1), 0)
	s.carry = append(s.carry[:0], s.carry[drop:]...)
	s.skipped += int64(all - len(s.carry))
	return nil
}

// found ends the search after passing over n more bytes.
func (s *Stream) found(n int) {
	s.shared.counts.Passed += s.skipped + int64(n)
	s.lost, s.carry, s.skipped = false, nil, 0
}
