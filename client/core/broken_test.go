package core_test

import (
	"errors"
	"testing"
	"time"

	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

func wantProtocolError(t *testing.T, err error) {
	t.Helper()
	var broken *core.ProtocolError
	if !errors.As(err, &broken) {
		t.Fatalf("got %v, want a protocol error", err)
	}
}

// Every message of a server that breaks the protocol is refused, and nothing
// of it takes effect.
func TestBrokenMessages(t *testing.T) {
	block := func(r wire.ReadResult) func(uint64) wire.Message {
		return func(req uint64) wire.Message {
			return &wire.ReadReply{Req: req, Stable: 5, Results: []wire.ReadResult{r}}
		}
	}
	item := func(i wire.Item) func(uint64) wire.Message {
		return func(req uint64) wire.Message {
			if i.Kind == wire.ItemCommitted {
				i.Req = req
			}
			return &wire.Items{Stable: 5, Items: []wire.Item{i}}
		}
	}
	read := func(s *script, c *scriptClient) { c.ro(core.Unbounded).ask(z) }
	readAt := func(s *script, c *scriptClient) {
		ro := c.ro(core.Unbounded)
		ro.want(x, "x@3")
		s.clients[1].write(4, x)
		ro.ask(z)
	}
	commit := func(s *script, c *scriptClient) { c.queueWrite(9, z) }
	validate := func(s *script, c *scriptClient) {
		rw := c.rw()
		rw.want(y, "y@0")
		rw.commit()
	}
	var query *core.Query
	ping := func(s *script, c *scriptClient) { query = c.Ping(c, s.now) }
	lease := func(s *script, c *scriptClient) { query = c.Lease(c, 3, s.now) }
	none := func(*script, *scriptClient) {}

	for name, b := range map[string]struct {
		ask    func(*script, *scriptClient)
		answer func(req uint64) wire.Message
	}{
		"a request": {none, func(uint64) wire.Message { return &wire.Ping{Req: 1} }},
		"unknown request": {ping, func(req uint64) wire.Message {
			return &wire.Pong{Req: req + 1, Stable: 5}
		}},
		"welcome twice": {ping, func(req uint64) wire.Message {
			return &wire.Welcome{Req: req, Stable: 5, BlockSize: 64, Limits: wire.DefaultLimits()}
		}},
		"heartbeat goes back": {none, func(uint64) wire.Message { return &wire.Pong{Stable: 2} }},
		"reply goes back":     {ping, func(req uint64) wire.Message { return &wire.Pong{Req: req, Stable: 2} }},
		"read goes back": {read, func(req uint64) wire.Message {
			return &wire.ReadReply{Req: req, Stable: 2, Results: []wire.ReadResult{{}}}
		}},
		"items go back":      {none, func(uint64) wire.Message { return &wire.Items{Stable: 2} }},
		"stable without end": {none, func(uint64) wire.Message { return &wire.Pong{Stable: occ.Open} }},
		"items without end": {none, func(uint64) wire.Message {
			return &wire.Items{Stable: occ.Open, Items: []wire.Item{{Kind: wire.ItemDropped, Block: y, At: occ.Open}}}
		}},
		"too few results": {read, func(req uint64) wire.Message { return &wire.ReadReply{Req: req, Stable: 5} }},
		"too many results": {read, func(req uint64) wire.Message {
			return &wire.ReadReply{Req: req, Stable: 5, Results: make([]wire.ReadResult, 2)}
		}},
		"more than a block":        {read, block(wire.ReadResult{Data: make([]byte, 65)})},
		"unknown status":           {read, block(wire.ReadResult{Status: 9})},
		"still what was not had":   {read, block(wire.ReadResult{Status: wire.StatusStill})},
		"version not stable":       {read, block(wire.ReadResult{From: 6})},
		"end not stable":           {read, block(wire.ReadResult{Status: wire.StatusClosed, From: 1, To: 7})},
		"ends before it begins":    {read, block(wire.ReadResult{Status: wire.StatusClosed, From: 3, To: 3})},
		"ends at 0":                {read, block(wire.ReadResult{Status: wire.StatusClosed})},
		"the newest is gone":       {read, block(wire.ReadResult{Status: wire.StatusGone, Horizon: 5})},
		"gone above the horizon":   {readAt, block(wire.ReadResult{Status: wire.StatusGone, Horizon: 3})},
		"item not stable":          {none, item(wire.Item{Block: y, At: 6})},
		"deprecated at its start":  {none, item(wire.Item{Block: y, At: 0})},
		"dropped before its start": {none, item(wire.Item{Kind: wire.ItemDropped, Block: y, From: 4, At: 3})},
		"ping commits":             {ping, item(wire.Item{Kind: wire.ItemCommitted, At: 5})},
		"validation commits":       {validate, item(wire.Item{Kind: wire.ItemCommitted, At: 5})},
		"commit at an old version": {func(s *script, c *scriptClient) {
			c.queueWrite(9, x)
		}, item(wire.Item{Kind: wire.ItemCommitted, At: 3})},
		"one commit twice": {commit, func(req uint64) wire.Message {
			twice := wire.Item{Kind: wire.ItemCommitted, Req: req, At: 4}
			again := twice
			again.At = 5
			return &wire.Items{Stable: 5, Items: []wire.Item{twice, again}}
		}},
		"good items before a bad one": {commit, func(req uint64) wire.Message {
			return &wire.Items{Stable: 5, Items: []wire.Item{{Kind: wire.ItemCommitted, Req: req, At: 4}, {Block: x, From: 3, At: 4}, {Block: y, From: 5, At: 5}}}
		}},
		"a good result before a bad one": {func(s *script, c *scriptClient) {
			ro := c.ro(core.Unbounded)
			c.Ask(ro.Tx, []occ.BlockID{z, 55}, s.now)
		}, func(req uint64) wire.Message {
			return &wire.ReadReply{Req: req, Stable: 5, Results: []wire.ReadResult{{From: 5}, {From: 6}}}
		}},
		"commit is validated": {commit, func(req uint64) wire.Message { return &wire.Validated{Req: req, Stable: 5} }},
		"ping conflicts":      {ping, func(req uint64) wire.Message { return &wire.Conflict{Req: req, Stable: 5} }},
		"ping has an outcome": {ping, func(req uint64) wire.Message { return &wire.Outcome{Req: req, Stable: 5} }},
		"validation has an outcome": {validate, func(req uint64) wire.Message {
			return &wire.Outcome{Req: req, Stable: 5, Status: wire.OutcomeConflict}
		}},
		"lease of nothing": {lease, func(req uint64) wire.Message { return &wire.LeaseReply{Req: req, Stable: 5} }},
		"lease of others": {lease, func(req uint64) wire.Message {
			return &wire.LeaseReply{Req: req, Stable: 5, First: 1, Count: 2}
		}},
		"lease beyond all": {lease, func(req uint64) wire.Message {
			return &wire.LeaseReply{Req: req, Stable: 5, First: occ.BlockID(occ.Open) - 1, Count: 3}
		}},
		"ping answered by no results": {ping, func(req uint64) wire.Message { return &wire.ReadReply{Req: req, Stable: 5} }},
		"ping answered by a status":   {ping, func(req uint64) wire.Message { return &wire.StatusReply{Req: req, Stable: 5} }},
		"read answered by a pong":     {read, func(req uint64) wire.Message { return &wire.Pong{Req: req, Stable: 5} }},
		"commit answered by a pong":   {commit, func(req uint64) wire.Message { return &wire.Pong{Req: req, Stable: 5} }},
		"ping leases":                 {ping, func(req uint64) wire.Message { return &wire.LeaseReply{Req: req, Stable: 5, Count: 1} }},
	} {
		t.Run(name, func(t *testing.T) {
			s, c := start(t, 2)
			for at := occ.Timestamp(1); at <= 3; at++ {
				c[1].write(at, x)
			}
			c[0].look(x)
			s.srv.Tick(s.now + 20*time.Second)
			s.perform()
			s.settle()
			query = nil
			b.ask(s, c[0])
			var req uint64
			for _, m := range c[0].TakeMessages() {
				req = requestNumber(t, m)
			}
			before := c[0].GLUB()
			wantProtocolError(t, c[0].Receive(b.answer(req)))
			if c[0].GLUB() != before {
				t.Fatalf("GLUB went from %d to %d", before, c[0].GLUB())
			}
			c[0].cached(z, "")
			if b := c[0].Cached(x)[0]; b.To != occ.Open && before == 3 {
				t.Fatalf("x@3 ended: %v", b)
			}
			c[0].Disconnect() // as its owner does now
			if query != nil && !query.Done() {
				t.Fatal("a query waits for ever")
			}
			if ro := c[0].ro(core.Unbounded); before == 3 {
				ro.want(x, "x@3")
			}
		})
	}
}

func requestNumber(t *testing.T, m wire.Message) uint64 {
	switch m := m.(type) {
	case *wire.Ping:
		return m.Req
	case *wire.Read:
		return m.Req
	case *wire.Commit:
		return m.Req
	case *wire.Validate:
		return m.Req
	case *wire.Lease:
		return m.Req
	}
	t.Fatalf("no request: %T", m)
	return 0
}
