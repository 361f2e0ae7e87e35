package wal

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

// implementations runs a test on each kind of log. reopen simulates a
// restart: it closes the log and opens what it left.
func implementations(t *testing.T, test func(t *testing.T, l Log, reopen func(Log) Log)) {
	t.Run("disk", func(t *testing.T) {
		dir := t.TempDir()
		d, _ := mustOpen(t, dir, small)
		test(t, d, func(l Log) Log {
			mustClose(t, l)
			d, _ := mustOpen(t, dir, small)
			return d
		})
	})
	t.Run("memory", func(t *testing.T) {
		m := NewMemory(testStore, DefaultMemoryLimit)
		test(t, m.Open(), func(l Log) Log {
			mustClose(t, l)
			return m.Open()
		})
	})
}

func TestEntriesSurviveReopening(t *testing.T) {
	implementations(t, func(t *testing.T, l Log, reopen func(Log) Log) {
		if l.Head() != (Head{}) {
			t.Fatalf("empty log has head %+v", l.Head())
		}
		for last := uint64(0); last < 30; last += 3 {
			wantEntries(t, l, 1, last)
			mustFence(t, l)
			fill(t, l, last+3)
			head := l.Head()
			l = reopen(l)
			if l.Head() != head {
				t.Fatalf("head %+v after reopening, %+v before", l.Head(), head)
			}
		}
	})
}

