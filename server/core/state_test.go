package core

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/record"
)

// stateOf is the state of this moment.
func stateOf(c *Core) (state []byte) {
	c.BeginState()
	for complete := false; !complete; {
		state, complete = c.NextState(state)
	}
	return state
}

// plainState is the state of this moment, made in one piece, whether another is
// in the making or not, and without the list of sessions that the core keeps
// for it.
func plainState(c *Core) []byte {
	state := record.State{Stable: c.Stable(), Horizon: c.Horizon(), Epoch: c.logged.epoch, Next: c.logged.nextID}
	sessions := slices.Collect(maps.Values(c.sessions))
	for _, s := range c.queue {
		if _, ends := s.record.(*record.SessionEnd); ends {
			sessions = append(sessions, s.session)
		}
	}
	slices.SortFunc(sessions, func(a, b *session) int { return cmp.Compare(a.logged.order, b.logged.order) })
	for _, s := range sessions {
		if s.logged.order == 0 {
			continue
		}
		of := record.SessionState{ID: s.id, Mark: s.logged.mark, Next: s.logged.next}
		for _, o := range s.outcomes {
			if o.state == outcomeCommitted && o.seq > s.logged.mark {
				of.Outcomes = append(of.Outcomes, record.Outcome{Seq: o.seq, Digest: o.digest, At: o.at})
			}
		}
		state.Sessions = append(state.Sessions, of)
	}
	for _, p := range c.pins.applied {
		state.Pins = append(state.Pins, record.Pin{Name: p.name, At: p.at, Lease: p.lease})
	}
	return record.AppendState(nil, &state)
}

// piecewise compares states that are made in pieces while the core goes on
// with those of their moments.
type piecewise struct {
	*Core
	rng         *rand.Rand
	want, got   []byte
	pieces      int // of this state
	made        int // states
	most        int // pieces of one
	kept, ended int // sessions that changed, or ended, before they were encoded
}

// goOn begins a state or makes the next piece of it.
func (p *piecewise) goOn() error {
	if p.want == nil {
		p.want, p.got, p.pieces = plainState(p.Core), nil, 0
		p.BeginState()
		return nil
	}
	for e := p.logged.sessions.Front(); e != nil; e = e.Next() {
		if s := e.Value.(*session); s.logged.over {
			p.ended++
		} else if s.logged.kept != nil {
			p.kept++
		}
	}
	var complete bool
	p.got, complete = p.NextState(p.got)
	p.pieces++
	if !complete {
		return nil
	}
	if !bytes.Equal(p.got, p.want) {
		return fmt.Errorf("in %d pieces the state is\n%x, it was\n%x", p.pieces, p.got, p.want)
	}
	p.want = nil
	p.made++
	p.most = max(p.most, p.pieces)
	for e := p.logged.sessions.Front(); e != nil; e = e.Next() {
		if s := e.Value.(*session); s.logged.over || s.logged.kept != nil {
			return fmt.Errorf("session %v is left over", s.id)
		}
	}
	return nil
}

// enough says what this test did not come to.
func (p *piecewise) enough(t *testing.T) {
	t.Helper()
	if p.made < 10 || p.most < 3 || p.kept == 0 || p.ended == 0 {
		t.Errorf("%d states, of up to %d pieces, with %d sessions that changed and %d that ended meanwhile", p.made, p.most, p.kept, p.ended)
	}
}

// TestStateInPieces: whatever happens between the pieces of a state, it is that
// of the moment at which it was begun; first in a core with connections, then
// in one that recovers what the first has put into the log.
func TestStateInPieces(t *testing.T) {
	for seed := range uint64(3) {
		running := newSessions(seed)
		for i := range 12_000 {
			running.step()
			if i > 2000 && running.rng.IntN(20) == 0 {
				if err := running.goOn(); err != nil {
					t.Fatalf("seed %d, step %d: %v", seed, i, err)
				}
			}
		}
		running.enough(t)

		recovering := &piecewise{Core: New(Config{}), rng: running.rng}
		for i, g := range running.log {
			if err := recovering.Recover(g); err != nil {
				t.Fatal(err)
			}
			for range recovering.rng.IntN(3) {
				if err := recovering.trimAny(); err != nil {
					t.Fatal(err)
				}
			}
			if recovering.rng.IntN(2) == 0 {
				if err := recovering.goOn(); err != nil {
					t.Fatalf("seed %d, group %d: %v", seed, i, err)
				}
			}
		}
		recovering.enough(t)
	}
}

