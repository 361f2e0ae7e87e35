package core

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/record"
)

// pins are the pinned timestamps: as decided, what waits for the log included,
// and as applied. They are judged by the first list when they are asked for, in
// the order in which they come to the log, so that a record always has its
// effect; versions are kept by the second.
//
// A pin must be of a timestamp that no queued horizon passes, or that another
// pin keeps readable.
type pins struct {
	coming  pinList
	applied pinList
}

// pin is a pinned timestamp and its name.
type pin struct {
	name  string
	at    occ.Timestamp
	lease time.Duration // 0: until it is unpinned
	// since is when the lease began, by the retention clock: at the first time
	// told after the pin was asked for, or after the start.
	since   time.Duration
	counted bool
}

// left is how much of the lease is left, 0 if there is none.
func (p *pin) left(now time.Duration) time.Duration {
	switch {
	case p.lease == 0:
		return 0
	case !p.counted:
		return p.lease
	}
	return max(1, p.lease-(now-p.since))
}

// pinList is in the order of the names.
type pinList []pin

func (l pinList) find(name string) (int, bool) {
	return slices.BinarySearchFunc(l, name, func(p pin, name string) int { return cmp.Compare(p.name, name) })
}

// put adds a pin, or takes the place of the one with its name.
func (l *pinList) put(p pin) {
	i, found := l.find(p.name)
	if found {
		(*l)[i] = p
		return
	}
	*l = slices.Insert(*l, i, p)
}

// remove takes out a pin; ok is false if there is none of that name.
func (l *pinList) remove(name string) (p pin, ok bool) {
	i, ok := l.find(name)
	if !ok {
		return pin{}, false
	}
	p = (*l)[i]
	*l = slices.Delete(*l, i, i+1)
	return p, true
}

func (l pinList) holds(at occ.Timestamp) bool {
	return slices.ContainsFunc(l, func(p pin) bool { return p.at == at })
}

// pin pins a timestamp once the log has it, or renews the lease of the pin that
// has the same name and timestamp: a request that is sent again does no harm.
func (c *Core) pin(cn *conn, m *wire.Pin) {
	i, exists := c.pins.coming.find(m.Name)
	switch {
	case m.Name == "" || m.Lease < 0:
		c.reject(cn, m.Req, wire.CodeMalformed, "a pin without a name, or with a negative lease")
	case !c.within(cn, m.Req, uint64(len(m.Name)), MaxPinName, "name of a pin"):
	case !exists && !printable(m.Name): // older ones may have such names, and be renewed
		c.refuse(cn, wire.Error{Req: m.Req, Code: wire.CodePinName, Text: "the name is not UTF-8, or has control characters"})
	case exists && c.pins.coming[i].at != m.At:
		c.refuse(cn, wire.Error{Req: m.Req, Code: wire.CodePinned, Value: uint64(c.pins.coming[i].at), Text: "the name is pinned at another timestamp"})
	case !exists && !c.within(cn, m.Req, uint64(len(c.pins.coming))+1, MaxPins, "list of pins"):
	case !c.within(cn, m.Req, uint64(m.At), uint64(c.versions.Stable()), "timestamp to pin"):
	case m.At < c.marks.asked && !c.pins.coming.holds(m.At):
		c.gone(cn, m.Req, m.At, c.marks.asked)
	case c.waitsTooLong(cn, m.Req):
	default:
		c.pins.coming.put(pin{name: m.Name, at: m.At, lease: m.Lease})
		c.enqueue(step{record: &record.Pin{Name: strings.Clone(m.Name), At: m.At, Lease: m.Lease}, conn: cn, req: m.Req})
	}
}

// printable reports whether printing a name does nothing but show it.
func printable(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}

// unpin takes back a pin once the log has it.
func (c *Core) unpin(cn *conn, m *wire.Unpin) {
	if _, exists := c.pins.coming.find(m.Name); !exists {
		c.refuse(cn, wire.Error{Req: m.Req, Code: wire.CodeNoPin, Text: "nothing is pinned under this name"})
		return
	}
	if !c.waitsTooLong(cn, m.Req) {
		c.pins.coming.remove(m.Name)
		c.enqueue(step{record: &record.Unpin{Name: m.Name}, conn: cn, req: m.Req})
	}
}

