package storage_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/bench/proc"
	"github.com/tidemark/tidemark/server/ready"
)

// appendAndSync is the bare program without clients: it appends and syncs n
// times the same bytes, and waits for more after each sync.
func appendAndSync(b *testing.B, path string, n int, more time.Duration, size int) time.Duration {
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer os.Remove(path)
	defer f.Close()
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i*7 + i>>8)
	}
	begun := time.Now()
	for range n {
		if _, err := f.Write(data); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		<-time.After(more)
	}
	return time.Since(begun)
}

const (
	bareRequest = blockSize + 64 // about what a commit of a block takes
	bareAnswer  = 16
)

// bareClients has the bare program with clients take n requests of so many
// clients, one at a time of each, over TCP.
func bareClients(b *testing.B, path string, clients, n int) time.Duration {
	b.Helper()
	s, err := proc.Launch(b.Context(), exec.Command(os.Args[0], "-bare", path))
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := s.EndInput(); err != nil {
			b.Error(err)
		}
	}()
	var all sync.WaitGroup
	begun := time.Now()
	for range clients {
		all.Go(func() {
			if err := bareClient(s.Addr, n/clients); err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
	return time.Since(begun)
}

func bareClient(addr string, n int) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	request, answer := make([]byte, bareRequest), make([]byte, bareAnswer)
	for range n {
		if _, err := c.Write(request); err != nil {
			return err
		}
		if _, err := io.ReadFull(c, answer); err != nil {
			return err
		}
	}
	return nil
}

// bareServer does the least that a server can: it appends to the file what has
// arrived, syncs, and answers, until its standard input ends.
func bareServer(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	defer f.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Print(ready.Line(l.Addr()))
	requests := make(chan bareCommit, 1024)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go bareRead(c, requests)
		}
	}()
	failed := make(chan error, 1)
	go func() { failed <- bareLog(f, requests) }()
	go func() {
		_, err := io.Copy(io.Discard, os.Stdin)
		failed <- err
	}()
	return <-failed
}

type bareCommit struct {
	conn net.Conn
	data []byte
}

func bareRead(c net.Conn, requests chan<- bareCommit) {
	defer c.Close()
	for {
		q := bareCommit{conn: c, data: make([]byte, bareRequest)}
		if _, err := io.ReadFull(c, q.data); err != nil {
			return
		}
		requests <- q
	}
}

func bareLog(f *os.File, requests <-chan bareCommit) error {
	var group []bareCommit
	var buf []byte
	var answer [bareAnswer]byte
	for q := range requests {
		group = append(group[:0], q)
		for range len(requests) {
			group = append(group, <-requests)
		}
		buf = buf[:0]
		for _, q := range group {
			buf = append(buf, q.data...)
		}
		if _, err := f.Write(buf); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
		for _, q := range group {
			q.conn.Write(answer[:]) // the client may have gone
		}
	}
	return nil
}
