package core

import (
	"github.com/tidemark/tidemark/occ/wire"
)

// counters count what happened since the core was made.
type counters struct {
	commits, conflicts, validated, invalid uint64
	refused, rejected                      uint64
	readBlocks, loads, loadedBlocks        uint64
	damaged                                uint64
	deprecations, dropped                  uint64
	groups, groupBytes                     uint64
	recovered                              uint64
	reservations, held                     uint64
	holders                                int64
	received, sent                         [typeCount]uint64
}

// typeCount is above all message types.
const typeCount = 80

// typeNames names the messages in counters.
var typeNames = []struct {
	t    wire.Type
	name string
}{
	{wire.TypeHello, "hello"}, {wire.TypePing, "ping"}, {wire.TypeRead, "read"},
	{wire.TypeCommit, "commit"}, {wire.TypeValidate, "validate"}, {wire.TypeLease, "lease"},
	{wire.TypeStatus, "status"}, {wire.TypeClock, "clock"}, {wire.TypePin, "pin"},
	{wire.TypeUnpin, "unpin"}, {wire.TypePins, "pins"}, {wire.TypeChanges, "changes"},
	{wire.TypeWelcome, "welcome"}, {wire.TypePong, "pong"}, {wire.TypeReadReply, "read_reply"},
	{wire.TypeItems, "items"}, {wire.TypeConflict, "conflict"}, {wire.TypeValidated, "validated"},
	{wire.TypeOutcome, "outcome"}, {wire.TypeLeaseReply, "lease_reply"},
	{wire.TypeStatusReply, "status_reply"}, {wire.TypePinReply, "pin_reply"},
	{wire.TypePinsReply, "pins_reply"}, {wire.TypeChangesReply, "changes_reply"}, {wire.TypeError, "error"},
}

// status returns all counters and gauges, always in the same order.
func (c *Core) status() []wire.Counter {
	n := &c.counts
	list := []wire.Counter{
		{Name: "commits", Value: n.commits},
		{Name: "conflicts", Value: n.conflicts},
		{Name: "validated", Value: n.validated},
		{Name: "validate_conflicts", Value: n.invalid},
		{Name: "refused", Value: n.refused},
		{Name: "rejected", Value: n.rejected},
		{Name: "read_blocks", Value: n.readBlocks},
		{Name: "loads", Value: n.loads},
		{Name: "loaded_blocks", Value: n.loadedBlocks},
		{Name: "reads_damaged", Value: n.damaged},
		{Name: "deprecations", Value: n.deprecations},
		{Name: "holders_dropped", Value: n.dropped},
		{Name: "groups", Value: n.groups},
		{Name: "group_bytes", Value: n.groupBytes},
		{Name: "commits_recovered", Value: n.recovered},
		{Name: "reservations", Value: n.reservations},
		{Name: "held", Value: n.held},
		{Name: "stable", Value: uint64(c.versions.Stable())},
		{Name: "horizon", Value: uint64(c.versions.Horizon())},
		{Name: "connections", Value: uint64(len(c.conns))},
		{Name: "sessions", Value: uint64(len(c.sessions))},
		{Name: "holders", Value: uint64(n.holders)},
		{Name: "blocks", Value: uint64(c.versions.Blocks())},
		{Name: "versions_retained", Value: uint64(c.versions.Retained())},
		{Name: "version_bytes", Value: uint64(c.values.bytes)},
		{Name: "index_bytes", Value: uint64(c.versions.Bytes())},
		{Name: "pins", Value: uint64(len(c.pins.applied))},
		{Name: "next_block", Value: uint64(c.nextID)},
	}
	for _, t := range typeNames {
		if t.t < wire.TypeWelcome {
			list = append(list, wire.Counter{Name: "received_" + t.name, Value: n.received[t.t]})
		} else {
			list = append(list, wire.Counter{Name: "sent_" + t.name, Value: n.sent[t.t]})
		}
	}
	return list
}
