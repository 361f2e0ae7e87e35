package server

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

const (
	scriptBlock = 1 << 10 // block size
	scriptIDs   = 14      // blocks that are written again and again
	largeIDs    = 36      // blocks of the large commit: more than may wait in memory
)

// script is a client whose requests are chosen by a seed, and what it knows.
// It is the only one of its store, so that its commit number n is at
// timestamp n.
type script struct {
	t       testing.TB
	rng     *rand.Rand
	session occ.SessionID
	seq     uint64
	sent    []*wire.Commit
	blocks  map[occ.BlockID][]version // what has been sent, in order
	acked   int                       // how many of sent have been acknowledged
	stable  occ.Timestamp             // the newest that it was told
	leased  []*wire.LeaseReply
	now     time.Duration
	horizon occ.Timestamp          // that of the store is no newer
	pinned  occ.Timestamp          // was acknowledged
	tried   map[occ.Timestamp]bool // to be pinned

	moved, checkpoints uint64 // figures of the servers, for tests that want them to do much
}

type version struct {
	from occ.Timestamp
	data []byte
}

func newScript(t testing.TB, seed uint64) *script {
	return &script{t: t, rng: rand.New(rand.NewPCG(seed, 7)), blocks: make(map[occ.BlockID][]version), tried: make(map[occ.Timestamp]bool)}
}

// ask sends requests and returns the first answer.
func ask(c *rawClient, requests ...wire.Message) (wire.Message, error) {
	var b []byte
	for _, m := range requests {
		b = wire.Append(b, m)
	}
	if _, err := c.conn.Write(b); err != nil {
		return nil, err
	}
	return answer(c)
}

func answer(c *rawClient) (wire.Message, error) {
	for {
		m, err := c.receive()
		if pong, ok := m.(*wire.Pong); ok && pong.Req == 0 {
			continue
		}
		if items, ok := m.(*wire.Items); ok && items.Items[0].Kind != wire.ItemCommitted {
			continue // of what was sent again
		}
		if refused, ok := m.(*wire.Error); ok {
			return nil, &refusedError{refused}
		}
		return m, err
	}
}

// refusedError is a refusal.
type refusedError struct{ told *wire.Error }

func (e *refusedError) Error() string { return fmt.Sprintf("refused: %+v", *e.told) }

// connect says hello; an error means that the server ends.
func (l *script) connect(s *Server) (*rawClient, error) {
	c, err := tryPipe(l.t, s)
	if err != nil {
		return nil, err
	}
	m, err := ask(c, &wire.Hello{Req: c.next(), Version: wire.Version, Session: l.session})
	if err != nil {
		return nil, err
	}
	c.welcome = m.(*wire.Welcome)
	if l.session != (occ.SessionID{}) && c.welcome.Session != l.session {
		l.t.Fatalf("the session was lost: %+v", c.welcome)
	}
	l.session = c.welcome.Session
	return c, nil
}

