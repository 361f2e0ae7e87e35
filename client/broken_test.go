package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// liar is a server that welcomes a client, answers its first Ping as it
// should, and its second request with bytes of its own, and hangs up.
type liar func(req uint64) []byte

func (lie liar) ServeConn(c net.Conn) error {
	go func() {
		defer c.Close()
		r := wire.NewReader(c, wire.MaxFrame)
		for req := uint64(1); req <= 3; req++ {
			if _, err := r.Next(); err != nil {
				return
			}
			switch req {
			case 1:
				c.Write(wire.Append(nil, welcome(req)))
			case 2:
				c.Write(wire.Append(nil, &wire.Pong{Req: req, Stable: 3}))
			case 3:
				c.Write(lie(req))
			}
		}
	}()
	return nil
}

func welcome(req uint64) *wire.Welcome {
	return &wire.Welcome{Req: req, Stable: 2, BlockSize: 64, Retention: time.Minute, Limits: wire.DefaultLimits()}
}

func frame(m func(req uint64) wire.Message) liar {
	return func(req uint64) []byte { return wire.Append(nil, m(req)) }
}

// A server that breaks the protocol loses the client; whoever waits gets an
// error that says why, and nothing panics.
func TestBrokenServers(t *testing.T) {
	var broken *core.ProtocolError
	var malformed *wire.DecodeError
	for name, c := range map[string]struct {
		lie  liar
		kind any
	}{
		"garbage":         {func(uint64) []byte { return []byte("\x08HTTP/1.1 400 Bad Request\r\n") }, &malformed},
		"empty frame":     {func(uint64) []byte { return []byte{0} }, &malformed},
		"cut frame":       {func(uint64) []byte { return []byte{5, 65, 3} }, nil},
		"a huge frame":    {func(uint64) []byte { return []byte{0xff, 0xff, 0xff, 0xff, 0x0f} }, nil},
		"too much data":   {frame(func(r uint64) wire.Message { return reply(r, wire.ReadResult{Data: []byte(strings.Repeat("x", 65))}) }), &malformed},
		"two results":     {frame(func(r uint64) wire.Message { return reply(r, wire.ReadResult{}, wire.ReadResult{}) }), &broken},
		"no result":       {frame(func(r uint64) wire.Message { return reply(r) }), &broken},
		"stable in front": {frame(func(r uint64) wire.Message { return &wire.Pong{Stable: 2} }), &broken},
		"welcome twice":   {frame(func(r uint64) wire.Message { return welcome(r) }), &broken},
		"unknown request": {frame(func(r uint64) wire.Message { return &wire.Pong{Req: 99, Stable: 3} }), &broken},
		"a request":       {frame(func(r uint64) wire.Message { return &wire.Status{Req: r} }), &broken},
		"item ahead": {frame(func(r uint64) wire.Message {
			return &wire.Items{Stable: 3, Items: []wire.Item{{At: 4}}}
		}), &broken},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := client.Local(c.lie, client.Options{NoBackground: true})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if err := db.Ping(context.Background()); err != nil {
				t.Fatal(err)
			}
			tx, err := db.Begin(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			_, err = tx.Read(7)
			var aborted *client.AbortError
			if !errors.As(err, &aborted) || aborted.Reason != occ.AbortDisconnected {
				t.Fatalf("got %v", err)
			}
			_, err = db.Begin(context.Background())
			if !errors.Is(err, client.ErrDisconnected) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("got %q", err)
			}
			if c.kind != nil && !errors.As(err, c.kind) {
				t.Fatalf("%v is not a %T", err, c.kind)
			}
		})
	}
}

func reply(req uint64, results ...wire.ReadResult) *wire.ReadReply {
	return &wire.ReadReply{Req: req, Stable: 3, Results: results}
}

func TestBrokenWelcomes(t *testing.T) {
	for name, first := range map[string]wire.Message{
		"no block size":    &wire.Welcome{Req: 1, Limits: wire.DefaultLimits()},
		"huge blocks":      &wire.Welcome{Req: 1, BlockSize: 1 << 40, Limits: wire.DefaultLimits()},
		"no blocks a read": &wire.Welcome{Req: 1, BlockSize: 64},
		"something else":   &wire.LeaseReply{Req: 1, Count: 1},
		"pong":             &wire.Pong{Req: 1},
		"a refusal":        &wire.Error{Req: 1, Code: wire.CodeVersion, Text: "version 7 or nothing"},
		"a farewell":       &wire.Error{Code: wire.CodeBusy, Text: "full"},
	} {
		db, err := client.Open(context.Background(), script(first), client.Options{NoBackground: true})
		if err == nil {
			db.Close()
			t.Errorf("%s: no error", name)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q is not one line", name, err)
		}
	}
}

// scripted is a Transport whose server says what it has to say whatever it is
// asked: one message for each wait.
type scripted struct {
	frames   [][]byte // bodies
	receiver client.Receiver
	lost     bool
}