// gone refuses a request that needs a timestamp below the horizon.
func (c *Core) gone(cn *conn, req uint64, at, horizon occ.Timestamp) {
	c.refuse(cn, wire.Error{
		Req: req, Code: wire.CodeGone, Limit: uint64(horizon), Value: uint64(at),
		Text: "the timestamp has left the retention window and is not pinned",
	})
}

// pinned answers a pin or unpin that the log has, if anybody asked for it.
func (c *Core) pinned(s step, at occ.Timestamp) {
	if s.conn == nil {
		return
	}
	s.conn.leases--
	if s.conn.state != connGone {
		c.send(s.conn, &wire.PinReply{Req: s.req, At: at})
	}
}

func (c *Core) applyPin(r *record.Pin) {
	if _, renewed := c.pins.applied.find(r.Name); !renewed {
		c.versions.Pin(r.At)
	}
	c.pins.applied.put(pin{name: r.Name, at: r.At, lease: r.Lease})
}

// applyUnpin returns the timestamp that was pinned.
func (c *Core) applyUnpin(r *record.Unpin) occ.Timestamp {
	p, _ := c.pins.applied.remove(r.Name)
	if c.versions.Unpin(p.at) {
		c.values.release(p.at)
	}
	return p.at
}

// replayPin and replayUnpin return why the log cannot say so.
func (c *Core) replayPin(r *record.Pin) string {
	i, exists := c.pins.applied.find(r.Name)
	switch {
	case exists && c.pins.applied[i].at != r.At:
		return fmt.Sprintf("%.40q is pinned at %d, not at %d", r.Name, c.pins.applied[i].at, r.At)
	case r.At > c.versions.Stable() || !c.versions.Readable(r.At):
		return fmt.Sprintf("a pin of timestamp %d between %d and %d", r.At, c.versions.Horizon(), c.versions.Stable())
	}
	c.applyPin(r)
	c.pins.coming.put(pin{name: r.Name, at: r.At, lease: r.Lease})
	return ""
}

func (c *Core) replayUnpin(r *record.Unpin) string {
	if _, exists := c.pins.coming.remove(r.Name); !exists {
		return fmt.Sprintf("%.40q is not pinned", r.Name)
	}
	c.applyUnpin(r)
	return ""
}

// endLeases ends the pins whose leases are over, by the retention clock.
func (c *Core) endLeases(now time.Duration) {
	over := func(p pin) bool { return p.lease > 0 && p.counted && now-p.since >= p.lease }
	for i := range c.pins.coming {
		p := &c.pins.coming[i]
		if over(*p) {
			c.enqueue(step{record: &record.Unpin{Name: p.name}})
		} else if !p.counted {
			p.since, p.counted = now, true
		}
	}
	c.pins.coming = slices.DeleteFunc(c.pins.coming, over)
}

// listPins answers with the pins behind a name, as many as fit one message.
func (c *Core) listPins(cn *conn, m *wire.Pins) {
	reply := &wire.PinsReply{Req: m.Req, Horizon: c.versions.Horizon(), Last: true}
	room := c.cfg.ReplyBytes - min(c.cfg.ReplyBytes, replyOverhead)
	for i := range c.pins.applied {
		p := &c.pins.applied[i]
		k, stands := c.pins.coming.find(p.name)
		if p.name <= m.After || !stands || c.pins.coming[k].at != p.at {
			continue
		}
		size := uint64(len(p.name)) + resultOverhead
		if size > room && len(reply.Pins) > 0 {
			reply.Last = false
			break
		}
		room -= min(room, size)
		reply.Pins = append(reply.Pins, wire.PinInfo{Name: p.name, At: p.at, Left: c.pins.coming[k].left(c.marks.now)})
	}
	c.send(cn, reply)
}
