package record

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/tidemark/tidemark/occ"
)

// StateVersion is the version of the encoding of a State that AppendState
// writes and DecodeState reads.
const StateVersion = 1

// State is what the groups of a log up to some point mean, but for the
// versions of blocks.
type State struct {
	// Stable is the newest timestamp, Horizon that of the last Horizon.
	Stable, Horizon occ.Timestamp
	// Epoch is the highest one.
	Epoch uint64
	// Next is the first block id that was never leased.
	Next occ.BlockID
	// Sessions are those that were created and have not ended, oldest first.
	Sessions []SessionState
	// Pins are those that stand, in the order of their names.
	Pins []Pin
}

// SessionState is what is known of a session.
type SessionState struct {
	ID occ.SessionID
	// Mark says that the outcomes up to it are acknowledged; Next is above all
	// numbers that committed.
	Mark, Next uint64
	// Outcomes are the commits above Mark, in order.
	Outcomes []Outcome
}

// Outcome is a commit, as in Commit.
type Outcome struct {
	Seq    uint64
	Digest uint32
	At     occ.Timestamp
}

// Shortest encodings.
const (
	minSessionStateLen = sessionLen + 3
	minOutcomeLen      = 2 + digestLen
	minPinLen          = 4
)

// AppendState appends the encoding of s to dst and returns the longer slice.
// What s says must be in order.
func AppendState(dst []byte, s *State) []byte {
	dst = slices.Grow(dst, (minSessionStateLen+16)*len(s.Sessions)+64*len(s.Pins)+64) // or near it
	dst = AppendStateHead(dst, s, len(s.Sessions))
	for i := range s.Sessions {
		dst = AppendSessionState(dst, &s.Sessions[i])
	}
	return AppendStatePins(dst, s.Pins)
}

// AppendStateHead appends the first piece of an encoding that is made in pieces:
// what comes before the sessions, of which there will be so many. The others are
// those of AppendSessionState, for one session after the other, and of
// AppendStatePins.
func AppendStateHead(dst []byte, s *State, sessions int) []byte {
	dst = append(dst, StateVersion)
	dst = binary.AppendUvarint(dst, uint64(s.Stable))
	dst = binary.AppendUvarint(dst, uint64(s.Horizon))
	dst = binary.AppendUvarint(dst, s.Epoch)
	dst = binary.AppendUvarint(dst, uint64(s.Next))
	return binary.AppendUvarint(dst, uint64(sessions))
}

// AppendStatePins appends the last piece.
func AppendStatePins(dst []byte, pins []Pin) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(pins)))
	for i := range pins {
		p := &pins[i]
		dst = appendName(dst, p.Name)
		dst = binary.AppendUvarint(dst, uint64(p.At))
		dst = binary.AppendUvarint(dst, uint64(p.Lease))
	}
	return dst
}

// AppendSessionState appends the piece of a session.
func AppendSessionState(dst []byte, s *SessionState) []byte {
	dst = append(dst, s.ID[:]...)
	dst = binary.AppendUvarint(dst, s.Mark)
	dst = binary.AppendUvarint(dst, s.Next-s.Mark-1)
	dst = binary.AppendUvarint(dst, uint64(len(s.Outcomes)))
	before := Outcome{Seq: s.Mark}
	for _, o := range s.Outcomes {
		dst = binary.AppendUvarint(dst, o.Seq-before.Seq-1)
		dst = binary.AppendUvarint(dst, uint64(o.At-before.At-1))
		dst = binary.LittleEndian.AppendUint32(dst, o.Digest)
		before = o
	}
	return dst
}

// DecodeState returns the state that b encodes; it shares no memory with b.
// Whatever b holds, DecodeState returns a state that encodes to exactly b, or a
// *DecodeError; the memory that it takes is at most proportional to len(b).
func DecodeState(b []byte) (*State, error) {
	d := decoder{b: b}
	s := d.state()
	if d.err == nil && d.off != len(b) {
		d.fail(d.off, "state", fmt.Errorf("%w: %d", ErrTrailing, len(b)-d.off))
	}
	if d.err != nil {
		return nil, d.err
	}
	return s, nil
}

func (d *decoder) state() *State {
	if v := d.octet("state version"); d.err == nil && v != StateVersion {
		d.fail(0, "state version", fmt.Errorf("%w %d, this program knows %d", ErrVersion, v, StateVersion))
	}
	s := &State{
		Stable:  occ.Timestamp(d.varint("stable")),
		Horizon: occ.Timestamp(d.varint("horizon")),
		Epoch:   d.varint("epoch"),
		Next:    occ.BlockID(d.varint("next block")),
	}
	if n := d.count("session count", minSessionStateLen); n > 0 {
		s.Sessions = make([]SessionState, 0, min(n, preallocate))
		for i := 0; i < n && d.err == nil; i++ {
			s.Sessions = append(s.Sessions, d.sessionState())
		}
	}
	if n := d.count("pin count", minPinLen); n > 0 {
		s.Pins = make([]Pin, 0, min(n, preallocate))
		for i := 0; i < n && d.err == nil; i++ {
			at := d.off
			p := Pin{Name: d.name(), At: occ.Timestamp(d.varint("pin timestamp")), Lease: d.lease()}
			if i > 0 && d.err == nil && p.Name <= s.Pins[i-1].Name {
				d.fail(at, "pin name", ErrNumber)
			}
			s.Pins = append(s.Pins, p)
		}
	}
	return s
}

func (d *decoder) sessionState() SessionState {
	s := SessionState{ID: d.session("session id"), Mark: d.varint("session mark")}
	s.Next = d.above("session next", s.Mark)
	n := d.count("outcome count", minOutcomeLen)
	if n == 0 {
		return s
	}
	s.Outcomes = make([]Outcome, 0, min(n, preallocate))
	before := Outcome{Seq: s.Mark}
	for i := 0; i < n && d.err == nil; i++ {
		at := d.off
		o := Outcome{Seq: d.above("outcome seq", before.Seq)}
		if d.err == nil && o.Seq >= s.Next {
			d.fail(at, "outcome seq", ErrNumber)
		}
		o.At = occ.Timestamp(d.above("outcome timestamp", uint64(before.At)))
		if p := d.bytes("outcome digest", digestLen); p != nil {
			o.Digest = binary.LittleEndian.Uint32(p)
		}
		s.Outcomes = append(s.Outcomes, o)
		before = o
	}
	s.Outcomes = slices.Clip(s.Outcomes)
	return s
}

// above reads a number that is larger than low, as its distance less 1.
func (d *decoder) above(field string, low uint64) uint64 {
	at := d.off
	v := d.varint(field)
	if d.err == nil && v >= math.MaxUint64-low {
		d.fail(at, field, ErrNumber)
		return 0
	}
	return low + v + 1
}
