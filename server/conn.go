package server

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/core"
)

const (
	// batchMessages bounds what one input of a connection carries.
	batchMessages = 256
	// keepBuffer is up to which size a connection keeps its write buffer.
	keepBuffer = 256 << 10
)

// conn is one connection: a reader and a writer goroutine.
type conn struct {
	server *Server
	id     core.ConnID
	net    net.Conn
	queue  *queue
	lane   lane // its loads

	// The owner's alone:
	outgoing []wire.Message // of the effects being carried out
	dropped  bool           // the core has forgotten it

	sending  sync.Mutex // whoever holds it is the one that sends
	messages []wire.Message
	buf      []byte
	renew    time.Time // when the deadline for writing is to be renewed
}

// read decodes messages, has the core decide what arrived together, and sends
// what that leaves for this connection, until the connection ends. It returns
// false if the server has ended.
func (c *conn) read() bool {
	in := &incoming{conn: c.net, limit: c.server.opts.ReadTimeout, silence: c.server.core.Limits().Silence}
	in.within(c.server.opts.Handshake)
	r := wire.NewReader(in, c.server.core.Limits().FrameBytes)
	in.partial = r.Partial
	greeted := false
	for {
		batch, err := readBatch(r)
		if len(batch) > 0 && !greeted {
			greeted = true
			in.greeted()
		}
		for len(batch) > 0 {
			n := c.portion(batch)
			if !c.server.received(c, batch[:n]) {
				return false
			}
			c.answer()
			batch = batch[n:]
		}
		if err != nil {
			return c.server.broken(c, err)
		}
	}
}

// readBatch waits for one message and returns it with those behind it that
// have arrived as well. With an error it returns what came before.
func readBatch(r *wire.Reader) (batch []wire.Message, err error) {
	for {
		body, err := r.Next()
		if err != nil {
			return batch, err
		}
		if len(body) > 0 && !wire.IsRequest(wire.Type(body[0])) {
			// Not decoded: what servers send may be far larger than its bytes.
			return batch, &wire.DecodeError{Type: wire.Type(body[0]), Field: "type", Reason: "is not a request"}
		}
		m, err := wire.Decode(body)
		if err != nil {
			return batch, err
		}
		batch = append(batch, m)
		if r.Buffered() == 0 || len(batch) == batchMessages {
			return batch, nil
		}
	}
}

// portion is how many of the messages are handed to the core together: as many
// as take maxWrite bytes of blocks at most to answer or to carry out, and a
// quarter of what may be queued, and at least one. What a client asks for at
// once may be more than may be queued for it.
func (c *conn) portion(batch []wire.Message) int {
	o := &c.server.opts
	most := min(maxWrite, o.QueueBytes/4)
	bytes := 0
	for i, m := range batch {
		bytes += messageBytes
		switch m := m.(type) {
		case *wire.Read:
			bytes += len(m.Items) * (resultBytes + c.server.storage.blockSize)
		case *wire.Commit:
			bytes += ranged(m) * c.server.storage.blockSize
		}
		if i > 0 && (bytes > most || i >= o.QueueMessages/4) {
			return i
		}
	}
	return len(batch)
}

// refusal is how the client is told of a read error, if it is the kind of
// error that it can be told of.
func refusal(err error) (code wire.ErrorCode, ok bool) {
	var decode *wire.DecodeError
	switch {
	case errors.Is(err, wire.ErrFrameTooLarge):
		return wire.CodeTooLarge, true
	case errors.As(err, &decode):
		return wire.CodeMalformed, true
	}
	return 0, false
}

// answer sends what is queued, on the reader's goroutine: a request that is
// answered at once needs no other. While the writer sends, it leaves that to
// the writer, unless much is queued: then it waits for its turn, and a client
// that reads too slowly is not read from meanwhile.
func (c *conn) answer() {
	if !c.sending.TryLock() {
		if !c.queue.filling() {
			c.queue.signal() // the writer may have looked before this was queued
			return
		}
		c.sending.Lock()
	}
	defer c.sending.Unlock()
	c.sendQueued()
}

// write sends what the reader leaves, until the queue is closed and empty or
// the connection fails. It closes the connection, which also ends the reader.
func (c *conn) write() {
	defer c.net.Close()
	for range c.queue.wake {
		c.sending.Lock()
		ended := c.sendQueued()
		c.sending.Unlock()
		if ended {
			return
		}
	}
}

// sendQueued sends everything that is queued, in one write unless it is large.
// It reports whether nothing will follow, or nothing can.
func (c *conn) sendQueued() (ended bool) {
	clear(c.messages)
	c.messages, ended = c.queue.take(c.messages[:0])
	c.server.loads.drained(&c.lane)
	buf := c.buf[:0]
	for i, m := range c.messages {
		buf = wire.Append(buf, m)
		if len(buf) < maxWrite && i < len(c.messages)-1 {
			continue
		}
		if !c.send(buf) {
			// Whoever sends next would send behind a gap: nobody does.
			c.net.Close()
			c.queue.close()
			return true
		}
		buf = buf[:0]
	}
	if c.buf = buf; cap(buf) > keepBuffer {
		c.buf = nil
	}
	return ended
}

// maxWrite is the size from which a write is not extended further.
const maxWrite = 1 << 20

// send writes b, for which the client has seven eighths of
// Options.WriteTimeout at least, and all of it at most: a deadline that is set
// for each write costs about as much as deciding what to write.
func (c *conn) send(b []byte) bool {
	if now, limit := time.Now(), c.server.opts.WriteTimeout; now.After(c.renew) {
		c.net.SetWriteDeadline(now.Add(limit))
		c.renew = now.Add(limit / 8)
	}
	_, err := c.net.Write(b)
	if err != nil && !errors.Is(err, io.ErrClosedPipe) && !errors.Is(err, net.ErrClosed) {
		c.server.opts.Logger.Info("connection lost", "conn", c.id, "error", err)
	}
	return err == nil
}
