package rpc

import (
	"encoding/binary"
	"testing"

	"github.com/tidemark/tidemark/traces/capture/xdr"
)

// words joins numbers and strings; strings get their padding, not their
// length.
func words(parts ...any) (b []byte) {
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b = binary.BigEndian.AppendUint32(b, uint32(p))
		case string:
			b = append(append(b, p...), make([]byte, -len(p)&3)...)
		case []byte:
			b = append(b, p...)
		}
	}
	return b
}

func call(xid, program, version, procedure int, args ...any) []byte {
	return append(words(xid, 0, 2, program, version, procedure, 1, 4, "auth", 0, 0), words(args...)...)
}

func reply(xid int, results ...any) []byte {
	return append(words(xid, 1, 0, 0, 0, 0), words(results...)...)
}

func TestHeaders(t *testing.T) {
	gss := func(procedure, service int) []byte {
		return words(7, 0, 2, NFS, 4, 1, 6, 24, 1, procedure, 5, service, 4, "ctx!", 6, 4, "mic!", 99)
	}
	for name, c := range map[string]struct {
		message []byte
		want    Header
		left    int
	}{
		"call":                   {call(7, NFS, 3, 1, "args"), Header{XID: 7, Program: NFS, Version: 3, Procedure: 1}, 4},
		"reply":                  {reply(7, "results!"), Header{XID: 7, Reply: true, Done: true}, 8},
		"reply with a verifier":  {words(7, 1, 0, 6, 5, "check", 0), Header{XID: 7, Reply: true, Done: true}, 0},
		"program unavailable":    {words(7, 1, 0, 0, 0, 1), Header{XID: 7, Reply: true}, 0},
		"program mismatch":       {words(7, 1, 0, 0, 0, 2, 2, 4), Header{XID: 7, Reply: true}, 8},
		"denied":                 {words(7, 1, 1, 1, 5), Header{XID: 7, Reply: true}, 4},
		"GSS, authentication":    {gss(0, 1), Header{XID: 7, Program: NFS, Version: 4, Procedure: 1}, 4},
		"GSS, integrity":         {gss(0, 2), Header{XID: 7, Program: NFS, Version: 4, Procedure: 1, Protection: Integrity}, 4},
		"GSS, privacy":           {gss(0, 3), Header{XID: 7, Program: NFS, Version: 4, Procedure: 1, Protection: Privacy}, 4},
		"GSS, context being set": {gss(1, 0), Header{XID: 7, Program: NFS, Version: 4, Procedure: 1, Protection: Control}, 4},
	} {
		cur := xdr.New(c.message, nil, len(c.message))
		h, ok := Parse(&cur)
		if !ok || h != c.want || cur.Left() != c.left {
			t.Errorf("%s: %+v, %v, %d bytes left", name, h, ok, cur.Left())
		}
		// What kind of message it is must be known, then what is cut is told.
		least := 24
		if c.want.Reply {
			least = 8
		}
		for n := range len(c.message) - c.left {
			cur := xdr.New(c.message[:n], nil, len(c.message))
			h, ok := Parse(&cur)
			if ok != (n >= least) || ok && (!h.Cut || h.Done || h.XID != 7 || h.Program != c.want.Program || h.Procedure != c.want.Procedure) {
				t.Errorf("%s: of %d bytes %+v, %v", name, n, h, ok)
			}
		}
		cur = xdr.New(c.message, nil, len(c.message)-c.left-1)
		if h, ok := Parse(&cur); ok {
			t.Errorf("%s: too short, but %+v", name, h)
		}
	}
}

func TestNoHeaders(t *testing.T) {
	for name, b := range map[string][]byte{
		"type":           words(7, 2, 2, NFS, 3, 1, 0, 0, 0, 0),
		"version of RPC": words(7, 0, 3, NFS, 3, 1, 0, 0, 0, 0),
		"credentials":    words(7, 0, 2, NFS, 3, 1, 1, 404, make([]byte, 404), 0, 0),
		"status":         words(7, 1, 2, 0, 0, 0),
		"outcome":        words(7, 1, 0, 0, 0, 6),
		"denial":         words(7, 1, 1, 2, 0),
	} {
		c := xdr.New(b, nil, len(b))
		if h, ok := Parse(&c); ok {
			t.Errorf("%s: %+v", name, h)
		}
	}
}

func TestProtectionOpens(t *testing.T) {
	b := words(12, 5, 99)
	for p, want := range map[Protection]int{Plain: 12, Integrity: 4} {
		c := xdr.New(b, nil, len(b))
		if !p.Open(&c) || c.Left() != want {
			t.Errorf("%d: %d bytes left", p, c.Left())
		}
	}
	c := xdr.New(b, nil, len(b))
	if Privacy.Open(&c) || Control.Open(&c) {
		t.Error("encrypted arguments can be read")
	}
}

func TestLikely(t *testing.T) {
	for name, c := range map[string]struct {
		b    []byte
		want bool
	}{
		"call":            {call(7, NFS, 3, 1), true},
		"callback":        {call(7, 0x40000000, 1, 0), true},
		"other program":   {call(7, 0x20000005, 1, 0), false},
		"version":         {call(7, NFS, 9, 1), false},
		"procedure":       {call(7, NFS, 3, 65), false},
		"reply":           {reply(7), true},
		"reply, verifier": {words(7, 1, 0, 6, 4, "mic!", 0), true},
		"reply, short":    {words(7, 1, 0, 2, 8, "short-hd", 0), true},
		"short of length": {words(7, 1, 0, 2, 8, "shor"), false},
		"reply, denied":   {words(7, 1, 1, 1, 5), true},
		"reply, mismatch": {words(7, 1, 1, 0, 2, 2), true},
		"denied and more": {words(7, 1, 1, 1, 5, 0), false},
		"denied for what": {words(7, 1, 1, 1, 16), false},
		"reply, flavor":   {words(7, 1, 0, 9, 0, 0), false},
		"reply, outcome":  {words(7, 1, 0, 0, 0, 6), false},
		"short":           {reply(7)[:23], false},
		"shorter":         {reply(7)[:19], false},
		"zeros":           {make([]byte, 100), false},
	} {
		if got := Likely(c.b, len(c.b)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestProgramNames(t *testing.T) {
	for program, want := range map[uint32]string{100000: "PORTMAP", 100005: "MOUNT", 100227: "NFSACL", 0x40000000: "callback", 5: "program 5"} {
		if got := ProgramName(program); got != want {
			t.Errorf("%d is %s", program, got)
		}
	}
}
