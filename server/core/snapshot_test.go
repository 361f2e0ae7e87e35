package core

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/record"
)

// snapshot is a random request about pins, or for a lease.
func (s *stressed) snapshot(req uint64) wire.Message {
	name := string(rune('a' + s.rng.IntN(4)))
	at := occ.Timestamp(s.rng.IntN(int(s.core.Stable()) + 1))
	switch s.rng.IntN(7) {
	case 0:
		return &wire.Unpin{Req: req, Name: name}
	case 1:
		return &wire.Pins{Req: req}
	case 2:
		return &wire.Changes{Req: req, Since: at / 2, At: at, Limit: 3}
	case 3:
		return &wire.Lease{Req: req, Count: 5}
	case 4:
		at = s.core.Stable() - min(s.core.Stable(), 3)
	}
	return &wire.Pin{Req: req, Name: name, At: at, Lease: time.Duration(s.rng.IntN(3)) * 3 * time.Second}
}

// TestStateOfEndedSession: a session whose end is not in the log yet belongs
// into the state, for its end will follow; one that is not in the log yet does
// not.
func TestStateOfEndedSession(t *testing.T) {
	w := newWorld(Config{})
	w.open(1)
	first := w.core.conns[1].session.id
	w.core.Disconnect(1)
	for n := uint32(0); len(w.core.sessions) < MaxSessions; n++ {
		var id occ.SessionID
		binary.LittleEndian.PutUint32(id[4:], n+1)
		w.core.addSession(id)
	}
	w.connect(2)
	w.receive(2, &wire.Hello{Req: 1, Version: wire.Version}) // ends the first
	sessions := func() (ids []occ.SessionID) {
		s, err := record.DecodeState(stateOf(w.core))
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range s.Sessions {
			ids = append(ids, of.ID)
		}
		return ids
	}
	if ids := sessions(); w.core.sessions[first] != nil || len(ids) != 1 || ids[0] != first {
		t.Fatalf("%v before the end is durable", ids)
	}
	w.settle()
	if ids := sessions(); len(ids) != 1 || ids[0] != w.core.conns[2].session.id {
		t.Fatalf("%v afterwards", ids)
	}
}

// TestPinLimits: there are no more than MaxPins pins, whose names have at most
// MaxPinName bytes, and the list of them comes in as many messages as it needs.
func TestPinLimits(t *testing.T) {
	if MaxPinName != record.MaxName {
		t.Fatal("the log has another limit for names")
	}
	cfg := Config{BlockSize: 16}
	cfg.Limits.FrameBytes = 4096
	w := newWorld(cfg)
	w.open(1)
	refused := map[wire.ErrorCode]int{}
	var list []string
	last := false
	w.onMessage = func(_ ConnID, m wire.Message) {
		switch m := m.(type) {
		case *wire.Error:
			refused[m.Code]++
		case *wire.PinsReply:
			last = m.Last
			for _, p := range m.Pins {
				list = append(list, p.Name)
			}
		}
	}
	req := uint64(1)
	pin := func(name string) {
		req++
		w.receive(1, &wire.Pin{Req: req, Name: name})
		w.settle()
	}
	pin(strings.Repeat("n", MaxPinName+1))
	for i := range MaxPins + 5 {
		pin(fmt.Sprintf("%0*d", MaxPinName, i))
	}
	pin(fmt.Sprintf("%0*d", MaxPinName, 0)) // again
	if refused[wire.CodeTooLarge] != 6 || len(refused) != 1 || len(w.core.pins.applied) != MaxPins {
		t.Fatalf("refused %v, %d pins", refused, len(w.core.pins.applied))
	}
	messages := 0
	for after := ""; !last && messages < MaxPins; messages++ {
		req++
		w.receive(1, &wire.Pins{Req: req, After: after})
		after = list[len(list)-1]
	}
	if len(list) != MaxPins || messages < 10 || len(w.problems) > 0 {
		t.Errorf("%d pins in %d messages, %v", len(list), messages, w.problems)
	}
}

// TestPinNames: a new name must be fit to be printed. Of one from before that
// rule everything works.
func TestPinNames(t *testing.T) {
	const old = "old\nname"
	w := newWorld(Config{BlockSize: 16})
	if reason := w.core.replayPin(&record.Pin{Name: old}); reason != "" {
		t.Fatal(reason)
	}
	w.open(1)
	var answers []string
	w.onMessage = func(_ ConnID, m wire.Message) {
		switch m := m.(type) {
		case *wire.Error:
			answers = append(answers, fmt.Sprint("error ", m.Code))
		case *wire.PinReply:
			answers = append(answers, "done")
		case *wire.PinsReply:
			answers = append(answers, fmt.Sprintf("%d pins, the first is %q", len(m.Pins), m.Pins[0].Name))
		}
	}
	req := uint64(1)
	for _, c := range []struct {
		m    wire.Message
		want string
	}{
		{&wire.Pin{Name: "a\nb"}, "error 14"},
		{&wire.Pin{Name: "\x1b[2J"}, "error 14"},
		{&wire.Pin{Name: "nul\x00"}, "error 14"},
		{&wire.Pin{Name: "\u009b2J"}, "error 14"},
		{&wire.Pin{Name: "\x9b2J"}, "error 14"},
		{&wire.Pin{Name: "a\x7f"}, "error 14"},
		{&wire.Pin{Name: "Übersicht \"1\", 日本"}, "done"},
		{&wire.Pin{Name: old, Lease: 1}, "done"},
		{&wire.Pins{}, "2 pins, the first is \"old\\nname\""},
		{&wire.Unpin{Name: old}, "done"},
		{&wire.Pin{Name: old}, "error 14"},
		{&wire.Pins{}, "1 pins, the first is \"Übersicht \\\"1\\\", 日本\""},
	} {
		req++
		switch m := c.m.(type) {
		case *wire.Pin:
			m.Req = req
		case *wire.Unpin:
			m.Req = req
		case *wire.Pins:
			m.Req = req
		}
		answers = nil
		w.receive(1, c.m)
		w.settle()
		if !slices.Equal(answers, []string{c.want}) {
			t.Errorf("%+v: %q, not %s", c.m, answers, c.want)
		}
	}
}

