package server

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/storedir"
	"github.com/tidemark/tidemark/server/wal"
)

// TestConversation has two clients meet over each transport: lease, commit,
// read, deprecation, conflict, validation, status.
func TestConversation(t *testing.T) {
	for name, connect := range map[string]func(*testing.T, *Server) func() *rawClient{
		"tcp": func(t *testing.T, s *Server) func() *rawClient {
			addr := listen(t, s)
			return func() *rawClient { return dial(t, addr) }
		},
		"pipe": func(t *testing.T, s *Server) func() *rawClient {
			return func() *rawClient { return pipe(t, s) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := running(t, Options{Dir: t.TempDir()})
			open := connect(t, s)
			a, b := open().hello(occ.SessionID{}), open().hello(occ.SessionID{})
			if a.welcome.Session == b.welcome.Session || a.welcome.BlockSize != 4096 || a.welcome.Epoch != 1 {
				t.Fatalf("%+v, %+v", a.welcome, b.welcome)
			}
			a.send(&wire.Lease{Req: a.next(), Count: 10})
			b.send(&wire.Lease{Req: b.next(), Count: 10})
			x, y := expect[*wire.LeaseReply](a).First, expect[*wire.LeaseReply](b).First
			if x == y {
				t.Fatalf("both got block %d", x)
			}

			b.reads(x, 0, "")
			if at := a.committed([]occ.Read{{Block: x}}, write(x, "one")); at != 1 {
				t.Fatalf("committed at %d", at)
			}
			want := wire.Item{Kind: wire.ItemDeprecated, At: 1, Block: x}
			if items := expect[*wire.Items](b); items.Stable != 1 || items.Items[0] != want {
				t.Fatalf("%+v", items)
			}
			b.reads(x, 1, "one")

			b.send(b.commit([]occ.Read{{Block: x, From: 0}}, write(y, "no")))
			if c := expect[*wire.Conflict](b); len(c.Blocks) != 1 || c.Blocks[0] != (occ.Read{Block: x, From: 1}) {
				t.Fatalf("%+v", c)
			}
			b.send(&wire.Validate{Req: b.next(), Reads: []occ.Read{{Block: x, From: 1}}})
			if v := expect[*wire.Validated](b); v.Stable != 1 {
				t.Fatalf("%+v", v)
			}
			b.send(&wire.Status{Req: b.next()})
			values := make(map[string]uint64)
			for _, v := range expect[*wire.StatusReply](b).Values {
				values[v.Name] = v.Value
			}
			if values["commits"] != 1 || values["conflicts"] != 1 || values["cpu_us"] == 0 || values["max_rss_bytes"] < 1<<20 {
				t.Fatalf("%v", values)
			}
		})
	}
}

// TestRestart: after an orderly stop everything acknowledged is there.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	s := running(t, Options{Dir: dir})
	a := pipe(t, s).hello(occ.SessionID{})
	a.send(&wire.Lease{Req: a.next(), Count: 5})
	first := expect[*wire.LeaseReply](a).First
	a.committed(nil, write(7, "one"))
	a.committed(nil, write(7, "two"), write(8, "x"))
	shutdown(t, s)
	a.ended()

	s = running(t, Options{Dir: dir})
	b := pipe(t, s).hello(a.welcome.Session)
	if b.welcome.Session != a.welcome.Session || b.welcome.Store != a.welcome.Store || b.welcome.Stable != 2 || b.welcome.Epoch != 2 {
		t.Fatalf("%+v", b.welcome)
	}
	again := a.commit(nil, write(7, "one"))
	again.Req, again.Seq, again.Resend = b.next(), 1, true
	b.send(again)
	if o := expect[*wire.Outcome](b); o.Status != wire.OutcomeCommitted || o.At != 1 {
		t.Fatalf("%+v", o)
	}
	b.reads(7, 2, "two")
	b.reads(8, 2, "x")
	b.send(&wire.Lease{Req: b.next(), Count: 5})
	if l := expect[*wire.LeaseReply](b); l.First != first+5 {
		t.Fatalf("%+v", l)
	}
}

