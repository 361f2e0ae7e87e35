package server

import (
	"bytes"
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds how long a test waits for what must happen; it is never
// waited for when the server is right.
const patience = 2 * time.Minute

// running opens a server and shuts it down at the end of the test.
func running(t testing.TB, opts Options) *Server {
	t.Helper()
	s, err := Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shutdown(t, s) })
	return s
}

// shutdown shuts a server down. It is a failure if that takes long: Shutdown
// itself waits for the log however long it takes.
func shutdown(t testing.TB, s *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience/2)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- s.Shutdown(ctx) }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("shutdown: %v", err)
		}
	case <-time.After(patience):
		t.Errorf("the server does not shut down within %v", patience)
	}
}

// wantEnd waits until a server that cannot go on has ended.
func wantEnd(t testing.TB, s *Server) {
	t.Helper()
	select {
	case <-s.Done():
	case <-time.After(patience):
		t.Fatalf("the server goes on, %v after something that must end it", patience)
	}
}

// listen serves on a loopback port and returns its address.
func listen(t testing.TB, s *Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		shutdown(t, s)
		if err := <-served; err != s.Err() {
			t.Errorf("Serve returned %v, Err %v", err, s.Err())
		}
	})
	return l.Addr().String()
}

// rawClient speaks the protocol one message at a time.
type rawClient struct {
	t       testing.TB
	conn    net.Conn
	reader  *wire.Reader
	req     uint64
	seq     uint64
	welcome *wire.Welcome
}

func dial(t testing.TB, addr string) *rawClient {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return newRaw(t, nc)
}

// pipe connects in this process.
func pipe(t testing.TB, s *Server) *rawClient {
	t.Helper()
	c, err := tryPipe(t, s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// tryPipe is pipe to a server that may have ended.
func tryPipe(t testing.TB, s *Server) (*rawClient, error) {
	ours, theirs := net.Pipe()
	if err := s.ServeConn(theirs); err != nil {
		return nil, errors.Join(err, ours.Close(), theirs.Close())
	}
	return newRaw(t, ours), nil
}

func newRaw(t testing.TB, nc net.Conn) *rawClient {
	nc.SetDeadline(time.Now().Add(patience))
	t.Cleanup(func() { nc.Close() })
	return &rawClient{t: t, conn: nc, reader: wire.NewReader(nc, wire.MaxFrame)}
}

// hello opens a new session, or goes on with one.
func (c *rawClient) hello(session occ.SessionID) *rawClient {
	c.t.Helper()
	c.send(&wire.Hello{Req: c.next(), Version: wire.Version, Session: session})
	c.welcome = expect[*wire.Welcome](c)
	return c
}

func (c *rawClient) next() uint64 {
	c.req++
	return c.req
}

func (c *rawClient) send(messages ...wire.Message) {
	c.t.Helper()
	var b []byte
	for _, m := range messages {
		b = wire.Append(b, m)
	}
	if _, err := c.conn.Write(b); err != nil {
		c.t.Fatal(err)
	}
}

// receive returns the next message.
func (c *rawClient) receive() (wire.Message, error) {
	body, err := c.reader.Next()
	if err != nil {
		return nil, err
	}
	return wire.Decode(body)
}

// expect returns the next message, which must be an M.
func expect[M wire.Message](c *rawClient) M {
	c.t.Helper()
	m, err := c.receive()
	if err != nil {
		c.t.Fatalf("waiting for %T: %v", *new(M), err)
	}
	want, ok := m.(M)
	if !ok {
		c.t.Fatalf("got %T %+v, want %T", m, m, *new(M))
	}
	return want
}

// ended checks that the server has closed the connection, perhaps after
// telling why.
func (c *rawClient) ended() (told *wire.Error) {
	c.t.Helper()
	for {
		m, err := c.receive()
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			c.t.Fatal("the connection goes on")
		}
		if err != nil {
			return told
		}
		if e, ok := m.(*wire.Error); ok {
			told = e
		}
	}
}

func (c *rawClient) commit(reads []occ.Read, writes ...occ.Write) *wire.Commit {
	c.seq++
	return &wire.Commit{
		Req: c.next(), Seq: c.seq, Reads: reads, Writes: writes, Digest: wire.CommitDigest(reads, writes),
	}
}

// committed sends a commit and returns its timestamp.
func (c *rawClient) committed(reads []occ.Read, writes ...occ.Write) occ.Timestamp {
	c.t.Helper()
	c.send(c.commit(reads, writes...))
	items := expect[*wire.Items](c)
	if len(items.Items) != 1 || items.Items[0].Kind != wire.ItemCommitted {
		c.t.Fatalf("%+v", items)
	}
	return items.Items[0].At
}

// read returns the current version of a block.
func (c *rawClient) read(b occ.BlockID) wire.ReadResult {
	c.t.Helper()
	c.send(&wire.Read{Req: c.next(), Items: []wire.ReadItem{{Block: b, At: occ.Latest, Have: wire.Absent}}})
	return expect[*wire.ReadReply](c).Results[0]
}

func (c *rawClient) reads(b occ.BlockID, from occ.Timestamp, data string) {
	c.t.Helper()
	r := c.read(b)
	if r.Status != wire.StatusCurrent || r.From != from || !bytes.Equal(r.Data, []byte(data)) {
		c.t.Fatalf("block %d: %+v, want version %d, %q", b, r, from, data)
	}
}

func write(b occ.BlockID, data string) occ.Write { return occ.Write{Block: b, Data: []byte(data)} }