func TestEmptyAndLargestPayload(t *testing.T) {
	implementations(t, func(t *testing.T, l Log, reopen func(Log) Log) {
		mustFence(t, l)
		largest := bytes.Repeat([]byte{7}, MaxPayload)
		for _, p := range [][]byte{{}, largest, {}} {
			if _, err := l.Append(p); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := l.Append(make([]byte, MaxPayload+1)); !errors.Is(err, ErrTooLarge) {
			t.Fatalf("got %v, want ErrTooLarge", err)
		}
		fill(t, l, 4) // being too large poisons nothing
		l = reopen(l)
		var sizes []int
		if err := l.Read(1, func(_ uint64, p []byte) error { sizes = append(sizes, len(p)); return nil }); err != nil {
			t.Fatal(err)
		}
		if len(sizes) != 4 || sizes[0] != 0 || sizes[1] != MaxPayload || sizes[2] != 0 {
			t.Fatalf("sizes %v", sizes)
		}
	})
}

func TestFence(t *testing.T) {
	implementations(t, func(t *testing.T, l Log, reopen func(Log) Log) {
		if _, err := l.Append(nil); !errors.Is(err, ErrFenced) {
			t.Fatalf("append before Fence: %v", err)
		}
		if _, err := l.Fence(0); !errors.Is(err, ErrFenced) {
			t.Fatalf("epoch 0: %v", err)
		}
		if e := l.Epoch(); e != 0 {
			t.Fatalf("epoch %d before the first", e)
		}
		if head, err := l.Fence(5); err != nil || head != (Head{}) {
			t.Fatalf("%+v, %v", head, err)
		}
		if e := l.Epoch(); e != 5 { // though nothing was written
			t.Fatalf("epoch %d after Fence(5)", e)
		}
		fill(t, l, 2)
		if _, err := l.Fence(5); !errors.Is(err, ErrFenced) {
			t.Fatalf("same epoch: %v", err)
		}
		l = reopen(l)
		if e := l.Epoch(); e != 5 {
			t.Fatalf("epoch %d after reopening", e)
		}
		if _, err := l.Fence(5); !errors.Is(err, ErrFenced) {
			t.Fatalf("same epoch after reopening: %v", err)
		}
		if head, err := l.Fence(9); err != nil || head.Index != 2 || head.Epoch != 5 {
			t.Fatalf("%+v, %v", head, err)
		}
		fill(t, l, 3)
		if l.Head().Epoch != 9 {
			t.Fatalf("head %+v", l.Head())
		}
	})
}

func TestClosed(t *testing.T) {
	implementations(t, func(t *testing.T, l Log, _ func(Log) Log) {
		mustFence(t, l)
		fill(t, l, 1)
		mustClose(t, l)
		_, fence := l.Fence(100)
		_, appended := l.Append(nil)
		read := l.Read(1, func(uint64, []byte) error { return nil })
		for _, err := range []error{fence, appended, read, l.Trim(1), l.Close()} {
			if !errors.Is(err, ErrClosed) {
				t.Errorf("got %v, want ErrClosed", err)
			}
		}
	})
}

func TestRead(t *testing.T) {
	implementations(t, func(t *testing.T, l Log, _ func(Log) Log) {
		mustFence(t, l)
		fill(t, l, 20)
		stop := errors.New("stop")
		var seen []uint64
		err := l.Read(7, func(index uint64, _ []byte) error {
			if seen = append(seen, index); index == 9 {
				return stop
			}
			return nil
		})
		if err != stop || len(seen) != 3 || seen[0] != 7 {
			t.Fatalf("saw %v, %v", seen, err)
		}
		if err := l.Read(21, func(uint64, []byte) error { return stop }); err != nil {
			t.Fatalf("read behind the head: %v", err)
		}
		n := 0 // a reader that appends sees the entries up to its beginning
		err = l.Read(20, func(index uint64, _ []byte) error {
			n++
			_, err := l.Append(payload(l.Head().Index + 1))
			return err
		})
		if err != nil || n != 1 {
			t.Fatalf("%d entries, %v", n, err)
		}
	})
}

func TestTrim(t *testing.T) {
	implementations(t, func(t *testing.T, l Log, reopen func(Log) Log) {
		mustFence(t, l)
		fill(t, l, 40)
		oldest := func() (first uint64) {
			stop := errors.New("stop")
			if err := l.Read(0, func(index uint64, _ []byte) error { first = index; return stop }); err != stop {
				t.Fatal(err)
			}
			return first
		}
		highest := uint64(0)
		for _, upTo := range []uint64{0, 1, 17, 16, 30, 1000} {
			highest = max(highest, upTo)
			if err := l.Trim(upTo); err != nil {
				t.Fatal(err)
			}
			first := oldest()
			if first > min(highest+1, 40) {
				t.Fatalf("trim up to %d dropped up to %d", highest, first-1)
			}
			if upTo >= 17 && first < 10 {
				t.Fatalf("trim up to %d dropped only up to %d", upTo, first-1)
			}
			wantEntries(t, l, first, 40)
			if first > 1 {
				if err := l.Read(first-1, nil); !errors.Is(err, ErrTrimmed) {
					t.Fatalf("got %v, want ErrTrimmed", err)
				}
			}
			if _, onDisk := l.(*Disk); onDisk {
				l = reopen(l)
				wantEntries(t, l, first, 40)
			}
		}
		first := oldest()
		if _, onDisk := l.(*Disk); onDisk {
			mustFence(t, l)
		}
		fill(t, l, 60)
		l = reopen(l)
		wantEntries(t, l, first, 60)
	})
}

func TestDiskAndMemoryAgree(t *testing.T) {
	const seed = 77
	r := rand.New(rand.NewPCG(seed, 2))
	dir := t.TempDir()
	m := NewMemory(testStore, DefaultMemoryLimit)
	d, _ := mustOpen(t, dir, small)
	var disk, memory Log = d, m.Open()
	epoch := uint64(0)
	for step := range 400 {
		switch r.IntN(12) {
		case 0:
			mustClose(t, disk)
			mustClose(t, memory)
			d, _ := mustOpen(t, dir, small)
			disk, memory = d, m.Open()
		case 1:
			epoch++
			a, errA := disk.Fence(epoch)
			b, errB := memory.Fence(epoch)
			if a != b || errA != nil || errB != nil {
				t.Fatalf("seed %d step %d: fence gave %+v %v and %+v %v", seed, step, a, errA, b, errB)
			}
		case 2:
			if upTo := disk.Head().Index; upTo > 40 {
				if err := errors.Join(disk.Trim(upTo-40), memory.Trim(upTo-40)); err != nil {
					t.Fatal(err)
				}
			}
		default:
			p := payload(r.Uint64())
			a, errA := disk.Append(p)
			b, errB := memory.Append(p)
			if a != b || errors.Is(errA, ErrFenced) != errors.Is(errB, ErrFenced) {
				t.Fatalf("seed %d step %d: append gave %d %v and %d %v", seed, step, a, errA, b, errB)
			}
		}
		if disk.Head() != memory.Head() {
			t.Fatalf("seed %d step %d: heads %+v and %+v", seed, step, disk.Head(), memory.Head())
		}
	}
	want := map[uint64][]byte{}
	if err := memory.Read(0, func(i uint64, p []byte) error { want[i] = p; return nil }); err != nil {
		t.Fatal(err)
	}
	if err := disk.Read(0, func(i uint64, p []byte) error {
		if w, ok := want[i]; ok && !bytes.Equal(w, p) {
			t.Errorf("seed %d: entry %d differs", seed, i)
		}
		delete(want, i)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(want) != 0 {
		t.Errorf("seed %d: %d entries only in memory", seed, len(want))
	}
}

func TestReadersBesideTheWriter(t *testing.T) {
	implementations(t, func(t *testing.T, l Log, _ func(Log) Log) {
		mustFence(t, l)
		fill(t, l, 20)
		var readers sync.WaitGroup
		for range 3 {
			readers.Go(func() {
				seen := uint64(20)
				for range 20 {
					next := uint64(1)
					err := l.Read(1, func(index uint64, p []byte) error {
						if index != next || !bytes.Equal(p, payload(index)) {
							return fmt.Errorf("entry %d, want %d, holds %x", index, next, p)
						}
						next++
						return nil
					})
					if err != nil || next-1 < seen {
						t.Errorf("read %d entries, %d before: %v", next-1, seen, err)
						return
					}
					seen = next - 1
				}
			})
		}
		for index := uint64(21); index <= 60; index++ {
			if _, err := l.Append(payload(index)); err != nil {
				t.Error(err)
				break
			}
		}
		readers.Wait()
	})
}
