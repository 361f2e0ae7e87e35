package core_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/history"
	"github.com/tidemark/tidemark/occ/wire"
	server "github.com/tidemark/tidemark/server/core"
)

// A script drives client cores and a server core by hand: every message, log
// write and load happens when the test says so. At the end it checks the
// history of the whole run.
type script struct {
	t       *testing.T
	now     time.Duration
	srv     *server.Core
	clients []*scriptClient
	values  map[server.Ref][]byte
	newest  map[occ.BlockID]occ.Timestamp
	syncing bool // a group is on its way to disk
	hold    bool // loads are held back
	loads   []server.Load
	damaged occ.BlockID // cannot be loaded
	check   *history.Checker
	faulty  bool // invariants are expected to break
}

// scriptOutcomes is how many unacknowledged commits the server allows.
const scriptOutcomes = 8

// The blocks of the schedules.
const (
	x occ.BlockID = 101
	y occ.BlockID = 102
	z occ.BlockID = 103
)

var blockNames = map[occ.BlockID]string{x: "x", y: "y", z: "z"}

type scriptClient struct {
	s    *script
	conn server.ConnID
	*core.Core
	up         []wire.Message // sent, not yet at the server
	down       []wire.Message // sent by the server, not yet here
	sent       map[wire.Type]int
	urgentSent int // commits

	reconnects int
}

type scriptTx struct {
	*core.Tx
	c     *scriptClient
	wakes int
}

func (tx *scriptTx) Wake() { tx.wakes++ }

// newScript starts a server and n connected clients. At the end of the test
// the history must be clean.
func newScript(t *testing.T, n int) *script {
	s := faultyScript(t, n, occ.Faults{}, occ.Faults{})
	t.Cleanup(func() {
		if err := s.check.Finish().Err(); err != nil && !t.Failed() {
			t.Errorf("history: %v", err)
		}
	})
	return s
}

// faultyScript is newScript with rules broken on purpose; the test looks at
// the history itself.
func faultyScript(t *testing.T, n int, ofServer, ofClients occ.Faults) *script {
	s := &script{t: t, now: time.Second, values: make(map[server.Ref][]byte), newest: make(map[occ.BlockID]occ.Timestamp), check: history.New(history.Options{})}
	s.faulty = ofServer != occ.Faults{} || ofClients != occ.Faults{}
	sessions := byte(0)
	s.srv = server.New(server.Config{
		Store: occ.StoreID{1}, Epoch: 1, BlockSize: 64, Retention: time.Minute, Faults: ofServer,
		Limits:     wire.Limits{Outcomes: scriptOutcomes},
		NewSession: func() occ.SessionID { sessions++; return occ.SessionID{sessions} },
	})
	s.srv.Start(s.now)
	for i := range n {
		c := &scriptClient{s: s, conn: server.ConnID(i + 1), sent: make(map[wire.Type]int)}
		c.Core = core.New(core.Config{CacheBytes: 1 << 20, Client: i, Recorder: s.check, Faults: ofClients, Now: func() time.Duration { return s.now }})
		s.clients = append(s.clients, c)
		s.srv.Connect(c.conn)
		c.Hello(c, s.now)
		s.settle()
		if !c.Online() {
			t.Fatal("the server did not welcome the client")
		}
		c.sent = make(map[wire.Type]int)
	}
	return s
}

func (c *scriptClient) Wake() {}

// disconnect loses the connection, with all that is under way in it.
func (c *scriptClient) disconnect() {
	c.s.srv.Disconnect(c.conn)
	c.Disconnect()
	c.conn, c.up, c.down = 0, nil, nil
	c.s.perform()
}

// reconnect opens another one.
func (c *scriptClient) reconnect() {
	c.s.t.Helper()
	c.conn = server.ConnID(len(c.s.clients) + 1 + c.reconnects)
	c.reconnects++
	c.s.srv.Connect(c.conn)
	c.Hello(c, c.s.now)
	c.s.settle()
	if !c.Online() {
		c.s.t.Fatal("the server did not welcome the client back")
	}
}

// perform carries out the server's effects; Append waits for sync.
func (s *script) perform() {
	for {
		s.srv.Flush()
		effects := s.srv.Take()
		if len(effects) == 0 {
			return
		}
		for _, e := range effects {
			switch e := e.(type) {
			case server.Send:
				for _, c := range s.clients {
					if c.conn == e.Conn {
						c.down = append(c.down, s.overTheWire(e.Message))
					}
				}
			case server.Append:
				s.syncing = true
			case server.Put:
				s.values[e.Ref()] = e.Value(func(base server.Ref) []byte { return s.values[base] })
				s.newest[e.Block] = e.From
			case server.Drop:
				delete(s.values, server.Ref(e))
			case server.Load:
				if s.hold {
					s.loads = append(s.loads, e)
				} else {
					s.loaded(e)
				}
			case server.Hangup:
				s.t.Fatalf("the server hung up connection %d: %s", e.Conn, e.Reason)
			}
		}
	}
}

