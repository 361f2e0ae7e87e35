package chaos

import (
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Fault is what a Proxy does to a connection once so many bytes have passed.
type Fault uint8

const (
	// Cut closes both sides.
	Cut Fault = iota
	// Freeze forwards nothing any more and closes nothing: each side has a
	// connection that looks open and is silent.
	Freeze
	faults
)

// maxDelay bounds the delay of one piece of what a proxy forwards.
const maxDelay = 3 * time.Millisecond

// Proxy forwards TCP connections to a server, and each comes to a bad end:
// after a random number of bytes in one direction it is cut or frozen. Some
// are slow, too. What happens to the n-th connection depends on the seed
// alone.
type Proxy struct {
	Addr string
	// Ended counts the connections that met each fault.
	Ended [faults]atomic.Int64

	listener net.Listener
	server   string
	peace    atomic.Bool
	all      sync.WaitGroup

	mu     sync.Mutex
	rng    *rand.Rand
	open   map[net.Conn]struct{}
	closed bool
}

// NewProxy starts a proxy for the server at addr.
func NewProxy(server string, seed uint64) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{
		Addr: l.Addr().String(), listener: l, server: server,
		rng: rand.New(rand.NewPCG(seed, 1)), open: make(map[net.Conn]struct{}),
	}
	p.all.Go(p.accept)
	return p, nil
}

// Peace lets connections that are made from now on live.
func (p *Proxy) Peace() { p.peace.Store(true) }

// Close ends all connections and returns when nothing of the proxy runs.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	for c := range p.open {
		c.Close()
	}
	p.mu.Unlock()
	err := p.listener.Close()
	p.all.Wait()
	return err
}

// keep notes an open connection; false if the proxy has been closed.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.open[c] = struct{}{}
	}
	return !p.closed
}

func (p *Proxy) drop(c net.Conn) {
	c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
}

func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		f := newFate(p.rng)
		p.mu.Unlock()
		p.all.Go(func() { p.forward(c, f) })
	}
}

// fate is what is in store for one connection.
type fate struct {
	fault    Fault
	upstream bool // counts what the client sends, else what the server sends
	after    int64
	delay    time.Duration // of each piece, 0 for none
}

func newFate(rng *rand.Rand) fate {
	f := fate{fault: Cut, upstream: rng.IntN(2) == 0}
	if rng.IntN(4) == 0 {
		f.fault = Freeze
	}
	// From within the first frame up to some hundred transactions, all orders of
	// magnitude alike.
	f.after = 1 + rng.Int64N(16<<rng.IntN(13))
	if rng.IntN(3) == 0 {
		f.delay = time.Duration(rng.Int64N(int64(maxDelay)))
	}
	return f
}

// link is one forwarded connection.
type link struct {
	fate
	proxy          *Proxy
	client, server net.Conn
	met            atomic.Bool // its fate
}

func (p *Proxy) forward(c net.Conn, f fate) {
	defer p.drop(c)
	if !p.keep(c) {
		return
	}
	s, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer p.drop(s)
	if !p.keep(s) {
		return
	}
	l := &link{fate: f, proxy: p, client: c, server: s}
	if p.peace.Load() {
		l.after = -1
	}
	var back sync.WaitGroup
	back.Go(func() { l.pump(c, s, !l.upstream) }) // what the server sends
	l.pump(s, c, l.upstream)
	back.Wait()
}

// pump forwards from one side to the other until either ends or the link
// meets its fate, which it does when this direction counts and has had enough.
func (l *link) pump(to, from net.Conn, counts bool) {
	buf := make([]byte, 32<<10)
	left := l.after
	for {
		n, err := from.Read(buf)
		if l.delay > 0 && n > 0 {
			pause := time.NewTimer(l.delay)
			<-pause.C
		}
		if counts && l.after > 0 && !l.met.Load() {
			if int64(n) >= left {
				_, _ = to.Write(buf[:left]) // its other end may be gone, which is as good
				l.met.Store(true)
				l.proxy.Ended[l.fault].Add(1)
			} else {
				left -= int64(n)
			}
		}
		switch {
		case l.met.Load() && l.fault == Freeze:
			// Read on, so that an end is noticed; the other side learns
			// nothing of it.
			_, _ = io.Copy(io.Discard, from)
			from.Close()
			return
		case err == nil && !l.met.Load():
			if _, err = to.Write(buf[:n]); err == nil {
				continue
			}
		}
		from.Close()
		to.Close()
		return
	}
}
