package client_test

import (
	"net"
	"sync"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/server"
)

// gate holds back what a server sends, on all connections that were accepted
// through it.
type gate struct {
	held chan struct{} // told when something is held back; capacity 1

	mu     sync.Mutex
	moved  *sync.Cond
	closed bool
	conns  []net.Conn
}

func newGate() *gate {
	g := &gate{held: make(chan struct{}, 1)}
	g.moved = sync.NewCond(&g.mu)
	return g
}

// close holds back everything from now on; open lets it go.
func (g *gate) close() { g.set(true) }
func (g *gate) open()  { g.set(false) }

func (g *gate) set(closed bool) {
	g.mu.Lock()
	g.closed = closed
	g.mu.Unlock()
	g.moved.Broadcast()
}

// cut ends all connections and loses what is held back.
func (g *gate) cut() {
	g.mu.Lock()
	for _, c := range g.conns {
		c.Close()
	}
	g.mu.Unlock()
	g.open()
}

func (g *gate) pass(c net.Conn) net.Conn {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.conns = append(g.conns, c)
	return gatedConn{c, g}
}

type gatedConn struct {
	net.Conn
	gate *gate
}

func (c gatedConn) Write(b []byte) (int, error) {
	g := c.gate
	g.mu.Lock()
	for g.closed {
		select {
		case g.held <- struct{}{}:
		default:
		}
		g.moved.Wait()
	}
	g.mu.Unlock()
	return c.Conn.Write(b)
}

type gatedListener struct {
	net.Listener
	gate *gate
}

func (l gatedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.gate.pass(c), nil
}

type gatedBackend struct {
	srv  *server.Server
	gate *gate
}

var _ client.Backend = gatedBackend{}

func (b gatedBackend) ServeConn(c net.Conn) error { return b.srv.ServeConn(b.gate.pass(c)) }
