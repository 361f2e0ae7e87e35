package client_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidemark/tidemark/bench/proc"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server"
	"github.com/tidemark/tidemark/server/ready"
)

// What is read, and how much of it at a time.
const (
	remoteBlock  = 4096
	remoteBlocks = 2048
	remoteWindow = 16
	// What a read request and the reply around a block take on the wire.
	remoteRequest = 8
	remoteReply   = remoteBlock + 10
)

// BenchmarkRemoteReads compares two programs that hand out blocks of 4 KiB to
// another process over one loopback connection, 16 requests under way: the
// store, of whose client nothing is cached, and a bare echo of length-prefixed
// messages of the same sizes that does nothing else. The echo is measured
// twice: asked by one goroutine, which sends and receives as many messages at
// a time as there are, and asked by a goroutine for each request under way, as
// the callers of a library are.
//
//	go test ./client -run '^$' -bench RemoteReads -count 5
func BenchmarkRemoteReads(b *testing.B) {
	b.Run("tidemark", benchRemoteStore)
	b.Run("echo/callers=1", benchRemoteEcho)
	b.Run("echo/callers=16", benchRemoteEchoCallers)
}

const peerVariable = "TIDEMARK_TEST_PEER"

// peer is the other process of a benchmark: this test binary, told by the
// environment. It serves until its standard input ends.
func peer() bool {
	role := os.Getenv(peerVariable)
	if role == "" {
		return false
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Print(ready.Line(l.Addr()))
	stopped := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(stopped)
	}()
	switch role {
	case "store":
		srv, err := server.Open(server.Options{BlockSize: remoteBlock})
		if err != nil {
			panic(err)
		}
		go srv.Serve(l)
		<-stopped
		srv.Shutdown(context.Background())
	case "echo":
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go echo(c)
			}
		}()
		<-stopped
	default:
		panic("no such peer: " + role)
	}
	return true
}

// startPeer starts the other process and returns its address.
func startPeer(b *testing.B, role string) string {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), peerVariable+"="+role)
	s, err := proc.Launch(b.Context(), cmd)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.EndInput(); err != nil {
			b.Error(err)
		}
	})
	return s.Addr
}

func benchRemoteStore(b *testing.B) {
	ctx := context.Background()
	db, err := client.Dial(ctx, startPeer(b, "store"), client.Options{CacheBytes: 1, Freshness: client.Unbounded})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	data := make([]byte, remoteBlock)
	for i := range data {
		data[i] = byte(i) | 1
	}
	first, err := db.CreateRange(ctx, remoteBlocks)
	if err != nil {
		b.Fatal(err)
	}
	for i := range occ.BlockID(remoteBlocks) {
		if err := db.Update(ctx, func(tx *client.Tx) error { return tx.Write(first+i, data) }); err != nil {
			b.Fatal(err)
		}
	}
	before := db.Stats().Misses
	var next atomic.Int64
	b.SetBytes(remoteBlock)
	b.ReportAllocs()
	b.ResetTimer()
	var all sync.WaitGroup
	for range remoteWindow {
		all.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := db.View(ctx, func(tx *client.Tx) error {
					data, err := tx.Read(first + occ.BlockID(i%remoteBlocks))
					if err == nil && data[remoteBlock-1] == 0 {
						b.Error("an empty block")
					}
					return err
				}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reads/s")
	if misses := db.Stats().Misses - before; misses < uint64(b.N) {
		b.Errorf("only %d of %d reads went to the server", misses, b.N)
	}
}

func benchRemoteEcho(b *testing.B) {
	c, err := net.Dial("tcp", startPeer(b, "echo"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	r, w := bufio.NewReaderSize(c, 64<<10), bufio.NewWriterSize(c, 64<<10)
	request, reply := make([]byte, remoteRequest), make([]byte, remoteReply)
	b.SetBytes(remoteBlock)
	b.ReportAllocs()
	b.ResetTimer()
	sent := min(remoteWindow, b.N)
	for range sent {
		send(b, w, request)
	}
	for range b.N {
		if r.Buffered() < len(reply)+4 {
			if err := w.Flush(); err != nil {
				b.Fatal(err)
			}
		}
		if n, err := receive(r, reply); err != nil || n != len(reply) {
			b.Fatalf("%d bytes, %v", n, err)
		}
		if sent < b.N {
			sent++
			send(b, w, request)
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reads/s")
}

func benchRemoteEchoCallers(b *testing.B) {
	c, err := net.Dial("tcp", startPeer(b, "echo"))
	if err != nil {
		b.Fatal(err)
	}
	var turn sync.Mutex // replies come in the order of the requests
	waiting := make(chan chan []byte, remoteWindow)
	var reader sync.WaitGroup
	reader.Go(func() {
		r := bufio.NewReaderSize(c, 64<<10)
		for answer := range waiting {
			reply := make([]byte, remoteReply) // the caller's, as a block is
			if _, err := receive(r, reply); err != nil {
				b.Error(err)
			}
			answer <- reply
		}
	})
	var left atomic.Int64
	left.Store(int64(b.N))
	b.SetBytes(remoteBlock)
	b.ReportAllocs()
	b.ResetTimer()
	var all sync.WaitGroup
	for range remoteWindow {
		all.Go(func() {
			answer := make(chan []byte, 1)
			request := make([]byte, 4+remoteRequest)
			binary.LittleEndian.PutUint32(request, remoteRequest)
			for left.Add(-1) >= 0 {
				turn.Lock()
				waiting <- answer
				_, err := c.Write(request)
				turn.Unlock()
				if err != nil {
					b.Error(err)
				}
				<-answer
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reads/s")
	close(waiting)
	reader.Wait()
	c.Close()
}

// echo answers every message with one of the size of a reply, as many at a
// time as there are.
func echo(c net.Conn) {
	defer c.Close()
	r, w := bufio.NewReaderSize(c, 64<<10), bufio.NewWriterSize(c, 64<<10)
	request, reply := make([]byte, remoteRequest), make([]byte, remoteReply)
	for {
		if _, err := receive(r, request); err != nil {
			return
		}
		if write(w, reply) != nil {
			return
		}
		if r.Buffered() < len(request)+4 && w.Flush() != nil {
			return
		}
	}
}

func send(b *testing.B, w *bufio.Writer, message []byte) {
	if err := write(w, message); err != nil {
		b.Fatal(err)
	}
}

func write(w *bufio.Writer, message []byte) error {
	var prefix [4]byte
	binary.LittleEndian.PutUint32(prefix[:], uint32(len(message)))
	if _, err := w.Write(prefix[:]); err != nil {
		return err
	}
	_, err := w.Write(message)
	return err
}

func receive(r *bufio.Reader, into []byte) (int, error) {
	var prefix [4]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return 0, err
	}
	return io.ReadFull(r, into[:min(int(binary.LittleEndian.Uint32(prefix[:])), len(into))])
}