func (s *script) loaded(e server.Load) {
	data := make([][]byte, len(e.Refs))
	for i, r := range e.Refs {
		if r.Block == s.damaged {
			s.srv.LoadFailed(e.ID, errors.New("checksum mismatch"))
			return
		}
		data[i] = s.values[r]
	}
	s.srv.Loaded(e.ID, data)
}

// release lets the loads go on that were held back.
func (s *script) release() {
	loads := s.loads
	s.hold, s.loads = false, nil
	for _, l := range loads {
		s.loaded(l)
	}
	s.perform()
}

// overTheWire returns m as the other side would decode it.
func (s *script) overTheWire(m wire.Message) wire.Message {
	body, rest, err := wire.SplitFrame(wire.Append(nil, m), wire.MaxFrame)
	if err != nil || len(rest) > 0 {
		s.t.Fatalf("frame of %T: %v, %d bytes left", m, err, len(rest))
	}
	m, err = wire.DecodeWith(body, 64)
	if err != nil {
		s.t.Fatalf("decoding %T: %v", m, err)
	}
	return m
}

// send carries all that c has queued to the server.
func (c *scriptClient) send() {
	c.collect()
	up := c.up
	c.up = nil
	for _, m := range up {
		c.s.srv.Receive(c.conn, m)
		c.s.perform()
	}
}

// together carries what several clients have queued to the server before a
// group can form, so that they share one.
func (s *script) together(clients ...*scriptClient) {
	for _, c := range clients {
		c.collect()
		for _, m := range c.up {
			s.srv.Receive(c.conn, m)
		}
		c.up = nil
	}
	s.perform()
}

func (c *scriptClient) collect() {
	for _, m := range c.TakeMessages() {
		c.sent[m.Type()]++
		if m, ok := m.(*wire.Commit); ok && m.Urgent {
			c.urgentSent++
		}
		c.up = append(c.up, c.s.overTheWire(m))
	}
}

// sync makes the group that is on its way durable.
func (s *script) sync() {
	s.t.Helper()
	if !s.syncing {
		s.t.Fatal("no group is on its way to disk")
	}
	s.syncing = false
	s.srv.Durable()
	s.check.Applied(s.now, s.srv.Stable())
	s.perform()
}

// receive delivers the next message of the stream to c.
func (c *scriptClient) receive() {
	c.s.t.Helper()
	if len(c.down) == 0 {
		c.s.t.Fatal("nothing on the stream")
	}
	m := c.down[0]
	c.down = c.down[1:]
	if err := c.Receive(m); err != nil {
		c.s.t.Fatalf("receiving %T: %v", m, err)
	}
	if !c.s.faulty {
		c.checkOpen()
	}
}

func (c *scriptClient) receiveAll() {
	c.s.t.Helper()
	for len(c.down) > 0 {
		c.receive()
	}
}

// checkOpen is invariant 3: every version held open is the server's version
// at every timestamp through the GLUB.
func (c *scriptClient) checkOpen() {
	c.s.t.Helper()
	for _, b := range []occ.BlockID{x, y, z} {
		for _, iv := range c.Cached(b) {
			if iv.To != occ.Open {
				continue
			}
			if newest := c.s.newest[b]; newest != iv.From && newest <= c.GLUB() {
				c.s.t.Errorf("%s@%d is open at GLUB %d, but ended at %d", blockNames[b], iv.From, c.GLUB(), newest)
			}
		}
	}
}

// settle delivers everything until nothing moves.
func (s *script) settle() {
	for moved := true; moved; {
		moved = false
		for _, c := range s.clients {
			c.collect()
			if len(c.up) > 0 {
				c.send()
				moved = true
			}
		}
		if s.syncing {
			s.sync()
			moved = true
		}
		for _, c := range s.clients {
			if len(c.down) > 0 {
				c.receiveAll()
				moved = true
			}
		}
	}
}

// ro and rw begin transactions.
func (c *scriptClient) ro(epsilon time.Duration) *scriptTx { return c.begin(true, epsilon) }
func (c *scriptClient) rw() *scriptTx                      { return c.begin(false, 0) }

