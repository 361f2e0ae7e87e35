package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark/tidemark/bench/proc"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
)

// fileLimit names the environment variable that bounds the size of the files
// that the program writes, in bytes: a write beyond it ends half way, as on a
// full disk.
const fileLimit = "TIDEMARK_TEST_FILE_LIMIT"

func init() {
	text := os.Getenv(fileLimit)
	if text == "" {
		return
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err == nil {
		signal.Ignore(syscall.SIGXFSZ)
		err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// limited makes dir a file system of its own of so many bytes, or lets every
// file have so many, until room is called.
func limited(t *testing.T, dir string, size, file int) (room func()) {
	mount := func(flags uintptr, size int) error {
		return syscall.Mount("tmpfs", dir, "tmpfs", flags, fmt.Sprintf("size=%d", size))
	}
	if err := mount(0, size); err != nil {
		t.Logf("the disk is a limit of %d bytes for a file, because there can be no file system of its own: %v", file, err)
		t.Setenv(fileLimit, strconv.Itoa(file))
		return func() { os.Unsetenv(fileLimit) }
	}
	t.Logf("the disk is a tmpfs of %d bytes", size)
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return func() {
		if err := mount(syscall.MS_REMOUNT, 64<<20); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFullDisk: little can be written where the whole store is. The log fails
// first.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	room := limited(t, disk, 1<<20, 200<<10) // a file of the log would become larger
	survives(t, disk, "the commit log failed", room)
}

// TestFullDiskOfBlocks: little can be written where the blocks are, and the log
// has room.
func TestFullDiskOfBlocks(t *testing.T) {
	disk := t.TempDir()
	p, err := launch(t.Context(), disk, "--dir="+filepath.Join(disk, "data"), "--listen=127.0.0.1:0")
	if err == nil {
		err = p.Stop()
	}
	if err != nil {
		t.Fatal(err)
	}
	blocks, before := filepath.Join(disk, "data", "blocks"), filepath.Join(disk, "before")
	if err := errors.Join(os.Rename(blocks, before), os.Mkdir(blocks, 0o700)); err != nil {
		t.Fatal(err)
	}
	room := limited(t, blocks, 2<<20, 6<<20) // a file of the log does not become so large
	if err := os.CopyFS(blocks, os.DirFS(before)); err != nil {
		t.Fatal(err)
	}
	survives(t, disk, "the block store failed", room, "--checkpoint=1")
}

// survives checks what a server does with data in a directory in which it cannot
// write much until room is called: when it fails, nothing is acknowledged any
// more, and it ends and says why. When there is room it starts again, with
// everything that was acknowledged; the clients, which have waited for it, go
// on.
func survives(t *testing.T, disk, why string, room func(), flags ...string) {
	dir := filepath.Join(disk, "data")
	addr, err := proc.FreeAddr() // nobody takes it while the server is down
	if err != nil {
		t.Fatal(err)
	}
	flags = append(flags, "--dir="+dir)
	p, err := launch(t.Context(), disk, append(flags, "--listen="+addr)...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	// Each client writes blocks of its own, of which it knows the newest.
	const clients, least = 4, 3
	var acked [clients]atomic.Int64
	var failed atomic.Bool
	var again atomic.Int64 // clients that went on
	work, stop := context.WithCancel(ctx)
	defer stop()
	var running sync.WaitGroup
	var dbs [clients]*client.DB
	for i := range dbs { // all before the first one writes, which may fill the disk
		if dbs[i], err = client.Dial(ctx, addr, client.Options{}); err != nil {
			t.Fatal(err)
		}
		defer dbs[i].Close()
	}
	for i, db := range dbs {
		running.Go(func() {
			for after := 0; after < least; {
				n := acked[i].Load() + 1
				late := failed.Load()
				err := db.Update(work, func(tx *client.Tx) error {
					return tx.Write(blockOf(i, n), pattern(db.BlockSize(), i, n))
				})
				if err != nil {
					t.Errorf("client %d: %v", i, err)
					return
				}
				acked[i].Store(n)
				if late {
					after++
				}
			}
			again.Add(1)
		})
	}
	end := p.Wait()
	total := int64(0)
	for i := range clients {
		total += acked[i].Load()
	}
	failed.Store(true)
	var exit *exec.ExitError
	if !errors.As(end, &exit) || exit.ExitCode() != exitFailure {
		t.Errorf("the server ended with %v", end)
	}
	said := strings.Split(strings.TrimSpace(p.Said()), "\n")
	last := said[len(said)-1]
	t.Logf("%d commits were acknowledged; the server said: %s", total, last)
	if !strings.HasPrefix(last, "tidemark: "+why) || strings.Count(p.Said(), "the server stops") != 1 || !strings.Contains(last, dir) ||
		!strings.Contains(last, syscall.ENOSPC.Error()) && !strings.Contains(last, syscall.EFBIG.Error()) {
		t.Errorf("it does not say what happened: %s", p.Said())
	}
	// Without room it cannot do more than before, if it starts at all.
	if q, err := launch(t.Context(), disk, append(flags, "--listen=127.0.0.1:0")...); err != nil {
		t.Logf("without room: %v", err)
	} else {
		q.Kill()
	}
	room()
	q, err := launch(t.Context(), disk, append(flags, "--listen="+addr)...)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Kill()
	running.Wait()
	if again.Load() != clients {
		t.Errorf("%d clients of %d went on", again.Load(), clients)
	}
	db := dial(t, q.Addr)
	for i := range clients {
		for n := range acked[i].Load() {
			err := db.View(ctx, func(tx *client.Tx) error {
				data, err := tx.Read(blockOf(i, n+1))
				if err == nil && !bytes.Equal(data, pattern(db.BlockSize(), i, n+1)) {
					t.Errorf("write %d of client %d was acknowledged and is not there", n+1, i)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := q.Stop(); err != nil {
		t.Error(err)
	}
	if out, err := exec.Command("tidemark", "store", "check", dir).CombinedOutput(); err != nil {
		t.Errorf("check: %v: %s", err, out)
	}
}

func blockOf(client int, write int64) occ.BlockID {
	return occ.BlockID(client)<<32 + occ.BlockID(write)
}

// pattern is a block that says who wrote it.
func pattern(size, client int, write int64) []byte {
	line := fmt.Sprintf("client %d, write %d;", client, write)
	return bytes.Repeat([]byte(line), size/len(line)+1)[:size]
}
