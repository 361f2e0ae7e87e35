package wire

import (
	"encoding/binary"
	"fmt"
	"time"
)

// magic are the first bytes after the request number of a Hello.
const magic = "TDMK"

// Flags of a Commit.
const (
	flagResend = 1
	flagRanges = 2 // each write says whether it is a whole block or ranges of one
	flagUrgent = 4
)

func appendBody(b []byte, m Message) []byte {
	switch m := m.(type) {
	case *Hello:
		b = begin(b, TypeHello, m.Req)
		b = append(b, magic...)
		b = binary.AppendUvarint(b, m.Version)
		b = append(b, m.Session[:]...)
		b = append(b, m.Store[:]...)
		b = binary.AppendUvarint(b, m.Epoch)
		return binary.AppendUvarint(b, uint64(m.Stable))
	case *Ping:
		return begin(b, TypePing, m.Req)
	case *Read:
		return appendReadItems(begin(b, TypeRead, m.Req), m.Items)
	case *Commit:
		b = begin(b, TypeCommit, m.Req)
		flags := byte(0)
		if m.Resend {
			flags = flagResend
		}
		if hasRanges(m.Writes) {
			flags |= flagRanges
		}
		if m.Urgent {
			flags |= flagUrgent
		}
		b = append(b, flags)
		b = binary.AppendUvarint(b, m.Seq)
		b = binary.AppendUvarint(b, m.Seq-m.Acked)
		b = binary.LittleEndian.AppendUint32(b, m.Digest)
		return appendWrites(appendReads(b, m.Reads), m.Writes)
	case *Validate:
		return appendReads(begin(b, TypeValidate, m.Req), m.Reads)
	case *Lease:
		return binary.AppendUvarint(begin(b, TypeLease, m.Req), m.Count)
	case *Status:
		return begin(b, TypeStatus, m.Req)
	case *Clock:
		return appendDuration(begin(b, TypeClock, m.Req), m.Now)
	case *Pin:
		b = appendDuration(begin(b, TypePin, m.Req, uint64(m.At)), m.Lease)
		return appendText(b, m.Name)
	case *Unpin:
		return appendText(begin(b, TypeUnpin, m.Req), m.Name)
	case *Pins:
		return appendText(begin(b, TypePins, m.Req), m.After)
	case *Changes:
		return begin(b, TypeChanges, m.Req, uint64(m.First), uint64(m.Since), uint64(m.At), m.Limit)
	case *Welcome:
		b = begin(b, TypeWelcome, m.Req, uint64(m.Stable))
		b = append(b, m.Store[:]...)
		b = append(b, m.Session[:]...)
		b = binary.AppendUvarint(b, m.Epoch)
		b = binary.AppendUvarint(b, m.BlockSize)
		b = appendDuration(b, m.Retention)
		return appendLimits(b, &m.Limits)
	case *Pong:
		return begin(b, TypePong, m.Req, uint64(m.Stable))
	case *ReadReply:
		return appendResults(begin(b, TypeReadReply, m.Req, uint64(m.Stable)), m)
	case *Items:
		return appendItems(begin(b, TypeItems, uint64(m.Stable)), m)
	case *Conflict:
		return appendReads(begin(b, TypeConflict, m.Req, uint64(m.Stable)), m.Blocks)
	case *Validated:
		return begin(b, TypeValidated, m.Req, uint64(m.Stable))
	case *Outcome:
		b = begin(b, TypeOutcome, m.Req, uint64(m.Stable))
		b = append(b, byte(m.Status))
		switch m.Status {
		case OutcomeCommitted:
			return binary.AppendUvarint(b, uint64(m.Stable-m.At))
		case OutcomeConflict, OutcomeUnknown:
			return b
		}
		panic(fmt.Sprintf("wire: outcome status %d does not exist", m.Status))
	case *LeaseReply:
		return begin(b, TypeLeaseReply, m.Req, uint64(m.Stable), uint64(m.First), m.Count)
	case *StatusReply:
		b = begin(b, TypeStatusReply, m.Req, uint64(m.Stable), uint64(len(m.Values)))
		for _, v := range m.Values {
			b = binary.AppendUvarint(appendText(b, v.Name), v.Value)
		}
		return b
	case *PinReply:
		return begin(b, TypePinReply, m.Req, uint64(m.Stable), uint64(m.Stable-m.At))
	case *PinsReply:
		return appendPins(b, m)
	case *ChangesReply:
		return appendChanges(b, m)
	case *Error:
		b = begin(b, TypeError, m.Req, uint64(m.Stable), uint64(m.Code), m.Limit, m.Value)
		return appendText(b, m.Text)
	}
	panic(fmt.Sprintf("wire: %T is no message", m))
}

// begin appends a type and the numbers that follow it.
func begin(b []byte, t Type, fields ...uint64) []byte {
	b = append(b, byte(t))
	for _, v := range fields {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

func appendLimits(b []byte, l *Limits) []byte {
	for _, v := range [...]uint64{
		l.FrameBytes, l.CommitBytes, l.CommitReads, l.CommitWrites,
		l.ReadBlocks, l.LeaseBlocks, l.Outcomes, l.Holds, l.Reads, l.Leases,
	} {
		b = binary.AppendUvarint(b, v)
	}
	return appendDuration(appendDuration(b, l.Freshness), l.Silence)
}

func appendDuration(b []byte, d time.Duration) []byte { return appendDelta(b, uint64(d), 0) }

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