func script(messages ...wire.Message) client.Connect {
	var bodies [][]byte
	for _, m := range messages {
		body, _, _ := wire.SplitFrame(wire.Append(nil, m), wire.MaxFrame)
		bodies = append(bodies, body)
	}
	return func(_ context.Context, r client.Receiver) (client.Transport, error) {
		return &scripted{frames: bodies, receiver: r}, nil
	}
}

type call struct{}

func (call) Wake() {}

func (s *scripted) Send([]byte)          {}
func (s *scripted) NewCall() client.Call { return call{} }

func (s *scripted) Await(_ context.Context, c client.Call, _ time.Duration) error {
	switch {
	case c == nil: // only for some time
	case s.lost:
		panic("a wait for what cannot come")
	case len(s.frames) == 0:
		s.lose(io.EOF)
	default:
		body := s.frames[0]
		s.frames = s.frames[1:]
		if err := s.receiver.Receive(body); err != nil {
			s.lose(err)
		}
	}
	return nil
}

func (s *scripted) lose(err error) {
	if !s.lost {
		s.lost = true
		s.receiver.Lost(err)
	}
}

func (s *scripted) Close() error {
	s.lose(net.ErrClosed)
	return nil
}

// FuzzReceive has a server send anything at all, and a client that reads,
// writes, creates and commits meanwhile.
func FuzzReceive(f *testing.F) {
	add := func(messages ...wire.Message) {
		var stream []byte
		for _, m := range messages {
			stream = wire.Append(stream, m)
		}
		f.Add(stream)
	}
	// The client asks: 2 reads of blocks 7 and 8, 3 and 4 as much again, 5 a
	// lease, 6 a commit.
	two := []wire.ReadResult{{From: 1, Data: []byte("seven")}, {Status: wire.StatusClosed, From: 1, To: 3}}
	add(&wire.ReadReply{Req: 2, Stable: 4, Results: two}, &wire.Pong{Stable: 5})
	add(&wire.ReadReply{Req: 2, Stable: 4, Results: make([]wire.ReadResult, 2)}, &wire.LeaseReply{Req: 3, Stable: 4, First: 9, Count: 256},
		&wire.Items{Stable: 5, Items: []wire.Item{{Kind: wire.ItemCommitted, Req: 4, At: 5}}},
		&wire.Items{Stable: 6, Items: []wire.Item{{Block: 7, From: 5, At: 6}}})
	add(&wire.ReadReply{Req: 2, Stable: 4, Results: make([]wire.ReadResult, 2)},
		&wire.Items{Stable: 5, Items: []wire.Item{{Block: 7, At: 5}, {Kind: wire.ItemDropped, Block: 8, At: 5}}},
		&wire.Conflict{Req: 4, Stable: 5, Blocks: []occ.Read{{Block: 7, From: 5}}}, &wire.Error{Req: 5, Stable: 6, Code: wire.CodeStopping})
	add(&wire.Validated{Req: 2, Stable: 3}, &wire.Outcome{Req: 2, Stable: 3}, welcome(2), &wire.StatusReply{Req: 2, Stable: 3})
	f.Add([]byte("\x00\x05hello\xff\xff\xff\xff\xff"))

	f.Fuzz(func(t *testing.T, stream []byte) {
		var s *scripted
		db, err := client.Open(context.Background(), func(_ context.Context, r client.Receiver) (client.Transport, error) {
			body, _, _ := wire.SplitFrame(wire.Append(nil, welcome(1)), wire.MaxFrame)
			s = &scripted{frames: [][]byte{body}, receiver: r}
			for {
				body, rest, err := wire.SplitFrame(stream, wire.MaxFrame)
				if err != nil || body == nil {
					return s, nil
				}
				s.frames = append(s.frames, body)
				stream = rest
			}
		}, client.Options{CacheBytes: 300, MaxAttempts: 4, NoBackground: true})
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		for i := range 3 {
			db.View(ctx, func(tx *client.Tx) error { return readBoth(t, tx) })
			db.Update(ctx, func(tx *client.Tx) error {
				if err := readBoth(t, tx); err != nil {
					return err
				}
				id, err := tx.Create()
				if err != nil {
					return err
				}
				return errors.Join(tx.Write(id, []byte{1}), tx.Write(7, []byte{byte(i)}))
			})
		}
		if s.lost {
			if _, err := db.Begin(ctx); !errors.Is(err, client.ErrDisconnected) {
				t.Fatalf("after the loss of the connection: %v", err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func readBoth(t *testing.T, tx *client.Tx) error {
	all, err := tx.ReadMany([]occ.BlockID{7, 8})
	if err != nil {
		return err
	}
	again, err := tx.Read(7)
	if err != nil {
		return err
	}
	if len(all[0]) != 64 || len(all[1]) != 64 || &again[0] != &all[0][0] {
		t.Fatal(fmt.Errorf("%d and %d bytes, and then %d", len(all[0]), len(all[1]), len(again)))
	}
	return nil
}
