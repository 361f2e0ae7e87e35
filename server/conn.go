package server

import (
	"errors"
	"io"
	"net"
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

	// The owner's alone:
	outgoing []wire.Message // of the effects being carried out
	dropped  bool           // the core has forgotten it
}

// read decodes messages and hands them to the owner, together what arrived
// together, until the connection ends, and then tells the owner of the end.
// It returns false if there is no owner any more.
func (c *conn) read() bool {
	c.net.SetReadDeadline(time.Now().Add(c.server.opts.Handshake))
	r := wire.NewReader(c.net, c.server.core.Limits().FrameBytes)
	greeted := false
	for {
		batch, err := readBatch(r)
		if len(batch) > 0 {
			if !greeted {
				greeted = true
				c.net.SetReadDeadline(time.Time{})
			}
			if !c.server.input(input{conn: c, messages: batch}) {
				return false
			}
		}
		if err != nil {
			return c.server.input(input{conn: c, err: err})
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

// write sends what is queued, all of it in one write, until the queue is
// closed and empty, or the connection fails. It closes the connection, which
// also ends the reader.
func (c *conn) write() {
	defer c.net.Close()
	var buf []byte
	var messages []wire.Message
	for range c.queue.wake {
		clear(messages)
		batch, done := c.queue.take(messages[:0])
		messages = batch
		buf = buf[:0]
		for i, m := range batch {
			buf = wire.Append(buf, m)
			if len(buf) < maxWrite && i < len(batch)-1 {
				continue
			}
			if !c.send(buf) {
				return
			}
			buf = buf[:0]
		}
		if cap(buf) > keepBuffer {
			buf = nil
		}
		if done {
			return
		}
	}
}

// maxWrite is the size from which a write is not extended further.
const maxWrite = 1 << 20

func (c *conn) send(b []byte) bool {
	c.net.SetWriteDeadline(time.Now().Add(c.server.opts.WriteTimeout))
	_, err := c.net.Write(b)
	if err != nil && !errors.Is(err, io.ErrClosedPipe) && !errors.Is(err, net.ErrClosed) {
		c.server.opts.Logger.Info("connection lost", "conn", c.id, "error", err)
	}
	return err == nil
}