// steps takes some steps, until an error, which must be the end of the server.
func (l *script) steps(c *rawClient, n int) error {
	for range n {
		var err error
		switch k := l.rng.IntN(20); {
		case k < 3:
			err = l.lease(c)
		case k < 6:
			err = l.moveHorizon(c)
		case k == 6 && l.pinned == 0 && l.acked > 0:
			err = l.pin(c)
		default:
			var batch []*wire.Commit
			used := make(map[occ.BlockID]bool)
			for n := 1 + l.rng.IntN(3); len(batch) < n; {
				batch = append(batch, l.small(used, n == 1))
			}
			err = l.commit(c, batch...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// small is a commit of a few blocks, none of which is in used. It changes parts
// of blocks only if it is sent alone: when their data cannot be read it is
// refused, and those behind it are not.
func (l *script) small(used map[occ.BlockID]bool, alone bool) *wire.Commit {
	m := &wire.Commit{}
	for range 1 + l.rng.IntN(3) {
		b := occ.BlockID(1 + l.rng.IntN(scriptIDs))
		if used[b] {
			continue
		}
		used[b] = true
		old := l.at(b, occ.Open)
		data := l.bytes(l.rng.IntN(300))
		if old.from == 0 || !alone || l.rng.IntN(2) == 0 {
			m.Writes = append(m.Writes, occ.Write{Block: b, Data: data})
			continue
		}
		ranges := []occ.Range{{Off: uint32(l.rng.IntN(200)), Data: append(data, 1)}}
		m.Reads = append(m.Reads, occ.Read{Block: b, From: old.from})
		m.Writes = append(m.Writes, occ.Write{Block: b, Ranges: ranges})
	}
	if len(m.Writes) == 0 {
		m.Writes = []occ.Write{{Block: scriptIDs + 1 + occ.BlockID(len(l.sent)%3), Data: l.bytes(9)}}
	}
	return l.numbered(m)
}

func (l *script) large() *wire.Commit {
	m := &wire.Commit{}
	for i := range occ.BlockID(largeIDs) {
		m.Writes = append(m.Writes, occ.Write{Block: 100 + i, Data: l.bytes(scriptBlock)})
	}
	return l.numbered(m)
}

// bytes are some that do not end in a zero.
func (l *script) bytes(n int) []byte {
	b := bytes.Repeat([]byte{byte(1 + l.rng.IntN(255))}, n)
	for i := 0; i+8 < n; i += 512 {
		b[i], b[i+1] = byte(l.rng.IntN(256)), byte(len(l.sent))
	}
	return b
}

// numbered notes a commit that will be sent.
func (l *script) numbered(m *wire.Commit) *wire.Commit {
	l.seq++
	m.Seq, m.Digest = l.seq, wire.CommitDigest(m.Reads, m.Writes)
	if l.acked > 6 {
		m.Acked = l.sent[l.acked-6].Seq
	}
	l.sent = append(l.sent, m)
	for _, w := range m.Writes {
		data := w.Data
		if w.Ranges != nil {
			data = occ.Patch(l.at(w.Block, occ.Open).data, w.Ranges)
		}
		l.blocks[w.Block] = append(l.blocks[w.Block], version{occ.Timestamp(len(l.sent)), data})
	}
	return m
}

// at is the version of a block at a timestamp.
func (l *script) at(b occ.BlockID, at occ.Timestamp) (v version) {
	for _, next := range l.blocks[b] {
		if next.from <= at {
			v = next
		}
	}
	return v
}

// commit sends commits together and waits until all are acknowledged.
func (l *script) commit(c *rawClient, batch ...*wire.Commit) error {
	var requests []wire.Message
	for _, m := range batch {
		m.Req = c.next()
		requests = append(requests, m)
	}
	m, err := ask(c, requests...)
	for waiting := len(batch); err == nil; m, err = answer(c) {
		items, ok := m.(*wire.Items)
		if !ok {
			l.t.Fatalf("%T %+v", m, m)
		}
		l.told(items.Stable)
		for _, it := range items.Items {
			if l.acked++; it.Kind != wire.ItemCommitted || it.At != occ.Timestamp(l.acked) {
				l.t.Fatalf("commit %d: %+v", l.acked, it)
			}
			waiting--
		}
		if waiting == 0 {
			return nil
		}
	}
	return err
}

func (l *script) told(stable occ.Timestamp) {
	if stable < l.stable {
		l.t.Fatalf("stable went from %d to %d", l.stable, stable)
	}
	l.stable = stable
}

// lease leases ids, which nobody may have been told of before.
func (l *script) lease(c *rawClient) error {
	m, err := ask(c, &wire.Lease{Req: c.next(), Count: uint64(1 + l.rng.IntN(100))})
	if err != nil {
		return err
	}
	lease := m.(*wire.LeaseReply)
	for _, old := range l.leased {
		if lease.First < old.First+occ.BlockID(old.Count) && old.First < lease.First+occ.BlockID(lease.Count) {
			l.t.Fatalf("ids are leased twice: %+v and %+v", old, lease)
		}
	}
	l.leased = append(l.leased, lease)
	return nil
}

// moveHorizon has the retention window pass, of what is stable now.
func (l *script) moveHorizon(c *rawClient) error {
	l.horizon = l.stable
	for range 2 {
		l.now += 2 * time.Second
		if _, err := ask(c, &wire.Clock{Req: c.next(), Now: l.now}); err != nil {
			return err
		}
	}
	return nil
}

func (l *script) pin(c *rawClient) error {
	l.tried[l.stable] = true
	m, err := ask(c, &wire.Pin{Req: c.next(), Name: fmt.Sprint("at ", l.stable), At: l.stable})
	if err == nil {
		l.pinned = m.(*wire.PinReply).At
	}
	return err
}
