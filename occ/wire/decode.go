package wire

import (
	"time"

	"github.com/tidemark/tidemark/occ"
)

// Decode returns the message in body, which is a frame without its length
// prefix. The message shares no memory with body. Whatever Decode takes,
// Append turns into the same bytes again; everything else is a
// *DecodeError: there is one encoding of a message, and nothing may follow
// it.
func Decode(body []byte) (Message, error) { return DecodeWith(body, 0) }

// DecodeWith is Decode for a receiver that wants whole blocks: the data of a
// ReadReply is padded with zeros to blockSize bytes. An empty Data stays nil,
// so that the receiver can put a shared block of zeros in its place. More
// than blockSize bytes are an error. A blockSize of 0 asks for no padding.
func DecodeWith(body []byte, blockSize int) (Message, error) {
	if len(body) == 0 {
		return nil, &DecodeError{Field: "type", Reason: reasonShort}
	}
	d := decoder{b: body[1:], typ: Type(body[0]), blockSize: blockSize}
	m := d.message()
	if len(d.b) > 0 {
		d.fail("end", "bytes follow the message")
	}
	if d.err != nil {
		return nil, d.err
	}
	return m, nil
}

func (d *decoder) message() Message {
	switch d.typ {
	case TypeHello:
		return d.hello()
	case TypePing:
		return &Ping{Req: d.req()}
	case TypeRead:
		return &Read{Req: d.req(), Items: d.readItems()}
	case TypeCommit:
		return d.commit()
	case TypeValidate:
		return &Validate{Req: d.req(), Reads: d.reads("reads")}
	case TypeLease:
		return &Lease{Req: d.req(), Count: d.uvarint("count")}
	case TypeStatus:
		return &Status{Req: d.req()}
	case TypeClock:
		return &Clock{Req: d.req(), Now: d.duration("now")}
	case TypePin:
		return &Pin{Req: d.req(), At: occ.Timestamp(d.uvarint("at")), Lease: d.duration("lease"), Name: d.text("name")}
	case TypeUnpin:
		return &Unpin{Req: d.req(), Name: d.text("name")}
	case TypePins:
		return &Pins{Req: d.req(), After: d.text("after")}
	case TypeChanges:
		return &Changes{
			Req: d.req(), First: occ.BlockID(d.uvarint("first")), Since: occ.Timestamp(d.uvarint("since")),
			At: occ.Timestamp(d.uvarint("at")), Limit: d.uvarint("limit"),
		}
	case TypeWelcome:
		return &Welcome{
			Req: d.req(), Stable: d.stable(), Store: d.id("store"), Session: d.id("session"),
			Epoch: d.uvarint("epoch"), BlockSize: d.uvarint("block size"),
			Retention: d.duration("retention"), Limits: d.limits(),
		}
	case TypePong:
		return &Pong{Req: d.uvarint("request"), Stable: d.stable()}
	case TypeReadReply:
		m := &ReadReply{Req: d.req(), Stable: d.stable()}
		m.Results = d.results(m.Stable)
		return m
	case TypeItems:
		m := &Items{Stable: d.stable()}
		m.Items = d.items(m.Stable)
		return m
	case TypeConflict:
		return &Conflict{Req: d.req(), Stable: d.stable(), Blocks: d.reads("blocks")}
	case TypeValidated:
		return &Validated{Req: d.req(), Stable: d.stable()}
	case TypeOutcome:
		return d.outcome()
	case TypeLeaseReply:
		return &LeaseReply{
			Req: d.req(), Stable: d.stable(),
			First: occ.BlockID(d.uvarint("first")), Count: d.uvarint("count"),
		}
	case TypeStatusReply:
		return &StatusReply{Req: d.req(), Stable: d.stable(), Values: d.counters()}
	case TypePinReply:
		m := &PinReply{Req: d.req(), Stable: d.stable()}
		m.At = occ.Timestamp(d.below("at", uint64(m.Stable)))
		return m
	case TypePinsReply:
		return d.pins()
	case TypeChangesReply:
		return d.changes()
	case TypeError:
		return &Error{
			Req: d.uvarint("request"), Stable: d.stable(), Code: ErrorCode(d.uvarint("code")),
			Limit: d.uvarint("limit"), Value: d.uvarint("value"), Text: d.text("text"),
		}
	}
	d.fail("type", "unknown")
	return nil
}

// req reads a request number that must not be 0.
func (d *decoder) req() uint64 {
	v := d.uvarint("request")
	if v == 0 {
		d.fail("request", "0 is no request number")
	}
	return v
}

func (d *decoder) stable() occ.Timestamp { return occ.Timestamp(d.uvarint("stable")) }

func (d *decoder) duration(field string) time.Duration { return time.Duration(d.delta(field, 0)) }

func (d *decoder) hello() Message {
	m := &Hello{Req: d.req()}
	if string(d.raw("magic", uint64(len(magic)))) != magic {
		d.fail("magic", "this is not the protocol")
	}
	m.Version = d.uvarint("version")
	m.Session = d.id("session")
	m.Store = d.id("store")
	m.Epoch = d.uvarint("epoch")
	m.Stable = d.stable()
	return m
}

func (d *decoder) commit() Message {
	m := &Commit{Req: d.req()}
	flags := d.byte("flags")
	if flags&^(flagResend|flagRanges|flagUrgent) != 0 {
		d.fail("flags", "unknown flag")
	}
	m.Resend = flags&flagResend != 0
	m.Urgent = flags&flagUrgent != 0
	m.Seq = d.uvarint("sequence number")
	m.Acked = d.below("acknowledged", m.Seq)
	m.Digest = d.uint32("digest")
	m.Reads = d.reads("reads")
	m.Writes = d.writes("writes", flags&flagRanges != 0)
	return m
}

func (d *decoder) limits() Limits {
	return Limits{
		FrameBytes:   d.uvarint("frame bytes"),
		CommitBytes:  d.uvarint("commit bytes"),
		CommitReads:  d.uvarint("commit reads"),
		CommitWrites: d.uvarint("commit writes"),
		ReadBlocks:   d.uvarint("read blocks"),
		LeaseBlocks:  d.uvarint("lease blocks"),
		Outcomes:     d.uvarint("outcomes"),
		Holds:        d.uvarint("holds"),
		Reads:        d.uvarint("reads"),
		Leases:       d.uvarint("leases"),
		Freshness:    d.duration("freshness"),
		Silence:      d.duration("silence"),
	}
}

func (d *decoder) outcome() Message {
	m := &Outcome{Req: d.req(), Stable: d.stable(), Status: OutcomeStatus(d.byte("status"))}
	switch m.Status {
	case OutcomeCommitted:
		m.At = occ.Timestamp(d.below("at", uint64(m.Stable)))
	case OutcomeConflict, OutcomeUnknown:
	default:
		d.fail("status", "unknown")
	}
	return m
}

func (d *decoder) counters() []Counter {
	n := d.count("values", MaxEntries, 2)
	if n == 0 {
		return nil
	}
	list := make([]Counter, n)
	for i := range list {
		list[i] = Counter{Name: d.text("values"), Value: d.uvarint("values")}
	}
	return list
}
