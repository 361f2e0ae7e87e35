package core

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/record"
)

// TestCheckpoints runs the random load with checkpoints at random moments, and
// compares what comes out of them and the log behind with the core that ran
// all the while and with one that recovers the whole log.
func TestCheckpoints(t *testing.T) {
	for seed := range uint64(40) {
		s := newStress(seed, Config{})
		var kept []checkpoint
		for i := range 400 {
			s.step()
			if s.rng.IntN(20) == 0 {
				kept = append(kept, s.checkpoint())
				s.saved = kept[s.rng.IntN(len(kept))] // crashes go back to it
			}
			if i%50 == 49 && len(kept) > 0 {
				cp := kept[s.rng.IntN(len(kept))]
				for _, p := range s.compare(cp) {
					t.Fatalf("seed %d, step %d, checkpoint of group %d of %d: %s", seed, i, cp.groups, len(s.log), p)
				}
			}
			if len(s.problems) > 0 {
				t.Fatalf("seed %d, step %d: %s", seed, i, s.problems[0])
			}
		}
	}
}

// compare says where a core from a checkpoint differs from others.
func (s *stressed) compare(cp checkpoint) (problems []string) {
	problem := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	load := func(c *Core, groups [][]record.Record) {
		for _, g := range groups {
			if err := c.Recover(g); err != nil {
				problem("recover: %v", err)
			}
		}
	}
	restored, recovered := New(s.cfg), New(s.cfg)
	if err := restored.Restore(cp.state, cp.versions); err != nil {
		problem("restore: %v", err)
		return problems
	}
	if again := stateOf(restored); !bytes.Equal(again, cp.state) {
		problem("the state is %x right after it was restored, it was %x", again, cp.state)
	}
	load(restored, s.log[cp.groups:])
	load(recovered, s.log)
	for name, c := range map[string]*Core{"running": s.core, "recovered": recovered} {
		if a, b := stateOf(restored), stateOf(c); !bytes.Equal(a, b) {
			problem("the state is\n%x, of the %s core\n%x", a, name, b)
		}
		for b := range occ.BlockID(8) {
			for at := range s.core.Stable() + 1 {
				iv, ok := restored.versions.Lookup(b, at)
				if want, known := c.versions.Lookup(b, at); iv != want || ok != known {
					problem("block %d at %d: %v %v, in the %s core %v %v", b, at, iv, ok, name, want, known)
				}
			}
			if from := restored.versions.Current(b); from != c.versions.Current(b) {
				problem("block %d is at %d, in the %s core at %d", b, from, name, c.versions.Current(b))
			}
		}
		if a, b := restored.versions.Retained(), c.versions.Retained(); a != b {
			problem("%d versions are retained, in the %s core %d", a, name, b)
		}
	}
	return append(problems, s.askAgain(restored)...)
}

// askAgain has every session ask a core for the outcomes of all its commits,
// and compares the answers with the log.
func (s *stressed) askAgain(c *Core) (problems []string) {
	c.Start(0)
	id := ConnID(0)
	for e := c.logged.sessions.Front(); e != nil; e = e.Next() {
		session := e.Value.(*session)
		id++
		c.Connect(id)
		c.Receive(id, &wire.Hello{Req: 1, Version: wire.Version, Session: session.id})
		c.Take()
		for seq := uint64(1); seq < session.next; seq++ {
			a := attempt{session.id, seq}
			again := *s.commits[a]
			again.Req, again.Resend, again.Acked = 2, true, 0
			c.Receive(id, &again)
			got, _ := c.Take()[0].(Send).Message.(*wire.Outcome)
			want := wire.Outcome{Req: 2, Stable: c.Stable(), Status: wire.OutcomeConflict}
			if seq <= session.logged.mark {
				want.Status = wire.OutcomeUnknown
			} else if at := s.inLog(a); at > 0 {
				want.Status, want.At = wire.OutcomeCommitted, at
			}
			if got == nil || *got != want {
				problems = append(problems, fmt.Sprintf("%v: got %+v, want %+v", a, got, want))
			}
		}
	}
	return problems
}

