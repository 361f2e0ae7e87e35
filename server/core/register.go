package core

import (
	"slices"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// registrations is what one connection is registered for: a list that is
// only appended to, so that a deprecation has nothing to search. Entries whose
// bit is no longer set are stale; the list is compacted when more than half
// of it is.
type registrations struct {
	list []occ.BlockID // oldest first; a block may stand in it twice
	held int           // blocks whose bit is set
}

// compactSlack keeps short lists from being compacted all the time.
const compactSlack = 64

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
	if len(r.list) > 2*r.held+compactSlack {
		c.compact(cn)
	}
}

// unregistered notes a bit that was just cleared.
func (c *Core) unregistered(cn *conn) {
	c.counts.holders--
	cn.regs.held--
}

// compact removes stale entries. Of a block that stands twice the newer entry
// stays; the bit, cleared meanwhile, says that it was seen.
func (c *Core) compact(cn *conn) {
	r := &cn.regs
	kept := make([]occ.BlockID, 0, r.held+compactSlack)
	for _, b := range slices.Backward(r.list) {
		if c.holders.remove(b, cn.slot) {
			kept = append(kept, b)
		}
	}
	slices.Reverse(kept)
	for _, b := range kept {
		c.holders.add(b, cn.slot)
	}
	r.list = kept
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
	r.list = r.list[next:]
	return dropped
}

// unregisterAll takes cn out of every holder set.
func (c *Core) unregisterAll(cn *conn) {
	for _, b := range cn.regs.list {
		if c.holders.remove(b, cn.slot) {
			c.unregistered(cn)
		}
	}
	cn.regs = registrations{}
}
