package nfs

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/traces"
)

// play gives a Matcher the messages of a script and returns what it hands out:
// c7@20 is a call with XID 7 at 20 ms, r7@20 a reply; "7+" says that call 7 left
// with its reply, "7-" that it left without one.
func play(t *testing.T, m *Matcher[uint32], script string) string {
	t.Helper()
	var out []string
	next := func() {
		for c, answered := m.Next(); c != nil; c, answered = m.Next() {
			out = append(out, fmt.Sprintf("%d%c", *c, "-+"[map[bool]int{true: 1}[answered]]))
		}
	}
	for _, word := range strings.Fields(script) {
		var kind byte
		var xid uint32
		var ms int64
		if _, err := fmt.Sscanf(word, "%c%d@%d", &kind, &xid, &ms); err != nil {
			t.Fatalf("%s: %v", word, err)
		}
		if key := (Key{XID: xid}); kind == 'r' {
			if c, outcome := m.Reply(key, ms*1000, 0); (c != nil) != (outcome == Matched) || c != nil && *c != xid {
				t.Fatalf("%s: %v, %v", word, c, outcome)
			}
		} else if c := m.Call(key, ms*1000, 10); c != nil {
			*c = xid
		}
		next()
	}
	out = append(out, "|")
	m.End()
	next()
	return strings.Join(out, " ")
}

func TestMatcher(t *testing.T) {
	for name, c := range map[string]struct {
		script, want string
		counts       Matches
	}{
		"in order":                       {"c1@0 r1@1 c2@2 r2@3", "1+ 2+ |", Matches{Calls: 2, Matched: 2}},
		"the first call first":           {"c1@0 c2@1 r2@2 r1@3", "1+ 2+ |", Matches{Calls: 2, Matched: 2}},
		"just patient":                   {"c1@0 c2@1 r2@1999 r1@1999", "1+ 2+ |", Matches{Calls: 2, Matched: 2}},
		"given up":                       {"c1@0 c2@1 r2@2000", "1- 2+ |", Matches{Calls: 2, Matched: 1}},
		"its own reply is not too late":  {"c1@0 r1@2500", "1+ |", Matches{Calls: 1, Matched: 1}},
		"late":                           {"c1@0 c2@2100 r1@2200 r1@2300 r2@2301", "1- 2+ |", Matches{Calls: 2, Matched: 1, Late: 1, Duplicate: 1}},
		"at the end":                     {"c1@0 c2@1 r2@2", "| 1- 2+", Matches{Calls: 2, Matched: 1}},
		"orphan":                         {"r1@0 c1@1 r2@2", "| 1-", Matches{Calls: 1, Orphans: 2}},
		"again while it waits":           {"c1@0 c1@1 r1@2 r1@3", "1+ |", Matches{Calls: 2, Retransmitted: 1, Matched: 1, Duplicate: 1}},
		"again after the reply":          {"c1@0 r1@1 c1@2 r1@3", "1+ |", Matches{Calls: 2, Retransmitted: 1, Matched: 1, Duplicate: 1}},
		"again after giving up":          {"c1@0 c2@3000 c1@4000 r1@4001", "1- | 2-", Matches{Calls: 3, Retransmitted: 1, Late: 1}},
		"remembered":                     {"c1@0 r1@1 c1@60000", "1+ |", Matches{Calls: 2, Retransmitted: 1, Matched: 1}},
		"forgotten":                      {"c1@0 r1@1 c1@60001 r1@60002", "1+ 1+ |", Matches{Calls: 2, Matched: 2}},
		"remembered from the last":       {"c1@0 r1@1 c1@50000 c1@100000 c1@170000", "1+ | 1-", Matches{Calls: 4, Retransmitted: 2, Matched: 1}},
		"old ones go behind a young one": {"c1@0 r1@1 c2@2 r2@3 c1@50000 c2@61000 r2@61001 r2@61002", "1+ 2+ 2+ |", Matches{Calls: 4, Retransmitted: 1, Matched: 3, Duplicate: 1}},
		"young under an old key":         {"c1@0 r1@1 c2@2 r2@3 c1@50000 c2@61000 r2@61001 c3@110001 r3@110002 c2@111000", "1+ 2+ 2+ 3+ |", Matches{Calls: 6, Retransmitted: 2, Matched: 4}},
		"no reply for an old call":       {"c1@0 c2@70000 r1@70001", "1- | 2-", Matches{Calls: 2, Orphans: 1}},
		"clock set back":                 {"c1@300000 c2@300001 r1@1 r2@2 c2@3", "1+ 2+ |", Matches{Calls: 3, Retransmitted: 1, Matched: 2}},
		"clock set back and on":          {"c1@300000 r1@1 c2@2 r2@3 c3@300010 r3@300011", "1+ 2+ 3+ |", Matches{Calls: 3, Matched: 3}},
		"given up after a jump":          {"c1@300000 c2@1 r2@1000 c3@2001 r3@2002", "1- 2+ 3+ |", Matches{Calls: 3, Matched: 2}},
		"a little back":                  {"c1@9000 r1@100 c2@200 c3@11001 r3@11002", "1+ 2- 3+ |", Matches{Calls: 3, Matched: 2}},
		"one from the far future":        {"c1@0 c2@999999999999 c3@2 r3@3 r2@4", "1- 2+ 3+ |", Matches{Calls: 3, Matched: 2}},
	} {
		m := NewMatcher[uint32]()
		if got := play(t, m, c.script); got != c.want || m.Counts() != c.counts {
			t.Errorf("%s: got %s, %+v", name, got, m.Counts())
		}
	}
}