// TestSweepIsBounded: what a pin held is dropped in steps, each of bounded
// size, and nothing else waits for it.
func TestSweepIsBounded(t *testing.T) {
	const versions = 3*maxSweep + 10
	c := New(Config{})
	state := record.AppendState(nil, &record.State{Stable: 2 * versions, Horizon: 2 * versions, Next: 1, Pins: []record.Pin{{Name: "p", At: versions}}})
	err := c.Restore(state, func(yield func(occ.BlockID, occ.Timestamp, int) error) error {
		for b := range occ.BlockID(versions) {
			yield(b, occ.Timestamp(1+b), 1)
			yield(b, occ.Timestamp(1+versions+b), 1)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c.Start(0)
	for c.values.ended.Len() > 0 { // now the pin holds them
		c.Tick(0)
	}
	if n := len(c.Take()); n != 0 {
		t.Fatalf("%d effects while all is pinned", n)
	}
	if err := c.Recover([]record.Record{&record.Unpin{Name: "p"}}); err != nil {
		t.Fatal(err)
	}
	dropped, steps := len(c.Take()), 1
	for c.Tick(0); c.versions.Retained() > 0 && steps < 10; c.Tick(0) {
		n := len(c.Take())
		if dropped += n; n > maxSweep {
			t.Fatalf("%d versions in one step", n)
		}
		steps++
	}
	dropped += len(c.Take())
	if dropped != versions || steps < 3 || c.values.bytes != versions*(1+VersionOverhead) {
		t.Errorf("%d of %d dropped in %d steps, %d bytes left", dropped, versions, steps, c.values.bytes)
	}
}

// TestChangesAreBounded: one request passes over a bounded number of blocks,
// and says from where to go on.
func TestChangesAreBounded(t *testing.T) {
	const blocks = 3 * maxScan
	c := New(Config{NewSession: func() occ.SessionID { return occ.SessionID{1} }})
	state := record.AppendState(nil, &record.State{Stable: blocks, Next: 1})
	err := c.Restore(state, func(yield func(occ.BlockID, occ.Timestamp, int) error) error {
		for b := range occ.BlockID(blocks) {
			yield(b, occ.Timestamp(1+b), 0)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c.Connect(1)
	c.Receive(1, &wire.Hello{Req: 1, Version: wire.Version})
	c.Flush()
	c.Durable()
	c.Take()
	ask := func(first occ.BlockID, since occ.Timestamp) *wire.ChangesReply {
		c.Receive(1, &wire.Changes{Req: 2, First: first, Since: since, At: blocks, Limit: 1000})
		return c.Take()[0].(Send).Message.(*wire.ChangesReply)
	}
	if m := ask(0, 0); len(m.Blocks) != 1000 || m.Last || m.Next != 1000 {
		t.Fatalf("%d blocks, last %v, next %d", len(m.Blocks), m.Last, m.Next)
	}
	if m := ask(7, blocks-1); len(m.Blocks) != 0 || m.Last || m.Next != maxScan {
		t.Fatalf("%d blocks, last %v, next %d", len(m.Blocks), m.Last, m.Next)
	}
	if m := ask(2*maxScan, blocks-1); len(m.Blocks) != 1 || m.Blocks[0].Block != blocks-1 || !m.Last {
		t.Fatalf("%v, last %v, next %d", m.Blocks, m.Last, m.Next)
	}
}

// TestReplayRefusesPins: a log that pins what cannot be pinned, or unpins what
// is not, is no log.
func TestReplayRefusesPins(t *testing.T) {
	for name, r := range map[string]record.Record{
		"above stable":  &record.Pin{Name: "a", At: 1},
		"at another":    &record.Pin{Name: "p", At: 7},
		"gone":          &record.Pin{Name: "a", At: 3},
		"unpin unknown": &record.Unpin{Name: "a"},
	} {
		c := New(Config{})
		s := record.State{Next: 1}
		if name != "above stable" {
			s = record.State{Stable: 9, Horizon: 6, Next: 1, Pins: []record.Pin{{Name: "p", At: 4}}}
		}
		if err := c.Restore(record.AppendState(nil, &s), given()); err != nil {
			t.Fatal(err)
		}
		if err := c.Recover([]record.Record{r}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
