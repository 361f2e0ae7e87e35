package server

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// BenchmarkCommitSync has clients commit small transactions, one at a time
// each, over loopback TCP with a log on disk. Beside it stands a bare program
// that does the least that this takes: receive, append, fsync for all that
// waits, answer. What 64 clients gain over one, against what they gain there,
// is the quality of group commit. Run it with TMPDIR on a disk that syncs.
func BenchmarkCommitSync(b *testing.B) {
	for _, clients := range []struct {
		name  string
		count int
	}{{"clients=1", 1}, {"clients=64", 64}} {
		b.Run("tidemark/"+clients.name, func(b *testing.B) { benchCommits(b, clients.count) })
		b.Run("bare/"+clients.name, func(b *testing.B) { benchBare(b, clients.count) })
	}
}

// share runs work on n goroutines until b.N calls are made.
func share(b *testing.B, n int, work func(client int)) {
	var left atomic.Int64
	left.Store(int64(b.N))
	var all sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for i := range n {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				work(i)
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
}

// patient is a client that has as long as the benchmark takes.
func patient(b *testing.B, addr string) *rawClient {
	c := dial(b, addr).hello(occ.SessionID{})
	c.conn.SetDeadline(time.Time{})
	return c
}

func benchCommits(b *testing.B, n int) {
	addr := listen(b, running(b, Options{Dir: b.TempDir()}))
	clients := make([]*rawClient, n)
	from := make([]occ.Timestamp, n)
	for i := range clients {
		clients[i] = patient(b, addr)
	}
	before := groups(clients[0])
	share(b, n, func(i int) {
		c, block := clients[i], occ.BlockID(i)
		m := c.commit([]occ.Read{{Block: block, From: from[i]}}, write(block, "sixteen bytes ok"))
		m.Acked = m.Seq - 1
		c.send(m)
		body, err := c.reader.Next()
		if err != nil {
			b.Error(err)
			return
		}
		answer, err := wire.Decode(body)
		if items, ok := answer.(*wire.Items); ok && err == nil {
			from[i] = items.Items[0].At
		} else {
			b.Errorf("%T, %v", answer, err)
		}
	})
	b.ReportMetric(float64(b.N)/float64(groups(clients[0])-before), "commits/group")
}

// groups asks how many groups the log has got.
func groups(c *rawClient) uint64 {
	c.send(&wire.Status{Req: c.next()})
	for _, v := range expect[*wire.StatusReply](c).Values {
		if v.Name == "groups" {
			return v.Value
		}
	}
	c.t.Fatal("no such counter")
	return 0
}

// bareRequest is the size of what a bare client sends and the log gets, about
// that of a small commit.
const bareRequest = 64

func benchBare(b *testing.B, n int) {
	f, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	var all sync.WaitGroup
	requests := make(chan bareCommit, 1024)
	var groups int
	clients := make([]net.Conn, n)
	for i := range clients {
		if clients[i], err = net.Dial("tcp", l.Addr().String()); err != nil {
			b.Fatal(err)
		}
		nc, err := l.Accept()
		if err != nil {
			b.Fatal(err)
		}
		all.Go(func() { bareRead(nc, requests) })
	}
	l.Close()
	var log sync.WaitGroup
	log.Go(func() { groups = bareLog(f, requests) })
	share(b, n, func(i int) {
		var request [bareRequest]byte
		var answer [8]byte
		if _, err := clients[i].Write(request[:]); err != nil {
			b.Error(err)
		} else if _, err := io.ReadFull(clients[i], answer[:]); err != nil {
			b.Error(err)
		}
	})
	for _, c := range clients {
		c.Close()
	}
	all.Wait()
	close(requests)
	log.Wait()
	b.ReportMetric(float64(b.N)/float64(groups), "commits/group")
}

type bareCommit struct {
	conn net.Conn
	data [bareRequest]byte
}

func bareRead(nc net.Conn, requests chan<- bareCommit) {
	defer nc.Close()
	r := bufio.NewReader(nc)
	for {
		q := bareCommit{conn: nc}
		if _, err := io.ReadFull(r, q.data[:]); err != nil {
			return
		}
		requests <- q
	}
}

// bareLog appends all that waits, syncs once and answers; it counts how often.
func bareLog(f *os.File, requests <-chan bareCommit) (groups int) {
	var group []bareCommit
	var buf []byte
	var answer [8]byte
	for q := range requests {
		group = append(group[:0], q)
		for range len(requests) {
			group = append(group, <-requests)
		}
		buf = buf[:0]
		for _, q := range group {
			buf = append(buf, q.data[:]...)
		}
		if _, err := f.Write(buf); err != nil {
			return groups
		}
		if f.Sync() != nil {
			return groups
		}
		groups++
		for _, q := range group {
			binary.LittleEndian.PutUint64(answer[:], uint64(len(group)))
			q.conn.Write(answer[:])
		}
	}
	return groups
}

// BenchmarkReads has one connection read blocks of 4 KiB over loopback TCP, 16
// requests under way; client and server share this process.
func BenchmarkReads(b *testing.B) {
	const window, blocks = 16, 1000
	addr := listen(b, running(b, Options{}))
	c := patient(b, addr)
	data := make([]byte, 4096)
	data[4095] = 1
	for i := range blocks {
		c.committed(nil, occ.Write{Block: occ.BlockID(i), Data: data})
	}
	request := func(i int) *wire.Read {
		return &wire.Read{Req: c.next(), Items: []wire.ReadItem{{Block: occ.BlockID(i % blocks), At: occ.Latest, Have: wire.Absent}}}
	}
	b.SetBytes(4096)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range min(window, b.N) {
		c.send(request(i))
	}
	var out []byte
	for i := range b.N {
		if _, err := c.reader.Next(); err != nil {
			b.Fatal(err)
		}
		if i+window < b.N {
			out = wire.Append(out, request(i+window))
		}
		if c.reader.Buffered() == 0 || len(out) > 1<<10 {
			if _, err := c.conn.Write(out); err != nil {
				b.Fatal(err)
			}
			out = out[:0]
		}
	}
}
