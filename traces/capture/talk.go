package capture

import (
	"bytes"
	"errors"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/capture/nfsxdr"
	"github.com/tidemark/tidemark/traces/capture/rpc"
	"github.com/tidemark/tidemark/traces/capture/xdr"
	"github.com/tidemark/tidemark/traces/nfs"
)

// MaxProcedures is how many procedures of other programs are told apart.
const MaxProcedures = 1024

// MaxRoots is how many servers' roots are known. Clients of version 4 begin
// paths at the root without a handle, which some reply shows.
const MaxRoots = 1024

// resultSize is about how many bytes a call keeps of its reply.
const resultSize = 64

// call is an NFS call that waits for its reply.
type call struct {
	nfsxdr.Call
	protection rpc.Protection
	server     nfs.End
}

// procedure is one of another program.
type procedure struct{ program, version, number uint32 }

// talk takes RPC messages, joins calls with replies and makes operations of
// those of NFS.
type talk struct {
	calls      *nfs.Matcher[call]
	scratch    call // the call being decoded
	tally      nfs.Tally
	translator *nfs.Translator
	roots      map[nfs.End][]byte // handles by server

	others     *nfs.Matcher[struct{}] // calls of other programs
	procedures map[procedure]int64
	beyond     int64 // calls of others than MaxProcedures

	malformed int64 // messages without a readable header
	cut       int64 // calls and replies of which what matters is missing
	refused   int64 // calls and replies that cannot be
	protected int64 // calls that cannot be read
	rejected  int64 // calls that the server did not carry out
}

func newTalk() talk {
	return talk{
		calls: nfs.NewMatcher[call](), others: nfs.NewMatcher[struct{}](),
		translator: nfs.NewTranslator(), procedures: make(map[procedure]int64),
		roots: make(map[nfs.End][]byte),
	}
}

// message takes a message.
func (t *talk) message(m rpc.Message, from, to nfs.End, tcp bool) {
	c := xdr.New(m.Head, m.Tail, m.Size)
	h, ok := rpc.Parse(&c)
	switch {
	case !ok:
		t.malformed++
	case h.Reply:
		t.reply(nfs.Message{Time: m.Time, Client: to, Server: from, TCP: tcp}, h, &c)
	case h.Program == rpc.NFS:
		t.call(nfs.Message{Time: m.Time, Client: from, Server: to, TCP: tcp, Version: h.Version}, h, &c)
	default:
		t.other(nfs.Key{Client: from, Server: to, XID: h.XID}, m.Time, procedure{h.Program, h.Version, h.Procedure})
	}
}

func (t *talk) call(m nfs.Message, h rpc.Header, args *xdr.Cursor) {
	if h.Protection == rpc.Control {
		h.Procedure = 0 // whatever it says: it calls nothing
	}
	host := t.tally.Call(&m, h.Procedure)
	t.scratch.protection, t.scratch.server = h.Protection, m.Server
	if h.Procedure != 0 && !h.Cut && !h.Protection.Open(args) {
		t.protected++
		h.Procedure = 0
	}
	t.note(t.scratch.Begin(m.Time, host, h.Version, h.Procedure, args, t.tally.Operation))
	key := nfs.Key{Client: m.Client, Server: m.Server, XID: h.XID}
	if kept := t.calls.Call(key, m.Time, t.scratch.Size()); kept != nil {
		*kept, t.scratch = t.scratch, *kept
	}
}

// other counts a call of another program and remembers it, so that its reply
// is not taken for one of NFS.
func (t *talk) other(key nfs.Key, time int64, p procedure) {
	if _, known := t.procedures[p]; known || len(t.procedures) < MaxProcedures {
		t.procedures[p]++
	} else {
		t.beyond++
	}
	t.others.Call(key, time, 0)
}

func (t *talk) reply(m nfs.Message, h rpc.Header, results *xdr.Cursor) {
	key := nfs.Key{Client: m.Client, Server: m.Server, XID: h.XID}
	if _, outcome := t.others.Reply(key, m.Time, 0); outcome != nfs.Orphan {
		return
	}
	c, outcome := t.calls.Reply(key, m.Time, resultSize)
	if outcome == nfs.Orphan {
		return // of whatever program
	}
	t.tally.Reply(&m)
	switch {
	case c == nil:
	case h.Cut:
		t.cut++
	case !h.Done:
		t.rejected++
		c.Fail()
	case c.protection.Open(results):
		status, err := c.Reply(results)
		t.tally.Status(status)
		t.note(err)
	}
}

// note counts why something could not be decoded.
func (t *talk) note(err error) {
	switch {
	case err == nil:
	case errors.Is(err, xdr.ErrMissing):
		t.cut++
	default:
		t.refused++
	}
}

// end says that no message follows.
func (t *talk) end() {
	t.calls.End()
	t.others.End()
}

// drain appends the operations of the calls that are complete to dst.
func (t *talk) drain(dst []traces.Op) []traces.Op {
	for {
		if c, _ := t.others.Next(); c == nil {
			break
		}
	}
	for {
		c, _ := t.calls.Next()
		if c == nil {
			return dst
		}
		t.root(c)
		c.Exchanges(func(x *nfs.Exchange) { dst = t.translator.Translate(x, dst) })
		c.Release()
	}
}

// root learns the root of the server from a call, or tells the call.
func (t *talk) root(c *call) {
	known, met := t.roots[c.server]
	root := c.Root(known)
	if !bytes.Equal(root, known) && (met || len(t.roots) < MaxRoots) {
		t.roots[c.server] = bytes.Clone(root)
	}
}