// inLog is the timestamp of a commit that is durable, 0 for any other.
func (s *stressed) inLog(a attempt) occ.Timestamp {
	for _, g := range s.log {
		for _, r := range g {
			if r, ok := r.(*record.Commit); ok && r.Session == a.session && r.Seq == a.seq {
				return r.At
			}
		}
	}
	return 0
}

// TestRestoreGarbage: versions that no readable timestamp needs are dropped.
func TestRestoreGarbage(t *testing.T) {
	c := New(Config{})
	state := record.AppendState(nil, &record.State{Stable: 9, Horizon: 6, Next: 1, Pins: []record.Pin{{Name: "p", At: 4}}})
	err := c.Restore(state, given(Ref{1, 1}, Ref{1, 2}, Ref{1, 5}, Ref{1, 6}, Ref{2, 3}, Ref{2, 7}, Ref{3, 4}, Ref{3, 5}, Ref{3, 9}))
	if err != nil {
		t.Fatal(err)
	}
	var dropped []Ref
	for _, e := range c.Take() {
		dropped = append(dropped, Ref(e.(Drop)))
	}
	if want := []Ref{{1, 1}, {1, 5}}; !slices.Equal(dropped, want) {
		t.Errorf("dropped %v, want %v", dropped, want)
	}
	if n := c.versions.Retained(); n != 4 {
		t.Errorf("%d versions are retained", n)
	}
}

// given yields versions of three bytes.
func given(refs ...Ref) Versions {
	return func(yield func(occ.BlockID, occ.Timestamp, int) error) error {
		for _, r := range refs {
			if err := yield(r.Block, r.From, 3); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestRestoreRefuses: what cannot be a checkpoint is refused with a reason.
func TestRestoreRefuses(t *testing.T) {
	one := record.SessionState{ID: occ.SessionID{1}, Next: 3, Outcomes: []record.Outcome{{Seq: 2, At: 8}}}
	good := func() *record.State {
		return &record.State{Stable: 9, Horizon: 6, Next: 1, Sessions: []record.SessionState{one}, Pins: []record.Pin{{Name: "p", At: 9, Lease: time.Second}}}
	}
	if err := New(Config{}).Restore(record.AppendState(nil, good()), given(Ref{1, 1}, Ref{1, 9})); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*record.State)
		refs   []Ref
	}{
		"horizon above stable": {change: func(s *record.State) { s.Horizon = 10 }},
		"no timestamp left":    {change: func(s *record.State) { s.Stable = math.MaxUint64 }},
		"no next block":        {change: func(s *record.State) { s.Next = 0 }},
		"session twice":        {change: func(s *record.State) { s.Sessions = append(s.Sessions, one) }},
		"session without id":   {change: func(s *record.State) { s.Sessions[0].ID = occ.SessionID{} }},
		"outcome above stable": {change: func(s *record.State) { s.Stable, s.Pins = 7, nil }},
		"pin above stable":     {change: func(s *record.State) { s.Pins[0].At = 10 }},
		"version 0":            {refs: []Ref{{1, 0}}},
		"version above stable": {refs: []Ref{{1, 10}}},
		"version twice":        {refs: []Ref{{1, 2}, {1, 2}}},
		"versions backwards":   {refs: []Ref{{1, 2}, {1, 1}}},
		"blocks backwards":     {refs: []Ref{{2, 1}, {1, 2}}},
	} {
		s := good()
		if c.change != nil {
			c.change(s)
		}
		var refused *RestoreError
		if err := New(Config{}).Restore(record.AppendState(nil, s), given(c.refs...)); !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var refused *RestoreError
	if err := New(Config{BlockSize: 2}).Restore(record.AppendState(nil, good()), given(Ref{1, 1})); !errors.As(err, &refused) {
		t.Errorf("three bytes in a block of two: %v", err)
	}
	var damaged *record.DecodeError
	if err := New(Config{}).Restore([]byte{1}, given()); !errors.As(err, &damaged) {
		t.Errorf("a state cut short: %v", err)
	}
	broken := errors.New("cannot be read")
	err := New(Config{}).Restore(record.AppendState(nil, good()), func(func(occ.BlockID, occ.Timestamp, int) error) error { return broken })
	if err != broken {
		t.Errorf("versions that cannot be read: %v", err)
	}
}
