package core

import (
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// parkedRead is a read that waits for data.
type parkedRead struct {
	conn    *conn
	req     uint64
	items   []wire.ReadItem
	results []wire.ReadResult
	loaded  []occ.Timestamp // per item: the version whose data is in results, wire.Absent for none
	want    []int           // items that the load under way is for
	refs    []Ref           // that load
}

// read answers a read at once if no data is needed, else when it is loaded.
func (c *Core) read(cn *conn, m *wire.Read) {
	if !c.within(cn, m.Req, uint64(len(m.Items)), c.cfg.Limits.ReadBlocks, "read") {
		return
	}
	for _, it := range m.Items {
		if it.At != occ.Latest && it.At > c.versions.Stable() {
			c.reject(cn, m.Req, wire.CodeMalformed, "a read above the stable timestamp")
			return
		}
	}
	if n := uint64(len(cn.loads)); n >= c.cfg.Limits.Reads {
		c.refuse(cn, busy(m.Req, n+1, c.cfg.Limits.Reads, "reads under way"))
		return
	}
	p := &parkedRead{
		conn:    cn,
		req:     m.Req,
		items:   m.Items,
		results: make([]wire.ReadResult, len(m.Items)),
		loaded:  make([]occ.Timestamp, len(m.Items)),
	}
	for i := range p.loaded {
		p.loaded[i] = wire.Absent
	}
	c.proceed(p)
}

// park has p wait for a load.
func (c *Core) park(p *parkedRead) LoadID {
	c.lastLoad++
	c.reads[c.lastLoad] = p
	if p.conn.loads == nil {
		p.conn.loads = make(map[LoadID]struct{})
	}
	p.conn.loads[c.lastLoad] = struct{}{}
	return c.lastLoad
}

// unpark returns the read that waits for a load, which it does no longer; nil
// if none does, or its connection has ended.
func (c *Core) unpark(id LoadID) *parkedRead {
	p := c.reads[id]
	if p != nil {
		delete(c.reads, id)
		delete(p.conn.loads, id)
	}
	return p
}

// forgetReads ends the wait of all reads of a connection.
func (c *Core) forgetReads(cn *conn) {
	for id := range cn.loads {
		delete(c.reads, id)
	}
	cn.loads = nil
}

// Loaded answers a Load with one value for each of its Refs. Loads that the
// core no longer waits for are ignored.
func (c *Core) Loaded(id LoadID, values [][]byte) {
	p := c.unpark(id)
	if p == nil {
		return
	}
	for k, i := range p.want {
		p.results[i].Data = values[k]
		p.loaded[i] = p.refs[k].From
	}
	c.proceed(p)
}

// LoadFailed says that the data of a Load cannot be had, and why, in words for
// the client. If all of it is still what the read needs, that is answered with
// the error, and nothing else suffers. Else something was superseded, and perhaps
// dropped, meanwhile, which may have been the reason: what the read needs now is
// loaded.
func (c *Core) LoadFailed(id LoadID, err error) {
	p := c.unpark(id)
	if p == nil {
		return
	}
	for k, i := range p.want {
		now := wire.ReadResult{}
		if ref, missing := c.resolve(p.items[i], &now, wire.Absent); !missing || ref != p.refs[k] {
			c.proceed(p)
			return
		}
	}
	c.counts.damaged++
	c.refuse(p.conn, wire.Error{Req: p.req, Code: wire.CodeDamaged, Text: err.Error()})
}

// proceed answers p if all its data is there, and else loads what is missing.
// Everything is decided anew from the state of now: a version that was the
// latest when its load began may have been superseded, which makes a read of
// the latest load the newer one, and gives a read at a timestamp its end. So
// looking up, registering and queueing the reply are one step (section 3).
// In theory a block that is overwritten faster than it loads keeps a read
// waiting; the newest data is what a value store has at hand.
func (c *Core) proceed(p *parkedRead) {
	p.want, p.refs = nil, nil
	for i, it := range p.items {
		if ref, missing := c.resolve(it, &p.results[i], p.loaded[i]); missing {
			p.want = append(p.want, i)
			p.refs = append(p.refs, ref)
		}
	}
	if len(p.want) > 0 {
		c.counts.loads++
		c.counts.loadedBlocks += uint64(len(p.refs))
		c.emit(Load{ID: c.park(p), Conn: p.conn.id, Refs: p.refs, Blocks: len(p.items)})
		return
	}
	cn := p.conn
	for i, r := range p.results {
		if r.Status == wire.StatusCurrent || r.Status == wire.StatusStill {
			c.register(cn, p.items[i].Block)
		}
	}
	c.counts.readBlocks += uint64(len(p.items))
	c.send(cn, &wire.ReadReply{Req: p.req, Results: p.results})
	c.sendItems(cn, c.dropExcess(cn))
}

// resolve fills in the result of one item as of now. It returns the version
// to load if r does not hold its data; loaded is the version whose data it
// holds.
func (c *Core) resolve(it wire.ReadItem, r *wire.ReadResult, loaded occ.Timestamp) (Ref, bool) {
	iv, ok := c.versions.Lookup(it.Block, it.At)
	switch {
	case !ok:
		*r = wire.ReadResult{Status: wire.StatusGone, Horizon: c.versions.Horizon()}
		return Ref{}, false
	case iv.To == occ.Open && it.Have == iv.From:
		*r = wire.ReadResult{Status: wire.StatusStill, From: iv.From}
		return Ref{}, false
	case iv.To == occ.Open:
		r.Status, r.From, r.To = wire.StatusCurrent, iv.From, 0
	default:
		r.Status, r.From, r.To = wire.StatusClosed, iv.From, iv.To
	}
	if iv.From == 0 || iv.From == loaded {
		return Ref{}, false
	}
	return Ref{Block: it.Block, From: iv.From}, true
}
