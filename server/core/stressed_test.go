package core

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/record"
)

// stressed is a world with clients that do random things.
type stressed struct {
	*world
	rng     *rand.Rand
	clock   time.Duration
	clients []*stressClient
	commits map[attempt]*wire.Commit
	applied map[attempt]occ.Timestamp
	refused map[attempt]bool
	nextID  ConnID
	checked int // groups of the log that were checked
	saved   checkpoint
}

type attempt struct {
	session occ.SessionID
	seq     uint64
}

type stressClient struct {
	conn    ConnID
	session occ.SessionID
	open    bool // welcomed
	req     uint64
	seq     uint64
	byReq   map[uint64]attempt
	answer  map[uint64]bool // by number
	acked   uint64
}

func stress(seed uint64, cfg Config, steps int) []string {
	s := newStress(seed, cfg)
	for range steps {
		s.step()
		if len(s.problems) > 0 {
			return s.problems
		}
	}
	s.settle()
	s.checkLog()
	return s.problems
}

func newStress(seed uint64, cfg Config) *stressed {
	cfg.BlockSize = 16
	cfg.Retention = 4 * time.Second
	cfg.Limits = wire.DefaultLimits()
	cfg.Limits.Holds = 3
	cfg.Limits.FrameBytes = 1000
	s := &stressed{
		world:   newWorld(cfg),
		rng:     rand.New(rand.NewPCG(seed, 1)),
		commits: make(map[attempt]*wire.Commit),
		applied: make(map[attempt]occ.Timestamp),
		refused: make(map[attempt]bool),
	}
	for range 4 {
		s.clients = append(s.clients, &stressClient{byReq: make(map[uint64]attempt), answer: make(map[uint64]bool)})
	}
	s.onMessage = s.heard
	return s
}

func (s *stressed) step() {
	c := s.clients[s.rng.IntN(len(s.clients))]
	switch s.rng.IntN(20) {
	case 0, 1, 2:
		s.flush()
	case 3, 4, 5:
		s.durable()
		s.checkLog()
	case 6:
		s.holdLoad = s.rng.IntN(2) == 0
	case 7:
		s.release()
	case 8:
		s.clock += time.Duration(s.rng.IntN(1500)) * time.Millisecond
		s.core.Tick(s.clock)
		s.pump()
	case 9:
		switch s.rng.IntN(12) {
		case 0:
			if s.saved.state != nil {
				s.restore(s.saved)
			} else {
				s.boot()
			}
			s.clock = 0
			for _, c := range s.clients {
				c.conn, c.open = 0, false
			}
		case 1, 2:
			s.core.Disconnect(c.conn)
			delete(s.streams, c.conn)
			s.pump()
			c.conn, c.open = 0, false
		}
	default:
		s.request(c)
	}
}

func (s *stressed) request(c *stressClient) {
	if c.conn == 0 {
		s.nextID++
		c.conn = s.nextID
		s.connect(c.conn)
		c.req++
		s.receive(c.conn, &wire.Hello{Req: c.req, Version: wire.Version, Session: c.session})
		return
	}
	if !c.open || s.streams[c.conn] == nil {
		return
	}
	// Resends first, in the order of their numbers.
	for seq := c.acked + 1; seq <= c.seq; seq++ {
		a := attempt{c.session, seq}
		if m := s.commits[a]; !c.answer[seq] && m.Req == 0 {
			again := *m
			c.req++
			m.Req, again.Req, again.Resend = c.req, c.req, true
			c.byReq[c.req] = a
			s.receive(c.conn, &again)
		}
	}
	c.req++
	switch s.rng.IntN(12) {
	case 10, 11:
		s.receive(c.conn, s.snapshot(c.req))
	case 0:
		s.receive(c.conn, &wire.Ping{Req: c.req})
	case 1:
		s.receive(c.conn, &wire.Validate{Req: c.req, Reads: s.readSet(c)})
	case 2, 3, 4, 5:
		items := make([]wire.ReadItem, 1+s.rng.IntN(3))
		for i := range items {
			b := s.block()
			items[i] = wire.ReadItem{Block: b, At: occ.Latest, Have: wire.Absent}
			if s.rng.IntN(3) == 0 {
				items[i].At = occ.Timestamp(s.rng.IntN(int(s.core.Stable()) + 1))
			}
			if from, ok := s.streams[c.conn].open[b]; ok && s.rng.IntN(2) == 0 {
				items[i].Have = from
			}
		}
		s.receive(c.conn, &wire.Read{Req: c.req, Items: items})
	default:
		c.seq++
		reads := s.readSet(c)
		var writes []occ.Write
		first := s.block()
		for i := range s.rng.IntN(3) + 1 {
			b := 1 + (first+occ.BlockID(i)-1)%6
			wr := occ.Write{Block: b, Data: numbered(c.seq)}
			if slices.ContainsFunc(reads, func(r occ.Read) bool { return r.Block == b }) && s.rng.IntN(3) > 0 {
				wr = occ.Write{Block: b, Ranges: s.ranges()}
			}
			writes = append(writes, wr)
		}
		m := newCommit(c.req, c.seq, reads, writes)
		for c.acked+1 < c.seq && c.answer[c.acked+1] {
			c.acked++
		}
		m.Acked, m.Urgent = c.acked, s.rng.IntN(3) == 0
		a := attempt{c.session, c.seq}
		kept := *m
		s.commits[a] = &kept
		c.byReq[c.req] = a
		s.receive(c.conn, m)
	}
}

