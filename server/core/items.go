package core

import "github.com/tidemark/tidemark/occ/wire"

// item notes an item for cn while a group is applied.
func (c *Core) item(cn *conn, it wire.Item) {
	if len(cn.items) == 0 {
		c.touched = append(c.touched, cn)
	}
	cn.items = append(cn.items, it)
}

// flushItems sends each connection the items of the group just applied, in
// the order in which the connections were first concerned.
func (c *Core) flushItems() {
	for _, cn := range c.touched {
		items := append(cn.items, c.dropExcess(cn)...)
		cn.items = nil
		if c.cfg.Faults.StableAhead {
			c.send(cn, &wire.Pong{})
		}
		c.sendItems(cn, items)
	}
	clear(c.touched)
	c.touched = c.touched[:0]
}

// sendItems sends items, which are in timestamp order, in as few messages as
// the frame limit allows. Each but the last carries a stable timestamp below
// the first item of the next, so that nothing at or below it is missing.
func (c *Core) sendItems(cn *conn, items []wire.Item) {
	most := int(max(1, (c.cfg.Limits.FrameBytes-min(c.cfg.Limits.FrameBytes, replyOverhead))/itemBytes))
	for len(items) > most {
		c.stamp(cn, &wire.Items{Items: items[:most:most]}, items[most].At-1)
		items = items[most:]
	}
	if len(items) > 0 {
		c.send(cn, &wire.Items{Items: items})
	}
}
