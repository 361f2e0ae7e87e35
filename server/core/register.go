package core

import (
	"slices"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// registrations is what one connection is registered for: a list that is
// only appended to, so that a deprecation has nothing to search. Entries whose
// bit is no longer set are stale; when more than half of them are, the list is
// compacted, a little with each registration, so that nothing waits long for it.
type registrations struct {
	list []occ.BlockID // oldest first; a block may stand in it several times
	held int           // blocks whose bit is set

	// While the list is compacted, from the newest entry to the oldest, seen are
	// the blocks that were met, the entries before next are still to be looked at,
	// and those from kept on stay. Between them is nothing of use.
	seen       map[occ.BlockID]struct{} // nil if it is not
	next, kept int
}

const (
	// compactSlack keeps short lists from being compacted all the time.
	compactSlack = 64
	// compactStep is how many entries are looked at with each registration: so
	// many that the list gets shorter.
	compactStep = 4
)

// cut takes the n oldest entries off the list.
func (r *registrations) cut(n int) {
	r.list = r.list[n:]
	r.next, r.kept = max(0, r.next-n), max(0, r.kept-n)
}

// register makes cn a holder of the current version of b.
func (c *Core) register(cn *conn, b occ.BlockID) {
	if c.holders.add(b, cn.slot) {
		c.registered(cn, b)
	}
}

// registered notes a bit that was just set.
func (c *Core) registered(cn *conn, b occ.BlockID) {
	c.counts.holders++
	r := &cn.regs
	r.held++
	r.list = append(r.list, b)
	c.compact(cn)
	c.leave(2) // so that, however many come and go, no more is left than there was
}

// unregistered notes a bit that was just cleared.
func (c *Core) unregistered(cn *conn) {
	c.counts.holders--
	cn.regs.held--
}

// compact goes on with compacting the list, or begins if that is worth it. Of a
// block that stands in it several times the newest entry stays.
func (c *Core) compact(cn *conn) {
	r := &cn.regs
	if r.seen == nil {
		if len(r.list) <= 2*r.held+compactSlack {
			return
		}
		r.seen = make(map[occ.BlockID]struct{})
		r.next, r.kept = len(r.list), len(r.list)
	}
	for range compactStep {
		if r.next == 0 {
			r.list, r.seen = r.list[r.kept:], nil
			return
		}
		r.next--
		b := r.list[r.next]
		if _, again := r.seen[b]; again || !c.holders.has(b, cn.slot) {
			continue
		}
		r.seen[b] = struct{}{}
		r.kept--
		r.list[r.kept] = b
	}
}

// dropExcess ends the oldest registrations of cn beyond the limit and returns
// what the client must be told before stable moves on: each version is good
// through the stable timestamp of now (section 6).
func (c *Core) dropExcess(cn *conn) []wire.Item {
	var dropped []wire.Item
	r := &cn.regs
	next := 0
	for uint64(r.held) > c.cfg.Limits.Holds && next < len(r.list) {
		b := r.list[next]
		next++
		if !c.holders.remove(b, cn.slot) {
			continue
		}
		c.unregistered(cn)
		c.counts.dropped++
		dropped = append(dropped, wire.Item{
			Kind:  wire.ItemDropped,
			At:    c.versions.Stable(),
			Block: b,
			From:  c.versions.Current(b),
		})
	}
	r.cut(next)
	return dropped
}

// maxLeave is how many registrations of connections that are gone are ended in
// one step, so that nothing waits long for it. The next Sweep, Tick or group goes
// on, and registering does, too.
const maxLeave = 1024

// leave ends up to n registrations of connections that are gone: more says that
// others are left. Until the last one of a connection is ended, its slot stays
// its own; what becomes of the blocks meanwhile it is not told.
func (c *Core) leave(n int) (more bool) {
	for len(c.leaving) > 0 {
		cn := c.leaving[0]
		list := cn.regs.list[:min(n, len(cn.regs.list))]
		for _, b := range list {
			if c.holders.remove(b, cn.slot) {
				c.unregistered(cn)
			}
		}
		n -= len(list)
		if cn.regs.list = cn.regs.list[len(list):]; len(cn.regs.list) > 0 {
			return true
		}
		cn.regs = registrations{}
		c.slots[cn.slot] = nil
		c.leaving = slices.Delete(c.leaving, 0, 1)
	}
	return false
}
