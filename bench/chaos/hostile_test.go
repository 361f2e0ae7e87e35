package chaos_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

var hello = wire.Append(nil, &wire.Hello{Req: 1, Version: wire.Version})

// attack is what a hostile client sends, and what the server's log says of it.
type attack struct {
	name  string
	greet bool // it comes after a proper beginning
	bytes func(*rand.Rand) []byte
	said  string
}

func always(parts ...[]byte) func(*rand.Rand) []byte {
	return func(*rand.Rand) []byte { return slices.Concat(parts...) }
}

func frame(m wire.Message) []byte { return wire.Append(nil, m) }

// manyItems is the message that takes most memory for its bytes, once decoded.
func manyItems() []byte {
	items := make([]wire.Item, wire.MaxEntries)
	for i := range items {
		items[i] = wire.Item{Kind: wire.ItemDropped, At: 5, Block: 1, From: 5}
	}
	return frame(&wire.Items{Stable: 5, Items: items})
}

var attacks = []attack{
	{"garbage", false, func(rng *rand.Rand) []byte {
		b := make([]byte, 1+rng.IntN(1<<14))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	}, "reason="},
	{"text", false, always([]byte("GET / HTTP/1.1\r\nHost: example.com\r\nAccept: */*\r\nUser-Agent: somebody\r\nConnection: close\r\n\r\n")), "reason="},
	{"half a frame", false, func(rng *rand.Rand) []byte { return hello[:1+rng.IntN(len(hello)-1)] }, "unexpected EOF"},
	{"half a frame after hello", true, always(frame(&wire.Lease{Req: 2, Count: 1})[:2]), "unexpected EOF"},
	{"frame of 4 GiB", false, always(binary.AppendUvarint(nil, 4<<30), make([]byte, 1<<16)), "4294967296"},
	{"frame of 4 GiB after hello", true, always(binary.AppendUvarint(nil, 4<<30), make([]byte, 1<<16)), "4294967296"},
	{"commit before hello", false, always(frame(&wire.Commit{Req: 1, Seq: 1})), "before"},
	{"two hellos", true, always(hello), "second"},
	{"a server's message", true, always(frame(&wire.Pong{Req: 2})), "not a request"},
	{"a large server's message", false, always(manyItems()), "not a request"},
	{"commit with a wrong digest", true, always(frame(&wire.Commit{Req: 2, Seq: 1, Writes: []occ.Write{{Block: 1, Data: []byte("x")}}})), "digest"},
	{"wrong version", false, always(frame(&wire.Hello{Req: 1, Version: wire.Version + 7})), "version"},
}

// strike carries out an attack, which ends when the server has closed the
// connection.
func strike(ctx context.Context, addr string, rng *rand.Rand, a attack) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	if a.greet {
		if err := greet(c); err != nil {
			return err
		}
	}
	_, _ = c.Write(a.bytes(rng)) // the server may hang up on it
	_ = c.(*net.TCPConn).CloseWrite()
	_, _ = io.Copy(io.Discard, c) // ends with EOF or a reset
	if ctx.Err() != nil {
		return fmt.Errorf("%s: the server did not hang up: %w", a.name, ctx.Err())
	}
	return nil
}

// greet begins as a client should.
func greet(c net.Conn) error {
	if _, err := c.Write(hello); err != nil {
		return err
	}
	_, err := wire.NewReader(c, wire.MaxFrame).Next()
	return err
}

// ask has a client ask for blocks for ever that it never reads.
func ask(ctx context.Context, addr string) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	err = greet(c)
	for req := uint64(2); err == nil; req++ {
		items := make([]wire.ReadItem, 64)
		for i := range items {
			items[i] = wire.ReadItem{Block: occ.BlockID(i), At: occ.Latest, Have: wire.Absent}
		}
		_, err = c.Write(frame(&wire.Read{Req: req, Items: items}))
	}
}

// assault has several clients strike over and over, and some that never read,
// until stop is called.
func assault(t testing.TB, addr string, seed uint64) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { ask(ctx, addr) })
	}
	for i := range 2 {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		all.Go(func() {
			for ctx.Err() == nil {
				if err := strike(ctx, addr, rng, attacks[rng.IntN(len(attacks))]); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	return func() { cancel(); all.Wait() }
}

// commits makes n commits and returns how long the slowest hundredth took at
// least.
func commits(ctx context.Context, t testing.TB, db *client.DB, n int) (p99 time.Duration) {
	took := make([]time.Duration, n)
	for i := range took {
		begun := time.Now()
		err := db.Update(ctx, func(tx *client.Tx) error {
			return tx.Write(occ.BlockID(i%64), binary.BigEndian.AppendUint64(nil, uint64(i)))
		})
		if err != nil {
			t.Fatal(err)
		}
		took[i] = time.Since(begun)
	}
	slices.Sort(took)
	return took[n*99/100]
}

// maxResident bounds what the server may use beside its attackers, in bytes:
// the runtime, the blocks, and the queues of those that do not read.
const maxResident = 192 << 20

// TestHostileClients: whatever a client sends, its connection ends and the log
// says why; memory stays bounded and others go on.
func TestHostileClients(t *testing.T) {
	noLeaks(t)
	rng, seed := random(t)
	s, _ := start(t)
	ctx := patience(t, 2*time.Minute)
	db, err := client.Dial(ctx, s.Addr, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	alone := commits(ctx, t, db, 200)
	for _, a := range attacks {
		before := len(s.Said())
		if err := strike(ctx, s.Addr, rng, a); err != nil {
			t.Fatal(err)
		}
		for !strings.Contains(s.Said()[before:], a.said) { // it is written before the connection ends, and comes through a pipe
			if ctx.Err() != nil {
				t.Fatalf("%s: the log does not say %q: %s", a.name, a.said, s.Said()[before:])
			}
		}
	}
	stop := assault(t, s.Addr, seed)
	beside := commits(ctx, t, db, 200)
	status, err := db.ServerStatus(ctx)
	stop()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("99th percentile of a commit: %v alone, %v beside attackers; largest resident set %d KiB", alone, beside, status["max_rss_bytes"]>>10)
	if status["max_rss_bytes"] > maxResident {
		t.Errorf("the server used %d bytes", status["max_rss_bytes"])
	}
	if n := db.Stats().Reconnects; n > 0 {
		t.Errorf("%d reconnections of a client that did nothing", n)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
}

// BenchmarkCommit measures the latency of one client's commits, alone and
// beside attackers.
func BenchmarkCommit(b *testing.B) {
	for _, attacked := range []bool{false, true} {
		b.Run(map[bool]string{false: "alone", true: "attacked"}[attacked], func(b *testing.B) {
			s, _ := start(b)
			ctx := patience(b, 10*time.Minute)
			db, err := client.Dial(ctx, s.Addr, client.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			commits(ctx, b, db, 64)
			if attacked {
				defer assault(b, s.Addr, 1)()
			}
			b.ReportAllocs()
			b.ResetTimer()
			p99 := commits(ctx, b, db, b.N)
			b.StopTimer()
			b.ReportMetric(float64(p99.Microseconds()), "p99-us")
			status, err := db.ServerStatus(ctx)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(status["max_rss_bytes"])/(1<<20), "rss-MiB")
		})
	}
}
