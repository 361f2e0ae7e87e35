package core

import (
	"math"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// Receive handles one message of a client. Messages of a connection that the
// core does not know, because it has hung it up, are ignored. A message that
// makes no sense where it stands ends the connection; nothing a client sends
// makes Receive panic.
func (c *Core) Receive(id ConnID, m wire.Message) {
	cn := c.conns[id]
	if cn == nil {
		return
	}
	req, ok := requestNumber(m)
	if !ok {
		c.reject(cn, 0, wire.CodeMalformed, "not a request")
		return
	}
	c.counts.received[m.Type()]++
	hello, isHello := m.(*wire.Hello)
	switch {
	case req == 0:
		c.reject(cn, 0, wire.CodeMalformed, "request number 0")
	case c.stopping:
		c.refuse(cn, wire.Error{Req: req, Code: wire.CodeStopping, Text: "the server is stopping"})
	case isHello && cn.state == connFresh:
		c.hello(cn, hello)
	case isHello:
		c.reject(cn, req, wire.CodeMalformed, "a second hello")
	case cn.state != connOpen:
		c.reject(cn, req, wire.CodeMalformed, "a request before the hello was answered")
	default:
		c.request(cn, m)
	}
}

// Bases are the versions of which a commit writes ranges, as the embedding has
// read them before the core got the commit.
type Bases struct {
	// Data has an entry for each write of the commit: if that is of ranges,
	// the data of the version that the commit read, which must not change any
	// more. nil stands for no data, and for data that the embedding will have
	// at hand when it is asked for it.
	Data [][]byte
	// Err says why one of the versions cannot be had, in words for the client.
	// The commit does not commit: what it makes could not be read either. If it
	// would have committed, it is refused.
	Err error
}

// ReceiveBased is Receive for a commit with its bases. They stay with it until
// it is applied, and come back in its Puts: whatever becomes of the commit, the
// core keeps them no longer than it, and Config.PendingBytes counts them.
func (c *Core) ReceiveBased(id ConnID, m wire.Message, b Bases) {
	c.bases = b
	c.Receive(id, m)
	c.bases = Bases{}
}

// requestNumber returns the number of a request; ok is false for anything
// else.
func requestNumber(m wire.Message) (req uint64, ok bool) {
	switch m := m.(type) {
	case *wire.Hello:
		return m.Req, true
	case *wire.Ping:
		return m.Req, true
	case *wire.Read:
		return m.Req, true
	case *wire.Commit:
		return m.Req, true
	case *wire.Validate:
		return m.Req, true
	case *wire.Lease:
		return m.Req, true
	case *wire.Status:
		return m.Req, true
	case *wire.Clock:
		return m.Req, true
	case *wire.Pin:
		return m.Req, true
	case *wire.Unpin:
		return m.Req, true
	case *wire.Pins:
		return m.Req, true
	case *wire.Changes:
		return m.Req, true
	}
	return 0, false
}

func (c *Core) request(cn *conn, m wire.Message) {
	switch m := m.(type) {
	case *wire.Ping:
		c.send(cn, &wire.Pong{Req: m.Req})
	case *wire.Read:
		c.read(cn, m)
	case *wire.Commit:
		c.commit(cn, m)
	case *wire.Validate:
		c.validate(cn, m)
	case *wire.Lease:
		c.lease(cn, m)
	case *wire.Status:
		c.send(cn, &wire.StatusReply{Req: m.Req, Values: c.status()})
	case *wire.Clock:
		c.clock(cn, m)
	case *wire.Pin:
		c.pin(cn, m)
	case *wire.Unpin:
		c.unpin(cn, m)
	case *wire.Pins:
		c.listPins(cn, m)
	case *wire.Changes:
		c.changes(cn, m)
	}
}

// validate answers a transaction without writes: its read set against the
// stable state, at once and without a timestamp (section 6).
func (c *Core) validate(cn *conn, m *wire.Validate) {
	if !c.within(cn, m.Req, uint64(len(m.Reads)), c.cfg.Limits.CommitReads, "read set") {
		return
	}
	if changed := c.versions.ValidateStable(m.Reads); changed != nil {
		c.counts.invalid++
		c.send(cn, &wire.Conflict{Req: m.Req, Blocks: changed})
		return
	}
	c.counts.validated++
	c.send(cn, &wire.Validated{Req: m.Req})
}

// maxBlock is above all block ids that are ever leased.
const maxBlock occ.BlockID = math.MaxUint64

// lease hands out block ids once the log has them.
func (c *Core) lease(cn *conn, m *wire.Lease) {
	switch {
	case m.Count == 0:
		c.reject(cn, m.Req, wire.CodeMalformed, "a lease of no block ids")
	case !c.within(cn, m.Req, m.Count, c.cfg.Limits.LeaseBlocks, "lease"):
	case m.Count > uint64(maxBlock-c.nextID):
		c.refuse(cn, wire.Error{Req: m.Req, Code: wire.CodeStoreFull, Text: "block ids are used up"})
	case !c.waitsTooLong(cn, m.Req):
		c.enqueueLease(cn, m)
	}
}

// waitsTooLong counts one more request of cn that waits for the log, or
// refuses it.
func (c *Core) waitsTooLong(cn *conn, req uint64) bool {
	if cn.leases >= c.cfg.Limits.Leases {
		c.refuse(cn, busy(req, cn.leases+1, c.cfg.Limits.Leases, "leases or pins under way"))
		return true
	}
	cn.leases++
	return false
}

// clock moves the retention clock of a replay.
func (c *Core) clock(cn *conn, m *wire.Clock) {
	if !c.cfg.ExternalClock {
		c.refuse(cn, wire.Error{Req: m.Req, Code: wire.CodeDenied, Text: "this server keeps its own clock"})
		return
	}
	c.retain(m.Now)
	c.send(cn, &wire.Pong{Req: m.Req})
}

// within refuses a request whose count exceeds a published limit.
func (c *Core) within(cn *conn, req, count, limit uint64, what string) bool {
	if count <= limit {
		return true
	}
	c.refuse(cn, tooLarge(req, count, limit, what))
	return false
}

// busy is the refusal of a request that can be repeated later.
func busy(req, value, limit uint64, what string) wire.Error {
	return wire.Error{Req: req, Code: wire.CodeBusy, Limit: limit, Value: value, Text: "too many " + what}
}

func tooLarge(req, value, limit uint64, what string) wire.Error {
	return wire.Error{Req: req, Code: wire.CodeTooLarge, Limit: limit, Value: value, Text: what + " too large"}
}