// trimAny recovers a mark of any session, as older logs have them.
func (p *piecewise) trimAny() error {
	s := p.created[p.rng.IntN(len(p.created))]
	if s.ended {
		return nil
	}
	return p.Recover([]record.Record{&record.Trim{Session: s.id, UpTo: p.rng.Uint64N(s.next)}})
}

// sessions is a core with many of them, each with a connection.
type sessions struct {
	piecewise
	list  []ConnID
	last  ConnID
	under []record.Record   // a group that is not yet durable
	log   [][]record.Record // durable
}

func newSessions(seed uint64) *sessions {
	ids := uint64(0)
	c := New(Config{NewSession: func() (id occ.SessionID) {
		ids++
		binary.LittleEndian.PutUint64(id[:], ids)
		return id
	}})
	s := &sessions{piecewise: piecewise{Core: c, rng: rand.New(rand.NewPCG(seed, 3))}}
	s.Start(0)
	return s
}

func (s *sessions) step() {
	switch s.rng.IntN(40) {
	case 0, 1, 2:
		s.last++
		s.Connect(s.last)
		s.Receive(s.last, &wire.Hello{Req: 1, Version: wire.Version})
		s.list = append(s.list, s.last)
	case 3:
		s.end()
	case 4:
		s.Flush()
	case 5:
		if s.under != nil {
			s.log = append(s.log, s.under)
			s.under = nil
			s.Durable()
		}
	default:
		s.request()
	}
	for _, e := range s.Take() {
		if e, ok := e.(Append); ok {
			s.under = slices.Clone(e.Records)
		}
	}
}

// any returns the connection of a session, nil if there is none of use.
func (s *sessions) any() (at int, cn *conn) {
	if len(s.list) == 0 {
		return 0, nil
	}
	at = s.rng.IntN(len(s.list))
	if cn = s.conns[s.list[at]]; cn == nil || cn.state != connOpen {
		return 0, nil
	}
	return at, cn
}

// end ends a session with its connection.
func (s *sessions) end() {
	at, cn := s.any()
	if cn == nil || cn.session.busy() {
		return
	}
	s.list = slices.Delete(s.list, at, at+1)
	s.Disconnect(cn.id)
	s.evict(cn.session)
}

func (s *sessions) request() {
	_, cn := s.any()
	if cn == nil {
		return
	}
	of := cn.session
	name := fmt.Sprint(s.rng.IntN(5))
	switch s.rng.IntN(20) {
	case 0:
		s.Receive(cn.id, &wire.Lease{Req: 2, Count: 1 + s.rng.Uint64N(5)})
	case 1:
		s.Receive(cn.id, &wire.Pin{Req: 2, Name: name, At: s.Stable()})
	case 2:
		s.Receive(cn.id, &wire.Unpin{Req: 2, Name: name})
	default:
		b := occ.BlockID(1 + s.rng.IntN(100))
		var reads []occ.Read
		if s.rng.IntN(4) == 0 {
			reads = []occ.Read{{Block: b}} // which is a conflict, once b was written
		}
		m := newCommit(2, of.next, reads, []occ.Write{{Block: b, Data: []byte{1}}})
		m.Acked = of.mark
		if s.rng.IntN(3) == 0 {
			m.Acked += s.rng.Uint64N(of.next - of.mark)
		}
		s.Receive(cn.id, m)
	}
}

// TestOneStateAtATime: to begin a second one is a fault, and so is to go on
// behind the end; neither does harm.
func TestOneStateAtATime(t *testing.T) {
	c := New(Config{})
	fault := func(f func()) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Error("misuse goes unnoticed")
			}
		}()
		f()
	}
	for range 2 {
		fault(func() { c.NextState(nil) })
		c.BeginState()
		fault(c.BeginState)
		if state, complete := c.NextState(nil); !complete || !bytes.Equal(state, plainState(c)) {
			t.Errorf("%x, %v", state, complete)
		}
	}
}
