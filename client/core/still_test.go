package core_test

import (
	"testing"

	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ/wire"
)

// After a reconnection a block that has not changed is not sent again, and is
// held open as before; one that has changed is.
func TestConditionalReadAfterAReconnect(t *testing.T) {
	s, c := start(t, 2)
	c[0].write(1, x, y)
	c[0].disconnect()
	c[1].write(2, y)
	c[0].reconnect()
	had := c[0].Stats().BytesRead
	tx := c[0].rw()
	tx.want(x, "x@1")
	tx.want(y, "y@2")
	if st := c[0].Stats(); st.StillCurrent != 1 || st.BytesRead-had != 64 {
		t.Fatalf("%d blocks were still current, %d bytes read", st.StillCurrent, st.BytesRead-had)
	}
	c[0].Abort(tx.Tx)
	c[0].cached(x, "[1,open)"+" [0,1)")
	c[1].write(3, x)
	s.settle()
	c[0].cached(x, "[1,3) [0,1)") // the server had registered the client
}

// What was offered stays at hand until the answer, however full the cache is.
func TestConditionalReadOfAnEvictedVersion(t *testing.T) {
	s, c := start(t, 1)
	c[0].write(1, x)
	c[0].disconnect()
	c[0].reconnect()
	tx := c[0].rw()
	tx.ask(x)
	c[0].Evict(x)
	s.settle()
	tx.want(x, "x@1")
	if st := c[0].Stats(); st.StillCurrent != 1 {
		t.Fatalf("%+v", st)
	}
	c[0].Abort(tx.Tx)
	c[0].Evict(x)
	c[0].cached(x, "") // nothing is pinned any more
}

// A server that calls a version current which the client did not offer breaks
// the protocol.
func TestStillCurrentUnasked(t *testing.T) {
	_, c := start(t, 1)
	c[0].Evict(x)
	tx := c[0].rw()
	tx.ask(x)
	c[0].collect()
	req := c[0].up[0].(*wire.Read).Req
	err := c[0].Receive(&wire.ReadReply{Req: req, Stable: c[0].GLUB(), Results: []wire.ReadResult{{Status: wire.StatusStill}}})
	if _, ok := err.(*core.ProtocolError); !ok {
		t.Fatalf("got %v", err)
	}
}
