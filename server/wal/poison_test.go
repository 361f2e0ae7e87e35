package wal

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	tidwall "github.com/tidwall/wal"
)

// childVar names the environment variable that makes the test binary append
// to the log in a directory until it fails or is killed.
const childVar, limitVar = "WAL_TEST_DIR", "WAL_TEST_FILE_LIMIT"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVar); dir != "" {
		child(dir, os.Getenv(limitVar))
		return
	}
	os.Exit(m.Run())
}

// child prints the index of every entry once it is appended, then the errors
// of the append that failed and of the next one.
func child(dir, limit string) {
	if n, err := strconv.ParseUint(limit, 10, 64); err == nil {
		signal.Ignore(syscall.SIGXFSZ)
		rlimit := syscall.Rlimit{Cur: n, Max: n}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &rlimit); err != nil {
			fmt.Println("setrlimit:", err)
			return
		}
	}
	d, _, err := Open(dir, testStore, Options{SegmentBytes: 1 << 20})
	if err == nil {
		_, err = d.Fence(d.Head().Epoch + 1)
	}
	for err == nil {
		var index uint64
		if index, err = d.Append(payload(d.Head().Index + 1)); err == nil {
			fmt.Println(index)
		}
	}
	_, next := d.Append(payload(1))
	fmt.Println("unknown", errors.Is(err, ErrUnknown), errors.Is(err, syscall.EFBIG))
	fmt.Println("poisoned", errors.Is(next, ErrPoisoned), errors.Is(next, syscall.EFBIG))
}

func startChild(t *testing.T, dir string, env ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), childVar+"="+dir), env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

func TestWriteThatStopsHalfWay(t *testing.T) {
	// A limit on file size makes a write end in mid-entry, as a full disk
	// does. The bytes that got through are a torn end.
	for limit := 700; limit < 780; limit += 13 {
		dir := t.TempDir()
		cmd, out := startChild(t, dir, limitVar+"="+strconv.Itoa(limit))
		var lines []string
		for out.Scan() {
			lines = append(lines, out.Text())
		}
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		n := len(lines)
		if n < 3 || lines[n-2] != "unknown true true" || lines[n-1] != "poisoned true true" {
			t.Fatalf("limit %d: %q", limit, lines)
		}
		d, _ := mustOpen(t, dir, small)
		wantEntries(t, d, 1, uint64(n-2))
		mustFence(t, d)
		fill(t, d, uint64(n+3))
		mustClose(t, d)
	}
}

func TestKill(t *testing.T) {
	dir := t.TempDir()
	var acked uint64
	for range 6 {
		cmd, out := startChild(t, dir)
		for n := 0; n < 15 && out.Scan(); n++ {
			index, err := strconv.ParseUint(strings.TrimSpace(out.Text()), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			acked = index
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for out.Scan() { // confirmed before the end, read after it
			if index, err := strconv.ParseUint(out.Text(), 10, 64); err == nil {
				acked = max(acked, index)
			}
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the child ended by itself")
		}
		d, _ := mustOpen(t, dir, small)
		if d.Head().Index < acked {
			t.Fatalf("entry %d was confirmed, the log ends at %d", acked, d.Head().Index)
		}
		wantEntries(t, d, 1, d.Head().Index)
		mustClose(t, d)
	}
}

func TestFailurePoisons(t *testing.T) {
	for name, c := range map[string]struct {
		breakIt func(d *Disk, dir string) error
		cause   error
	}{
		"write fails":                    {func(d *Disk, _ string) error { return d.mu.log.Close() }, tidwall.ErrClosed},
		"next segment cannot be created": {func(_ *Disk, dir string) error { return os.RemoveAll(dir) }, os.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			d, _, err := Open(dir, testStore, small)
			if err != nil {
				t.Fatal(err)
			}
			mustFence(t, d)
			fill(t, d, 2)
			if err := c.breakIt(d, dir); err != nil {
				t.Fatal(err)
			}
			var first error
			head := d.Head()
			for first == nil && head.Index < 50 {
				head = d.Head()
				_, first = d.Append(payload(head.Index + 1))
			}
			if !errors.Is(first, ErrUnknown) || !errors.Is(first, c.cause) || errors.Is(first, ErrPoisoned) {
				t.Fatalf("got %v, want ErrUnknown", first)
			}
			for range 3 {
				_, err := d.Append(payload(1))
				if !errors.Is(err, ErrPoisoned) || !errors.Is(err, c.cause) || errors.Is(err, ErrUnknown) {
					t.Fatalf("got %v, want ErrPoisoned", err)
				}
			}
			if err := d.Trim(1); !errors.Is(err, ErrPoisoned) {
				t.Errorf("trim: %v, want ErrPoisoned", err)
			}
			if d.Head() != head {
				t.Errorf("head moved from %+v to %+v", head, d.Head())
			}
			if err := d.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
}

func TestFailedTrimPoisons(t *testing.T) {
	dir := t.TempDir()
	d, _, err := Open(dir, testStore, small)
	if err != nil {
		t.Fatal(err)
	}
	mustFence(t, d)
	fill(t, d, entries)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := d.Trim(entries); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("got %v", err)
	}
	if _, err := d.Append(nil); !errors.Is(err, ErrPoisoned) {
		t.Fatalf("got %v, want ErrPoisoned", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func TestReadChecksAgain(t *testing.T) {
	dir := t.TempDir()
	pristine(t, entries).put(t, dir)
	d, _ := mustOpen(t, dir, small)
	setByte(t, filepath.Join(dir, segmentName(1)), 70, 0xee) // behind the back of the open log
	err := d.Read(1, func(uint64, []byte) error { return nil })
	var c *CorruptError
	if !errors.As(err, &c) || !strings.HasSuffix(c.Segment, segmentName(1)) {
		t.Fatalf("got %v, want a CorruptError", err)
	}
}