// TestCrash opens a copy of the directory of a server that was never stopped:
// what kill -9 leaves.
func TestCrash(t *testing.T) {
	dir, crashed := t.TempDir(), t.TempDir()
	a := pipe(t, running(t, Options{Dir: dir})).hello(occ.SessionID{})
	a.committed(nil, write(1, "one"))
	if err := os.CopyFS(crashed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	a.committed(nil, write(1, "two"))
	b := pipe(t, running(t, Options{Dir: crashed})).hello(occ.SessionID{})
	b.reads(1, 1, "one")
	a.reads(1, 2, "two")
}

// TestOpenRefuses: what must not be opened is a typed error, and nothing is
// left running or locked.
func TestOpenRefuses(t *testing.T) {
	locked, foreign := t.TempDir(), t.TempDir()
	running(t, Options{Dir: locked})
	if err := os.WriteFile(foreign+"/thesis.tex", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var options *OptionsError
	for name, c := range map[string]struct {
		opts Options
		is   error
	}{
		"locked":         {Options{Dir: locked}, storedir.ErrLocked},
		"foreign":        {Options{Dir: foreign}, storedir.ErrForeign},
		"negative":       {Options{Retention: -1}, nil},
		"negative delay": {Options{CommitDelay: -1}, nil},
		"long delay":     {Options{CommitDelay: MaxCommitDelay + 1}, nil},
		"log and dir":    {Options{Dir: t.TempDir(), Log: wal.NewMemory(occ.StoreID{}, 1).Open()}, nil},
		"large block":    {Options{BlockSize: 1 << 30}, nil},
		"small frame":    {Options{Limits: wire.Limits{FrameBytes: 10}}, nil},
		"queue vs block": {Options{QueueBytes: 4096}, nil},
		"frame vs block": {Options{Limits: wire.Limits{FrameBytes: 4096}}, nil},
	} {
		s, err := Open(c.opts)
		if err == nil {
			shutdown(t, s)
		}
		if c.is != nil && !errors.Is(err, c.is) || c.is == nil && !errors.As(err, &options) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRefusedBlockSize: a block size that does not fit other options makes no
// directory, which would keep it.
func TestRefusedBlockSize(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	var options *OptionsError
	if _, err := Open(Options{Dir: dir, BlockSize: 65536, QueueBytes: 8192}); !errors.As(err, &options) {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the directory was made:", err)
	}
}

// TestFailedOpenUnlocks: an Open that fails late leaves the directory to the
// next one.
func TestFailedOpenUnlocks(t *testing.T) {
	dir := t.TempDir()
	var options *OptionsError
	if _, err := Open(Options{Dir: dir, Limits: wire.Limits{FrameBytes: 4096}}); !errors.As(err, &options) {
		t.Fatal(err)
	}
	pipe(t, running(t, Options{Dir: dir})).hello(occ.SessionID{}).committed(nil, write(1, "x"))
}

// TestDamagedLog: acknowledged commits that are damaged are an error each
// time, never dropped, and the directory is not left locked.
func TestDamagedLog(t *testing.T) {
	dir := t.TempDir()
	s := running(t, Options{Dir: dir})
	a := pipe(t, s).hello(occ.SessionID{})
	a.committed(nil, write(1, "one"))
	a.committed(nil, write(1, "two"))
	shutdown(t, s)
	segments, err := filepath.Glob(filepath.Join(dir, "log", "0*"))
	if err != nil || len(segments) == 0 {
		t.Fatal(segments, err)
	}
	b, err := os.ReadFile(segments[0])
	if err != nil {
		t.Fatal(err)
	}
	b[60] ^= 1
	if err := os.WriteFile(segments[0], b, 0o640); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var corrupt *wal.CorruptError
		if _, err := Open(Options{Dir: dir}); !errors.As(err, &corrupt) {
			t.Fatal(err)
		}
	}
}

// TestMemoryLog: a log that outlives the server carries the store over.
func TestMemoryLog(t *testing.T) {
	m := wal.NewMemory(occ.StoreID{5}, wal.DefaultMemoryLimit)
	s := running(t, Options{Log: m.Open(), Store: occ.StoreID{5}})
	pipe(t, s).hello(occ.SessionID{}).committed(nil, write(1, "one"))
	shutdown(t, s)
	s = running(t, Options{Log: m.Open(), Store: occ.StoreID{5}})
	pipe(t, s).hello(occ.SessionID{}).reads(1, 1, "one")
}

// TestPortInUse: Serve of a listener that fails returns its error, and the
// server serves others.
func TestPortInUse(t *testing.T) {
	s := running(t, Options{})
	addr := listen(t, s)
	dial(t, addr).hello(occ.SessionID{})
	if got := s.Addr(); got.String() != addr {
		t.Fatalf("Addr is %v, want %s", got, addr)
	}
	if l, err := net.Listen("tcp", addr); err == nil {
		l.Close()
		t.Fatal("the port is not in use")
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	if err := s.Serve(closed); !errors.Is(err, net.ErrClosed) {
		t.Fatalf("Serve of a closed listener: %v", err)
	}
	dial(t, addr).hello(occ.SessionID{}).committed(nil, write(1, "x"))
}

// TestAfterShutdown: nothing is served, and calls return.
func TestAfterShutdown(t *testing.T) {
	s := running(t, Options{})
	a := pipe(t, s).hello(occ.SessionID{})
	shutdown(t, s)
	a.ended()
	ours, theirs := net.Pipe()
	defer ours.Close()
	if err := s.ServeConn(theirs); !errors.Is(err, ErrStopped) {
		t.Fatalf("ServeConn: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(l); !errors.Is(err, ErrStopped) {
		t.Fatalf("Serve: %v", err)
	}
	select {
	case <-s.Done():
	default:
		t.Fatal("not done")
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
}