// ranges are one or two somewhere in a block of 16 bytes.
func (s *stressed) ranges() []occ.Range {
	data := func() []byte { return []byte{byte(s.rng.IntN(2)), byte(s.rng.IntN(256))}[:1+s.rng.IntN(2)] }
	return []occ.Range{{Off: uint32(s.rng.IntN(6)), Data: data()}, {Off: uint32(9 + s.rng.IntN(6)), Data: data()}}[:1+s.rng.IntN(2)]
}

func (s *stressed) block() occ.BlockID { return occ.BlockID(1 + s.rng.IntN(6)) }

func (s *stressed) readSet(c *stressClient) []occ.Read {
	var reads []occ.Read
	for b := occ.BlockID(1); b <= 6; b++ {
		if from, ok := s.streams[c.conn].open[b]; ok && s.rng.IntN(2) == 0 {
			reads = append(reads, occ.Read{Block: b, From: from})
		}
	}
	return reads
}

// heard is what the clients do with a message.
func (s *stressed) heard(id ConnID, m wire.Message) {
	var c *stressClient
	for _, c = range s.clients {
		if c.conn == id {
			break
		}
	}
	if c.conn != id {
		return
	}
	switch m := m.(type) {
	case *wire.Welcome:
		c.open = true
		if m.Session != c.session {
			c.session, c.seq, c.acked, c.answer = m.Session, 0, 0, make(map[uint64]bool)
		}
		for seq := c.acked + 1; seq <= c.seq; seq++ {
			s.commits[attempt{c.session, seq}].Req = 0 // to be sent again
		}
	case *wire.Items:
		for _, it := range m.Items {
			if it.Kind == wire.ItemCommitted {
				s.committed(c, c.byReq[it.Req], it.At)
			}
		}
	case *wire.Conflict:
		if a, ok := c.byReq[m.Req]; ok {
			c.answer[a.seq] = true
			s.refused[a] = true
		}
	case *wire.Outcome:
		a := c.byReq[m.Req]
		switch m.Status {
		case wire.OutcomeCommitted:
			s.committed(c, a, m.At)
		case wire.OutcomeConflict:
			c.answer[a.seq] = true
			s.refused[a] = true
		default:
			s.problem("outcome of %v unknown", a)
		}
	case *wire.Error:
		if m.Code == wire.CodeGone || m.Code == wire.CodePinned || m.Code == wire.CodeNoPin {
			return
		}
		s.problem("error: %+v", *m)
	}
}

func (s *stressed) committed(c *stressClient, a attempt, at occ.Timestamp) {
	c.answer[a.seq] = true
	s.checkLog()
	if s.applied[a] != at {
		s.problem("%v was acknowledged at %d, but the log has %d", a, at, s.applied[a])
	}
}

// checkLog judges what became durable since the last time.
func (s *stressed) checkLog() {
	for ; s.checked < len(s.log); s.checked++ {
		for _, r := range s.log[s.checked] {
			r, ok := r.(*record.Commit)
			if !ok {
				continue
			}
			a := attempt{r.Session, r.Seq}
			if s.applied[a] != 0 {
				s.problem("%v is in the log twice", a)
			}
			s.applied[a] = r.At
			for _, read := range s.commits[a].Reads {
				if now := s.at(read.Block, r.At-1); now != read.From {
					s.problem("commit %d read version %d of block %d, which was at %d", r.At, read.From, read.Block, now)
				}
			}
		}
	}
	for a := range s.refused {
		if s.applied[a] != 0 {
			s.problem("%v conflicted, but is in the log", a)
		}
	}
}
