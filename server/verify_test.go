package server

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// verify checks that a server has everything that was acknowledged, exactly
// once, and of the rest a beginning, each commit wholly.
func (l *script) verify(s *Server) *rawClient {
	l.t.Helper()
	c, err := l.connect(s)
	if err != nil {
		l.t.Fatal(err)
	}
	l.told(c.welcome.Stable)
	if int(l.stable) < l.acked || int(l.stable) > len(l.sent) {
		l.t.Fatalf("stable is %d: %d commits were sent and %d acknowledged", l.stable, len(l.sent), l.acked)
	}
	l.readAll(c)
	for i, m := range l.sent {
		if m.Seq <= l.sent[len(l.sent)-1].Acked {
			continue // the server may have forgotten it
		}
		again := *m
		again.Req, again.Resend = c.next(), true
		answer, err := ask(c, &again)
		if err != nil {
			l.t.Fatal(err)
		}
		if o, ok := answer.(*wire.Outcome); !ok || o.Status != wire.OutcomeCommitted || o.At != occ.Timestamp(i+1) {
			l.t.Fatalf("commit %d of %d, %d acknowledged, is told as %T %+v", i+1, len(l.sent), l.acked, answer, answer)
		}
	}
	l.acked, l.stable = len(l.sent), occ.Timestamp(len(l.sent))
	if err := errors.Join(l.lease(c), l.lease(c)); err != nil {
		l.t.Fatal(err)
	}
	return c
}

// readAll reads every version at its first and last timestamp.
func (l *script) readAll(c *rawClient) {
	l.t.Helper()
	var items []wire.ReadItem
	for b, versions := range l.blocks {
		for i, v := range versions {
			items = append(items, wire.ReadItem{Block: b, At: v.from, Have: wire.Absent})
			if i > 0 {
				items = append(items, wire.ReadItem{Block: b, At: v.from - 1, Have: wire.Absent})
			}
		}
		items = append(items, wire.ReadItem{Block: b, At: l.stable, Have: wire.Absent})
		if l.pinned > 0 {
			items = append(items, wire.ReadItem{Block: b, At: l.pinned, Have: wire.Absent})
		}
	}
	var asked []wire.ReadItem
	for _, it := range items {
		if it.At <= l.stable {
			asked = append(asked, it)
		}
	}
	for len(asked) > 0 {
		n := min(len(asked), 64)
		m, err := ask(c, &wire.Read{Req: c.next(), Items: asked[:n]})
		if err != nil {
			l.t.Fatal(err)
		}
		for i, r := range m.(*wire.ReadReply).Results {
			if err := l.right(asked[i], r); err != nil {
				l.t.Fatalf("block %d at %d of %d: %v", asked[i].Block, asked[i].At, l.stable, err)
			}
		}
		asked = asked[n:]
	}
}

func (l *script) right(it wire.ReadItem, r wire.ReadResult) error {
	v, to := l.at(it.Block, it.At), occ.Timestamp(0)
	for _, next := range l.blocks[it.Block] {
		if next.from > it.At && next.from <= l.stable {
			to = next.from
			break
		}
	}
	switch {
	case r.Status == wire.StatusGone && it.At != l.pinned && it.At < r.Horizon && r.Horizon <= l.horizon:
		return nil
	case r.Status == wire.StatusCurrent && to == 0, r.Status == wire.StatusClosed && r.To == to,
		r.Status == wire.StatusClosed && l.tried[it.At] && r.To == it.At+1 && to <= l.horizon: // see Versions.Lookup
		if r.From == v.from && bytes.Equal(r.Data, bytes.TrimRight(v.data, "\x00")) {
			return nil
		}
	}
	return fmt.Errorf("got status %d, [%d, %d), %d bytes, horizon %d; want [%d, %d), %d bytes, horizon at most %d",
		r.Status, r.From, r.To, len(r.Data), r.Horizon, v.from, to, len(v.data), l.horizon)
}