func (c *scriptClient) begin(readOnly bool, epsilon time.Duration) *scriptTx {
	tx := &scriptTx{Tx: new(core.Tx), c: c}
	c.Begin(tx.Tx, readOnly, epsilon, c.s.now)
	tx.SetWaker(tx)
	return tx
}

// try reads b if that needs no message, and returns the version as "x@1".
func (tx *scriptTx) try(b occ.BlockID) (string, bool) {
	data, ok := tx.c.Read(tx.Tx, b)
	if !ok {
		return "", false
	}
	if text := strings.TrimRight(string(data), "\x00"); text != "" {
		return text, true
	}
	return blockNames[b] + "@0", true
}

// ask starts reading b and leaves the request with c.
func (tx *scriptTx) ask(b occ.BlockID) {
	tx.c.s.t.Helper()
	if got, ok := tx.try(b); ok {
		tx.c.s.t.Fatalf("%s was read from the cache, not asked for", got)
	}
	tx.c.Ask(tx.Tx, []occ.BlockID{b}, tx.c.s.now)
}

// reads reads b, with whatever messages that takes.
func (tx *scriptTx) reads(b occ.BlockID) string {
	for range 10 {
		if got, ok := tx.try(b); ok {
			return got
		}
		tx.c.Ask(tx.Tx, []occ.BlockID{b}, tx.c.s.now)
		tx.c.s.settle()
		if tx.State() != core.Running {
			return tx.State().String()
		}
		if tx.Gone() {
			return "gone"
		}
	}
	return "never"
}

// writes puts the block's content under the name that it will have when the
// transaction commits at c: "x@c".
func (tx *scriptTx) writes(b occ.BlockID, at occ.Timestamp) {
	data := make([]byte, 64)
	copy(data, fmt.Sprintf("%s@%d", blockNames[b], at))
	tx.c.Write(tx.Tx, b, data)
}

// commit queues the commit, or finishes a read-only transaction.
func (tx *scriptTx) commit() { tx.c.Commit(tx.Tx, tx.c.s.now) }

// write runs a whole transaction that writes blocks without reading them.
func (c *scriptClient) write(at occ.Timestamp, blocks ...occ.BlockID) {
	c.s.t.Helper()
	tx := c.queueWrite(at, blocks...)
	c.s.settle()
	tx.is(core.Committed)
	if tx.CommitAt() != at {
		c.s.t.Fatalf("committed at %d, not %d", tx.CommitAt(), at)
	}
}

// queueWrite queues the commit of such a transaction.
func (c *scriptClient) queueWrite(at occ.Timestamp, blocks ...occ.BlockID) *scriptTx {
	tx := c.rw()
	for _, b := range blocks {
		tx.writes(b, at)
	}
	tx.commit()
	return tx
}

// warm reads blocks so that they are cached open.
func (c *scriptClient) warm(blocks ...occ.BlockID) {
	tx := c.ro(core.Unbounded)
	for _, b := range blocks {
		tx.reads(b)
	}
	tx.commit()
	c.sent = make(map[wire.Type]int)
}

// look has a transaction that goes on read the newest version of b, so that
// c caches it although it knows an older one.
func (c *scriptClient) look(b occ.BlockID) { c.ro(0).reads(b) }

func (tx *scriptTx) is(want core.State) {
	tx.c.s.t.Helper()
	if tx.State() != want {
		tx.c.s.t.Fatalf("the transaction is %v, not %v", tx.State(), want)
	}
}

func (tx *scriptTx) want(b occ.BlockID, version string) {
	tx.c.s.t.Helper()
	if got := tx.reads(b); got != version {
		tx.c.s.t.Fatalf("read %s, not %s", got, version)
	}
}

func (tx *scriptTx) wantRange(lo, hi occ.Timestamp) {
	tx.c.s.t.Helper()
	if l, h := tx.Range(); l != lo || h != hi {
		tx.c.s.t.Fatalf("runs at [%d,%d], not [%d,%d]", l, h, lo, hi)
	}
}

// cached asserts what c has of b, newest first: "[1,2) [0,1)".
func (c *scriptClient) cached(b occ.BlockID, want string) {
	c.s.t.Helper()
	var got []string
	for _, iv := range c.Cached(b) {
		got = append(got, iv.String())
	}
	if s := strings.Join(got, " "); s != want {
		c.s.t.Fatalf("block %s is cached as %q, not %q", blockNames[b], s, want)
	}
}

// counts asserts how many messages of a type c has sent since it was warm.
func (c *scriptClient) counts(typ wire.Type, want int) {
	c.s.t.Helper()
	c.collect()
	if got := c.sent[typ]; got != want {
		c.s.t.Fatalf("%d messages of type %d were sent, not %d", got, typ, want)
	}
}
