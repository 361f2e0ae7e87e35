package core

import (
	"slices"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// fetchKey names a block at a timestamp (occ.Latest for the newest): requests
// under way are shared by it.
type fetchKey struct {
	block occ.BlockID
	at    occ.Timestamp
}

// fetch is a block that has been asked for.
type fetch struct {
	fetchKey
	waiters []*Tx
	// have is a version that is still current as far as the client knows: it
	// was open when a connection was lost. The server then says no more than
	// that it is, or sends the newer one. It is pinned until the answer.
	have *version
}

// request is a message that the server has not answered yet.
type request struct {
	number  uint64
	typ     wire.Type
	start   time.Duration // local time before it was queued
	owner   *Tx           // who sent it, if a transaction did
	fetches []*fetch      // wire.Read
	waiters []*Tx         // who waits for the sync point it will make
	query   *Query
	asked   wire.Message // of a query about pins or changes
	lease   uint64       // wire.Lease: how many ids
	seq     uint64       // wire.Commit: its number in the session
	resend  bool         // wire.Commit: it was sent before
}

// send queues m, which must carry the number of r, and remembers r.
func (c *Core) send(r *request, m wire.Message) {
	r.typ = m.Type()
	c.requests[r.number] = r
	c.latest = r
	c.out = append(c.out, m)
}

// maxRequest is the largest request number: after it they begin at 1 again, so
// that they stay short on the wire.
const maxRequest = 1<<28 - 1

func (c *Core) newRequest(owner *Tx, now time.Duration) *request {
	for {
		c.lastReq = c.lastReq%maxRequest + 1
		if c.requests[c.lastReq] == nil {
			break
		}
	}
	return &request{number: c.lastReq, start: now, owner: owner}
}

// Ask queues whatever has to come from the server before t can read ids: the
// blocks that the cache cannot serve, or first the sync point without which
// the cache may not be used. Call it after Read said no. Afterwards either
// t.Waiting() is true, or Read can be tried again at once.
func (c *Core) Ask(t *Tx, ids []occ.BlockID, now time.Duration) {
	if t.readOnly && !t.loKnown {
		if c.findLo(t); t.loKnown {
			return
		}
	}
	c.settle(t)
	at := occ.Latest
	if t.atSnapshot() {
		at = t.snap.AskAt()
	}
	own := false
	var r *request
	var items []wire.ReadItem
	flush := func() {
		if r != nil {
			c.send(r, &wire.Read{Req: r.number, Items: items})
			own, r, items = true, nil, nil
		}
	}
	for _, b := range ids {
		if c.served(t, b) {
			continue
		}
		key := fetchKey{b, at}
		if f := c.fetches[key]; f != nil {
			if !slices.Contains(f.waiters, t) {
				f.waiters = append(f.waiters, t)
				t.waiting++
				c.stats.Joined++
			}
			continue
		}
		if r == nil {
			r = c.newRequest(t, now)
		}
		f := &fetch{fetchKey: key, waiters: []*Tx{t}}
		c.fetches[key] = f
		r.fetches = append(r.fetches, f)
		item := wire.ReadItem{Block: b, At: at, Have: wire.Absent}
		if v := c.cache.index[b]; at == occ.Latest && v != nil && v.bounded {
			f.have, item.Have = v, v.From
			c.cache.pin(v)
		}
		items = append(items, item)
		t.waiting++
		c.stats.Misses++
		if at != occ.Latest {
			c.stats.SecondAsks++
		}
		if uint64(len(items)) == c.limits.ReadBlocks {
			flush()
		}
	}
	flush()
	if t.readOnly && !t.loKnown && !own {
		c.askSync(t, now)
	}
}

// askApart asks for the blocks of r again, each by a request of its own. Whoever
// waits for them waits on.
func (c *Core) askApart(r *request) {
	for _, f := range r.fetches {
		if !slices.ContainsFunc(f.waiters, func(t *Tx) bool { return t.state == Running }) {
			delete(c.fetches, f.fetchKey)
			c.unpinHave(f)
			continue
		}
		one := c.newRequest(r.owner, r.start)
		one.fetches = []*fetch{f}
		item := wire.ReadItem{Block: f.block, At: f.at, Have: wire.Absent}
		if f.have != nil {
			item.Have = f.have.From
		}
		c.send(one, &wire.Read{Req: one.number, Items: []wire.ReadItem{item}})
	}
}

// served reports whether t needs no request for b: it has it already, or it
// cannot tell before it knows its lower bound.
func (c *Core) served(t *Tx, b occ.BlockID) bool {
	if _, own := t.writeAt[b]; own || t.seen(b) != nil {
		return true
	}
	if t.readOnly && !t.loKnown {
		return c.cache.index[b] != nil
	}
	return c.lookup(t, b) != nil
}

// askSync makes t wait for a sync point: by a request under way whose start
// is late enough for t's bound, or by a ping of its own (section 4).
func (c *Core) askSync(t *Tx, now time.Duration) {
	t.waiting++
	if r := c.latest; r != nil && r.start > t.begun-t.epsilon {
		r.waiters = append(r.waiters, t)
		return
	}
	r := c.newRequest(t, now)
	r.waiters = append(r.waiters, t)
	c.stats.Pings++
	c.send(r, &wire.Ping{Req: r.number})
}

// minSweep is how many waits of abandoned transactions are kept at least
// before a sweep.
const minSweep = 1024

// sweep takes those who no longer wait off the requests under way, once there
// are as many of them as there are requests and running transactions. So a
// silent server does not make abandoned transactions pile up, and the cost of
// a sweep is spread over those that it removes.
func (c *Core) sweep() {
	if c.abandoned < max(minSweep, len(c.requests)+c.runningCount) {
		return
	}
	c.abandoned = 0
	over := func(t *Tx) bool { return t.state != Running }
	for _, f := range c.fetches {
		f.waiters = slices.DeleteFunc(f.waiters, over)
	}
	for _, r := range c.requests {
		r.waiters = slices.DeleteFunc(r.waiters, over)
	}
	c.ids.waiters = slices.DeleteFunc(c.ids.waiters, over)
	c.held = slices.DeleteFunc(c.held, func(h heldCommit) bool { return over(h.t) })
}

// pending returns the request with that number, which a message of type
// answer must be able to answer. It stays on the list until the answer has
// taken effect: if that fails, Disconnect ends it.
func (c *Core) pending(number uint64, answer wire.Type) (*request, error) {
	r := c.requests[number]
	if r == nil {
		return nil, protocolError("%v to request %d, which is not under way", answer, number)
	}
	if !answers(answer, r.typ) {
		return nil, protocolError("%v to request %d, which is a %v", answer, number, r.typ)
	}
	return r, nil
}

// answered takes r off the list.
func (c *Core) answered(r *request) {
	delete(c.requests, r.number)
	if c.latest == r {
		c.latest = nil
	}
	c.sendHeld()
}

// answers reports whether a message can be the answer to a request.
func answers(message, request wire.Type) bool {
	switch message {
	case wire.TypeWelcome:
		return request == wire.TypeHello
	case wire.TypePong:
		return request == wire.TypePing || request == wire.TypeClock
	case wire.TypeReadReply:
		return request == wire.TypeRead
	case wire.TypeItems, wire.TypeOutcome:
		return request == wire.TypeCommit
	case wire.TypeConflict:
		return request == wire.TypeCommit || request == wire.TypeValidate
	case wire.TypeValidated:
		return request == wire.TypeValidate
	case wire.TypeLeaseReply:
		return request == wire.TypeLease
	case wire.TypePinReply:
		return request == wire.TypePin || request == wire.TypeUnpin
	case wire.TypePinsReply:
		return request == wire.TypePins
	case wire.TypeChangesReply:
		return request == wire.TypeChanges
	case wire.TypeStatusReply:
		return request == wire.TypeStatus
	}
	return message == wire.TypeError
}
