package core

import (
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// maxScan is how many blocks one Changes looks at, so that it takes no longer
// than other requests where nothing has changed.
const maxScan = 1 << 16

// changes answers which blocks differ between two timestamps, from one block
// on: as many as fit one message and one step.
func (c *Core) changes(cn *conn, m *wire.Changes) {
	switch {
	case m.Limit == 0:
		c.reject(cn, m.Req, wire.CodeMalformed, "a list of no changes")
		return
	case !c.within(cn, m.Req, uint64(m.At), uint64(c.versions.Stable()), "timestamp"):
		return
	case !c.versions.Readable(m.At):
		c.gone(cn, m.Req, m.At, c.versions.Horizon())
		return
	}
	room := c.cfg.ReplyBytes - min(c.cfg.ReplyBytes, replyOverhead)
	limit := max(1, min(m.Limit, room/commitEntryBytes, wire.MaxEntries))
	reply := &wire.ChangesReply{Req: m.Req}
	next, more := c.versions.Walk(m.First, maxScan, func(b occ.BlockID, current occ.Timestamp) bool {
		if uint64(len(reply.Blocks)) == limit {
			return false
		}
		if current > m.Since {
			if iv, _ := c.versions.Lookup(b, m.At); iv.From > m.Since {
				reply.Blocks = append(reply.Blocks, occ.Read{Block: b, From: iv.From})
			}
		}
		return true
	})
	if more {
		reply.Next = next
	}
	reply.Last = !more
	c.send(cn, reply)
}
