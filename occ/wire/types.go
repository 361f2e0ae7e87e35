package wire

import "strconv"

// IsRequest reports whether t lies in the range of requests, which clients
// send; everything else comes from the server. A type that this version does
// not know belongs to the side that its range says.
func IsRequest(t Type) bool { return t != 0 && t < TypeWelcome }

var typeNames = [...]string{
	TypeHello:        "Hello",
	TypePing:         "Ping",
	TypeRead:         "Read",
	TypeCommit:       "Commit",
	TypeValidate:     "Validate",
	TypeLease:        "Lease",
	TypeStatus:       "Status",
	TypeClock:        "Clock",
	TypePin:          "Pin",
	TypeUnpin:        "Unpin",
	TypePins:         "Pins",
	TypeChanges:      "Changes",
	TypeWelcome:      "Welcome",
	TypePong:         "Pong",
	TypeReadReply:    "ReadReply",
	TypeItems:        "Items",
	TypeConflict:     "Conflict",
	TypeValidated:    "Validated",
	TypeOutcome:      "Outcome",
	TypeLeaseReply:   "LeaseReply",
	TypeStatusReply:  "StatusReply",
	TypeError:        "Error",
	TypePinReply:     "PinReply",
	TypePinsReply:    "PinsReply",
	TypeChangesReply: "ChangesReply",
}

// String returns the name of the message, as it is printed in errors and
// counters.
func (t Type) String() string {
	if int(t) < len(typeNames) && typeNames[t] != "" {
		return typeNames[t]
	}
	return "type " + strconv.Itoa(int(t))
}

// Type implements Message.
func (*Hello) Type() Type { return TypeHello }

// Type implements Message.
func (*Ping) Type() Type { return TypePing }

// Type implements Message.
func (*Read) Type() Type { return TypeRead }

// Type implements Message.
func (*Commit) Type() Type { return TypeCommit }

// Type implements Message.
func (*Validate) Type() Type { return TypeValidate }

// Type implements Message.
func (*Lease) Type() Type { return TypeLease }

// Type implements Message.
func (*Status) Type() Type { return TypeStatus }

// Type implements Message.
func (*Clock) Type() Type { return TypeClock }

// Type implements Message.
func (*Welcome) Type() Type { return TypeWelcome }

// Type implements Message.
func (*Pong) Type() Type { return TypePong }

// Type implements Message.
func (*ReadReply) Type() Type { return TypeReadReply }

// Type implements Message.
func (*Items) Type() Type { return TypeItems }

// Type implements Message.
func (*Conflict) Type() Type { return TypeConflict }

// Type implements Message.
func (*Validated) Type() Type { return TypeValidated }

// Type implements Message.
func (*Outcome) Type() Type { return TypeOutcome }

// Type implements Message.
func (*LeaseReply) Type() Type { return TypeLeaseReply }

// Type implements Message.
func (*StatusReply) Type() Type { return TypeStatusReply }

// Type implements Message.
func (*Error) Type() Type { return TypeError }
