package wire

import (
	"encoding/binary"
	"time"

	"github.com/tidemark/tidemark/occ"
)

// Pin asks to keep the store readable at timestamp At, whatever the horizon,
// under a name. At must be readable now. A pin of the same name and timestamp
// begins its lease anew, so that a Pin may be sent again.
type Pin struct {
	Req uint64
	At  occ.Timestamp
	// Lease is how long the server keeps the pin by its retention clock, at
	// least; 0 means until Unpin.
	Lease time.Duration
	Name  string
}

// Unpin takes back a pin.
type Unpin struct {
	Req  uint64
	Name string
}

// Pins asks for the pins behind After, in the order of their names.
type Pins struct {
	Req   uint64
	After string
}

// Changes asks which blocks, from First on, have at timestamp At a version that
// begins after Since. At must be readable. The reply has at most Limit, which
// is at least 1.
type Changes struct {
	Req       uint64
	First     occ.BlockID
	Since, At occ.Timestamp
	Limit     uint64
}

// PinReply answers Pin and Unpin once the log has it: the timestamp that is, or
// was, pinned.
type PinReply struct {
	Req    uint64
	Stable occ.Timestamp
	At     occ.Timestamp
}

// PinsReply answers Pins. Unless Last is set there are more.
type PinsReply struct {
	Req    uint64
	Stable occ.Timestamp
	// Horizon is the oldest timestamp from which on all can be read.
	Horizon occ.Timestamp
	Last    bool
	Pins    []PinInfo
}

// PinInfo is a pin. Left is how much of its lease is left, 0 if it has none.
type PinInfo struct {
	Name string
	At   occ.Timestamp
	Left time.Duration
}

// ChangesReply answers Changes, with blocks in ascending order. Unless Last is
// set there may be more, from block Next on.
type ChangesReply struct {
	Req    uint64
	Stable occ.Timestamp
	Last   bool
	Next   occ.BlockID // if Last is not set
	Blocks []occ.Read
}

// Type implements Message.
func (*Pin) Type() Type { return TypePin }

// Type implements Message.
func (*Unpin) Type() Type { return TypeUnpin }

// Type implements Message.
func (*Pins) Type() Type { return TypePins }

// Type implements Message.
func (*Changes) Type() Type { return TypeChanges }

// Type implements Message.
func (*PinReply) Type() Type { return TypePinReply }

// Type implements Message.
func (*PinsReply) Type() Type { return TypePinsReply }

// Type implements Message.
func (*ChangesReply) Type() Type { return TypeChangesReply }

func appendPins(b []byte, m *PinsReply) []byte {
	b = begin(b, TypePinsReply, m.Req, uint64(m.Stable), uint64(m.Stable-m.Horizon))
	b = append(b, yesNo(m.Last))
	b = binary.AppendUvarint(b, uint64(len(m.Pins)))
	for _, p := range m.Pins {
		b = appendText(b, p.Name)
		b = binary.AppendUvarint(b, uint64(m.Stable-p.At))
		b = appendDuration(b, p.Left)
	}
	return b
}

func (d *decoder) pins() Message {
	m := &PinsReply{Req: d.req(), Stable: d.stable()}
	m.Horizon = occ.Timestamp(d.below("horizon", uint64(m.Stable)))
	m.Last = d.yesNo("last")
	if n := d.count("pins", MaxEntries, 3); n > 0 {
		m.Pins = make([]PinInfo, n)
	}
	for i := range m.Pins {
		m.Pins[i] = PinInfo{
			Name: d.text("pins"), At: occ.Timestamp(d.below("pins", uint64(m.Stable))), Left: d.duration("pins"),
		}
	}
	return m
}

func appendChanges(b []byte, m *ChangesReply) []byte {
	b = append(begin(b, TypeChangesReply, m.Req, uint64(m.Stable)), yesNo(m.Last))
	if !m.Last {
		b = binary.AppendUvarint(b, uint64(m.Next))
	}
	return appendReads(b, m.Blocks)
}

func (d *decoder) changes() Message {
	m := &ChangesReply{Req: d.req(), Stable: d.stable(), Last: d.yesNo("last")}
	if !m.Last {
		m.Next = occ.BlockID(d.uvarint("next"))
	}
	m.Blocks = d.reads("blocks")
	return m
}

// yesNo is a yes or no as a byte.
func yesNo(yes bool) byte {
	if yes {
		return 1
	}
	return 0
}

func (d *decoder) yesNo(field string) bool {
	v := d.byte(field)
	if v > 1 {
		d.fail(field, "neither yes nor no")
	}
	return v == 1
}
