package storage_test

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidemark/tidemark/bench/proc"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
)

var (
	gib         = flag.Float64("gib", 0.06, "size of the large store")
	memory      = flag.Int("memory", 8, "MiB of cache of the server with the large store")
	memoryLimit = flag.Int("memorylimit", 64, "MiB of GOMEMLIMIT of that server")
	workingSet  = flag.Int("workingset", 4, "MiB that are overwritten")
	bare        = flag.String("bare", "", "be the bare server, on this file, and nothing else")
	overwrites  = flag.Int("overwrites", 8000, "how many blocks of them are")
)

const (
	blockSize   = 4096
	clientCache = 256 << 10 // small, so that clients cost little
)

// program is the server.
var program string

func TestMain(m *testing.M) {
	flag.Parse()
	if *bare == "" {
		os.Exit(proc.WithProgram(&program, m.Run))
	}
	if err := bareServer(*bare); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// start starts a server on a directory of its own.
func start(t testing.TB, flags ...string) (s *proc.Server, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "store")
	s, err := proc.NewServer(t.Context(), dir, append([]string{program, "serve"}, flags...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s, dir
}

func dial(t testing.TB, s *proc.Server) *client.DB {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	db, err := client.Dial(ctx, s.Addr, client.Options{CacheBytes: clientCache})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// content is what the nth write puts into a block: nothing that could be made
// shorter.
func content(b occ.BlockID, n uint64) []byte {
	data := make([]byte, blockSize)
	x := uint64(b)*0x9e3779b97f4a7c15 + n + 1
	for i := 0; i < len(data); i += 8 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		binary.LittleEndian.PutUint64(data[i:], x|1<<56)
	}
	return data
}

// counters are what the server says of itself.
func counters(t testing.TB, db *client.DB) map[string]uint64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := db.ServerStatus(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// size is how many bytes the files under dir have.
func size(t testing.TB, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		if os.IsNotExist(err) { // it was removed just now
			return nil
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return n
}