// TestMatcherIsBounded floods a Matcher with calls that get no reply while time
// stands still.
func TestMatcherIsBounded(t *testing.T) {
	for name, c := range map[string]struct{ size, held int }{
		"calls": {1, MaxPending}, "bytes": {1 << 20, MaxPendingBytes >> 20},
	} {
		m := NewMatcher[int]()
		in, out := 0, 0
		for range MaxRemembered + 10_000 {
			*m.Call(Key{XID: uint32(in)}, 5, c.size) = in
			in++
			for v, _ := m.Next(); v != nil; v, _ = m.Next() {
				if *v != out {
					t.Fatalf("%s: %d came for %d", name, *v, out)
				}
				out++
			}
			if in-out > c.held || len(m.index) > MaxRemembered || m.known.len() > MaxRemembered || m.calls.len() != in-out {
				t.Fatalf("%s: %d held, %d known", name, in-out, len(m.index))
			}
		}
		if in-out != c.held || m.known.len() != MaxRemembered {
			t.Errorf("%s: %d held, %d known", name, in-out, m.known.len())
		}
	}
}

func TestReplyBytesCount(t *testing.T) {
	m := NewMatcher[int]()
	m.Call(Key{XID: 1}, 0, 10)
	m.Call(Key{XID: 2}, 0, 10)
	m.Reply(Key{XID: 2}, 1, MaxPendingBytes)
	if c, answered := m.Next(); c == nil || answered {
		t.Error("the first call still waits")
	}
	if c, answered := m.Next(); c == nil || !answered || m.bytes != 0 {
		t.Errorf("%d bytes are left", m.bytes)
	}
}

// TestMatcherAnyOrder checks what must hold of any messages: each call that is
// no retransmission leaves once, in order, and the counts add up.
func TestMatcherAnyOrder(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		m := NewMatcher[int64]()
		var calls, replies, out, answers int64
		next := func() {
			for v, answered := m.Next(); v != nil; v, answered = m.Next() {
				if *v != out {
					t.Fatalf("seed %d: %d came for %d", seed, *v, out)
				}
				out++
				if answered {
					answers++
				}
			}
		}
		now := rng.Int64N(traces.MaxTime)
		for range 2000 {
			switch rng.IntN(200) {
			case 0:
				now = rng.Int64N(traces.MaxTime) - 5
			case 1:
				now -= rng.Int64N(300_000_000)
			default:
				now += rng.Int64N(200_000) - 20_000
			}
			key := Key{XID: rng.Uint32N(60)}
			if rng.IntN(2) == 0 {
				if v := m.Call(key, now, 1); v != nil {
					*v = calls
					calls++
				}
			} else {
				m.Reply(key, now, 1)
				replies++
			}
			next()
		}
		m.End()
		next()
		c := m.Counts()
		if out != calls || c.Calls != calls+c.Retransmitted || answers != c.Matched || c.Unanswered() < 0 ||
			replies != c.Matched+c.Late+c.Duplicate+c.Orphans || m.bytes != 0 {
			t.Fatalf("seed %d: %d calls, %d replies, %d out, %d answered, %+v", seed, calls, replies, out, answers, c)
		}
	}
}

func BenchmarkMatcher(b *testing.B) {
	m := NewMatcher[[4]uint64]()
	b.ReportAllocs()
	xid := uint32(0)
	for b.Loop() {
		xid++
		key := Key{XID: xid}
		m.Call(key, int64(xid)*100, 100)
		m.Reply(key, int64(xid)*100+50, 10)
		m.Next()
	}
}
