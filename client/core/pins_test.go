package core_test

import (
	"errors"
	"testing"
	"time"

	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// at begins a transaction at a chosen timestamp.
func (c *scriptClient) at(at occ.Timestamp) *scriptTx {
	tx := &scriptTx{Tx: new(core.Tx), c: c}
	c.BeginAt(tx.Tx, at, c.s.now)
	tx.SetWaker(tx)
	return tx
}

// TestAtSeesOneState: whatever is overwritten meanwhile, cached or not, and
// though the connection is lost, a transaction at a timestamp sees the state
// of then.
func TestAtSeesOneState(t *testing.T) {
	s, c := start(t, 2)
	c[1].write(1, x, y, z)
	c[0].warm(x)
	c[1].write(2, x)
	c[0].look(x)
	old, now := c[0].at(1), c[0].at(2)
	old.want(x, "x@1")
	now.want(x, "x@2")
	c[1].write(3, x, y)
	s.settle()
	old.want(y, "y@1")
	now.want(y, "y@1")
	old.wantRange(1, 1)
	now.wantRange(2, 2)
	c[0].disconnect()
	now.want(x, "x@2")
	c[0].reconnect()
	now.want(z, "z@1")
	old.want(z, "z@1")
	old.commit()
	now.commit()
	if c[0].Floor() != 2 {
		t.Errorf("the floor is %d", c[0].Floor())
	}
	again := c[0].at(1) // below the floor
	again.want(x, "x@1")
	again.commit()
	s.settle()
}

// TestAtIsGone: such a transaction learns what can still be read.
func TestAtIsGone(t *testing.T) {
	s, c := start(t, 2)
	c[1].write(1, x)
	c[1].write(2, x)
	c[0].Ping(c[0], s.now)
	c[0].send()
	s.settle()
	tx := c[0].at(1)
	tx.ask(z)
	var req uint64
	for _, m := range c[0].TakeMessages() {
		req = requestNumber(t, m)
	}
	if err := c[0].Receive(&wire.ReadReply{Req: req, Stable: 2, Results: []wire.ReadResult{{Status: wire.StatusGone, Horizon: 2}}}); err != nil {
		t.Fatal(err)
	}
	if at, oldest := tx.GoneAt(); !tx.Gone() || at != 1 || oldest != 2 || tx.wakes != 1 {
		t.Errorf("gone %v: %d, oldest %d; %d wakes", tx.Gone(), at, oldest, tx.wakes)
	}
}

// TestEndsAreNotShortened: of a version that ended below the horizon the server
// tells a part of the interval. What the client knows of it already stays.
func TestEndsAreNotShortened(t *testing.T) {
	c := core.New(core.Config{CacheBytes: 1 << 20})
	c.Hello(nil, 0)
	receive := func(m wire.Message) {
		t.Helper()
		if err := c.Receive(m); err != nil {
			t.Fatal(err)
		}
	}
	receive(&wire.Welcome{Req: 1, Stable: 9, BlockSize: 64, Limits: wire.DefaultLimits(), Store: occ.StoreID{1}})
	var old, newer core.Tx
	c.BeginAt(&old, 3, 0)
	c.BeginAt(&newer, 5, 0)
	c.Ask(&old, []occ.BlockID{x}, 0)   // request 2
	c.Ask(&newer, []occ.BlockID{x}, 0) // request 3
	closed := func(req uint64, to occ.Timestamp) wire.Message {
		return &wire.ReadReply{Req: req, Stable: 9, Results: []wire.ReadResult{{Status: wire.StatusClosed, From: 1, To: to}}}
	}
	receive(closed(3, 8))
	receive(closed(2, 4))
	c.Disconnect() // everybody looks at the ends of what was read
	if ends := c.Cached(x); len(ends) != 1 || ends[0].To != 8 {
		t.Errorf("%v", ends)
	}
	if lo, hi := newer.Range(); lo != 5 || hi != 5 {
		t.Errorf("the newer transaction runs at [%d,%d]", lo, hi)
	}
}

// TestBrokenPins: answers about pins and changes that cannot be right are
// refused, and good ones are not.
func TestBrokenPins(t *testing.T) {
	list := func(horizon occ.Timestamp, last bool, pins ...wire.PinInfo) wire.Message {
		return &wire.PinsReply{Req: 1, Stable: 9, Horizon: horizon, Last: last, Pins: pins}
	}
	changes := func(next occ.BlockID, reads ...occ.Read) wire.Message {
		return &wire.ChangesReply{Req: 1, Stable: 9, Last: next == 0, Next: next, Blocks: reads}
	}
	pin := func(c *core.Core) *core.Query { return c.Pin(nil, "p", 7, time.Second, 0) }
	unpin := func(c *core.Core) *core.Query { return c.Unpin(nil, "p", 0) }
	pins := func(c *core.Core) *core.Query { return c.Pins(nil, "m", 0) }
	ask := func(c *core.Core) *core.Query {
		return c.Changes(nil, wire.Changes{First: 10, Since: 3, At: 7, Limit: 2}, 0)
	}
	for name, b := range map[string]struct {
		ask    func(*core.Core) *core.Query
		answer wire.Message
		good   bool
	}{
		"pinned":               {pin, &wire.PinReply{Req: 1, Stable: 9, At: 7}, true},
		"pinned elsewhere":     {pin, &wire.PinReply{Req: 1, Stable: 9, At: 8}, false},
		"unpinned":             {unpin, &wire.PinReply{Req: 1, Stable: 9, At: 8}, true},
		"unpinned the future":  {unpin, &wire.PinReply{Req: 1, Stable: 9, At: 10}, false},
		"pin of a ping":        {func(c *core.Core) *core.Query { return c.Ping(nil, 0) }, &wire.PinReply{Req: 1, Stable: 9}, false},
		"pin answered by pong": {pin, &wire.Pong{Req: 1, Stable: 9}, false},
		"list":                 {pins, list(9, false, wire.PinInfo{Name: "n", At: 9}, wire.PinInfo{Name: "o", At: 1, Left: 1}), true},
		"empty list":           {pins, list(0, true), true},
		"list without an end":  {pins, list(0, false), false},
		"not behind":           {pins, list(9, true, wire.PinInfo{Name: "m"}), false},
		"out of order":         {pins, list(9, true, wire.PinInfo{Name: "o"}, wire.PinInfo{Name: "n"}), false},
		"pin of the future":    {pins, list(9, true, wire.PinInfo{Name: "n", At: 10}), false},
		"lease is over":        {pins, list(9, true, wire.PinInfo{Name: "n", Left: -1}), false},
		"horizon above":        {pins, list(10, true), false},
		"list for a pin":       {pin, list(9, true), false},
		"changes":              {ask, changes(12, occ.Read{Block: 10, From: 4}, occ.Read{Block: 11, From: 7}), true},
		"none, but more":       {ask, changes(11), true},
		"none":                 {ask, changes(0), true},
		"before the first":     {ask, changes(0, occ.Read{Block: 9, From: 4}), false},
		"block twice":          {ask, changes(0, occ.Read{Block: 10, From: 4}, occ.Read{Block: 10, From: 5}), false},
		"blocks backwards":     {ask, changes(0, occ.Read{Block: 12, From: 4}, occ.Read{Block: 11, From: 5}), false},
		"not since":            {ask, changes(0, occ.Read{Block: 12, From: 3}), false},
		"not at":               {ask, changes(0, occ.Read{Block: 12, From: 8}), false},
		"too many":             {ask, changes(0, occ.Read{Block: 10, From: 4}, occ.Read{Block: 11, From: 4}, occ.Read{Block: 12, From: 4}), false},
		"no progress":          {ask, changes(10), false},
		"next is told":         {ask, changes(12, occ.Read{Block: 12, From: 4}), false},
		"changes for a list":   {pins, changes(0), false},
	} {
		c := core.New(core.Config{})
		c.Hello(nil, 0)
		if err := c.Receive(&wire.Welcome{Req: 1, Stable: 9, BlockSize: 64, Limits: wire.DefaultLimits(), Store: occ.StoreID{1}}); err != nil {
			t.Fatal(err)
		}
		c.TakeMessages()
		q := b.ask(c)
		m := c.TakeMessages()[0]
		err := c.Receive(withRequest(m, b.answer))
		var broken *core.ProtocolError
		if b.good && (err != nil || !q.Done() || q.Err != nil) || !b.good && !errors.As(err, &broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// withRequest makes answer one to the request m.
func withRequest(m, answer wire.Message) wire.Message {
	req := uint64(0)
	switch m := m.(type) {
	case *wire.Pin:
		req = m.Req
	case *wire.Unpin:
		req = m.Req
	case *wire.Pins:
		req = m.Req
	case *wire.Changes:
		req = m.Req
	case *wire.Ping:
		req = m.Req
	}
	switch a := answer.(type) {
	case *wire.PinReply:
		a.Req = req
	case *wire.PinsReply:
		a.Req = req
	case *wire.ChangesReply:
		a.Req = req
	case *wire.Pong:
		a.Req = req
	}
	return answer
}
