package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// content reads a whole file; it must exist.
func content(t *testing.T, d Disk, name string) string {
	t.Helper()
	names, err := d.List()
	must(t, err)
	if !slices.Contains(names, name) {
		t.Fatalf("there is no %s among %q", name, names)
	}
	f, err := d.Open(name)
	must(t, err)
	defer f.Close()
	size, err := f.Size()
	must(t, err)
	b := make([]byte, size)
	if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	return string(b)
}

func write(t *testing.T, d Disk, name, text string, at int64) File {
	t.Helper()
	f, err := d.Open(name)
	must(t, err)
	n, err := f.WriteAt([]byte(text), at)
	if err != nil || n != len(text) {
		t.Fatalf("wrote %d bytes, %v", n, err)
	}
	return f
}

// TestDisks does the same to a directory, to a disk in memory, and to both
// through a wrapper without faults.
func TestDisks(t *testing.T) {
	for name, d := range map[string]Disk{
		"directory": OS(t.TempDir()), "memory": NewMemory(),
		"wrapped directory": NewFaulty(OS(t.TempDir())), "wrapped memory": NewFaulty(NewMemory()),
	} {
		t.Run(name, func(t *testing.T) { testDisk(t, d) })
	}
}

func testDisk(t *testing.T, d Disk) {
	f := write(t, d, "b", "hello", 3)
	if got := content(t, d, "b"); got != "\x00\x00\x00hello" {
		t.Errorf("a write behind the end gives %q", got)
	}
	must(t, f.Truncate(5))
	must(t, f.Truncate(7))
	must(t, f.Sync())
	if got := content(t, d, "b"); got != "\x00\x00\x00he\x00\x00" {
		t.Errorf("truncations give %q", got)
	}
	b := make([]byte, 10)
	if n, err := f.ReadAt(b, 3); n != 4 || err != io.EOF {
		t.Errorf("read %d bytes over the end, %v", n, err)
	}
	if n, err := f.ReadAt(b, 7); n != 0 || err != io.EOF {
		t.Errorf("read %d bytes behind the end, %v", n, err)
	}
	if n, err := f.ReadAt(b[:2], 3); n != 2 || err != nil {
		t.Errorf("read %d bytes, %v", n, err)
	}
	if _, err := f.WriteAt(b, -1); err == nil {
		t.Error("wrote before the beginning")
	}
	if err := f.Truncate(-1); err == nil {
		t.Error("truncated to less than nothing")
	}
	must(t, write(t, d, "a", "first", 0).Close())
	must(t, write(t, d, "c", "third", 0).Close())
	must(t, d.Rename("a", "c"))
	if got := content(t, d, "c"); got != "first" {
		t.Errorf("renamed over another: %q", got)
	}
	must(t, d.Remove("b"))
	if _, err := f.ReadAt(b[:2], 3); err != nil || string(b[:2]) != "he" {
		t.Errorf("a removed file reads as %q, %v", b[:2], err)
	}
	must(t, f.Close())
	must(t, d.SyncDir())
	if names, err := d.List(); err != nil || !slices.Equal(names, []string{"c"}) {
		t.Errorf("files are %q, %v", names, err)
	}
	for _, err := range []error{d.Remove("b"), d.Rename("b", "d")} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a missing file: %v", err)
		}
	}
	var name *NameError
	for _, bad := range []string{"", "..", "a/b", "a\\b", "a\x00"} {
		if _, err := d.Open(bad); !errors.As(err, &name) {
			t.Errorf("open %q: %v", bad, err)
		}
		if err := d.Rename("c", bad); !errors.As(err, &name) {
			t.Errorf("rename to %q: %v", bad, err)
		}
	}
}

// TestDiskErrors meets a directory that is not there.
func TestDiskErrors(t *testing.T) {
	d := OS(t.TempDir() + "/missing")
	_, openErr := d.Open("a")
	_, listErr := d.List()
	for i, err := range []error{openErr, listErr, d.SyncDir(), d.Remove("a")} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}

func TestCrashLosesWhatWasNotSynced(t *testing.T) {
	d := NewMemory()
	f := write(t, d, "f", "old", 0)
	must(t, f.Sync())
	must(t, d.SyncDir())
	write(t, d, "f", "new and longer", 0)
	must(t, write(t, d, "g", "unnamed", 0).Sync())
	must(t, d.Rename("f", "h"))

	none := d.Crash(func(Unsynced) bool { return false })
	if got := content(t, none, "f"); got != "old" {
		t.Errorf("f is %q", got)
	}
	if names, _ := none.List(); len(names) != 1 {
		t.Errorf("files are %q", names)
	}
	all := d.Crash(func(Unsynced) bool { return true })
	if got := content(t, all, "h") + content(t, all, "g"); got != "new and longerunnamed" {
		t.Errorf("kept %q", got)
	}
	noNames := d.Crash(func(u Unsynced) bool { return u.Change == 0 })
	if got := content(t, noNames, "f"); got != "new and longer" {
		t.Errorf("f is %q", got)
	}
	onlySize := d.Crash(func(u Unsynced) bool { return u.Change == 0 && u.Sector < 0 })
	if got := content(t, onlySize, "f"); got != "old"+string(make([]byte, 11)) {
		t.Errorf("f is %q", got)
	}
	// The disks have nothing in common.
	write(t, all, "h", "X", 0)
	if got := content(t, d, "h"); got != "new and longer" {
		t.Errorf("h is %q", got)
	}
}

func TestCrashTearsWritesAtSectors(t *testing.T) {
	d := NewMemory()
	f := write(t, d, "f", string(bytes.Repeat([]byte("o"), 2000)), 0)
	must(t, f.Sync())
	must(t, d.SyncDir())
	write(t, d, "f", string(bytes.Repeat([]byte("n"), 1000)), 300)
	seen := map[string]bool{}
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		got := content(t, d.Crash(func(Unsynced) bool { return rng.IntN(2) == 0 }), "f")
		seen[got] = true
		for at, c := range []byte(got) {
			first := max(300, at/SectorSize*SectorSize)
			if inside := at >= 300 && at < 1300; !inside && c != 'o' || inside && c != got[first] {
				t.Fatalf("seed %d: byte %d is %c", seed, at, c)
			}
		}
	}
	if len(seen) != 8 { // sectors 0, 1 and 2
		t.Errorf("%d ways to survive", len(seen))
	}
}

func TestStopAfter(t *testing.T) {
	for n := range 8 {
		d := NewMemory()
		d.StopAfter(n)
		done := 0
		var f File
		for _, op := range []func() error{
			func() (err error) { f, err = d.Open("a"); return err },
			func() error { _, err := f.WriteAt([]byte("abc"), 0); return err },
			func() error { return f.Sync() },
			func() error { return d.SyncDir() },
			func() error { return f.Truncate(1) },
			func() error { return d.Rename("a", "b") },
			func() error { return d.Remove("b") },
		} {
			if err := op(); errors.Is(err, ErrCrashed) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			done++
		}
		if done != min(n, 7) || d.Operations() != done {
			t.Fatalf("stopped after %d operations, counted %d, want %d", done, d.Operations(), n)
		}
		if n == 7 {
			continue
		}
		if _, err := d.List(); !errors.Is(err, ErrCrashed) {
			t.Errorf("a stopped disk lists its files: %v", err)
		}
		if _, err := d.Open("a"); !errors.Is(err, ErrCrashed) {
			t.Errorf("a stopped disk opens a file: %v", err)
		}
		if n == 4 { // in the middle of Truncate: it may have happened or not
			all := content(t, d.Crash(func(Unsynced) bool { return true }), "a")
			none := content(t, d.Crash(func(Unsynced) bool { return false }), "a")
			if all != "a" || none != "abc" {
				t.Errorf("the truncation in which the disk stops leaves %q or %q", all, none)
			}
		}
	}
}

func TestFaults(t *testing.T) {
	oops := errors.New("oops")
	ops := func(d Disk) map[Op]func() error {
		return map[Op]func() error{
			OpOpen:     func() error { _, err := d.Open("a"); return err },
			OpRemove:   func() error { return d.Remove("c") },
			OpRename:   func() error { return d.Rename("a", "a") },
			OpList:     func() error { _, err := d.List(); return err },
			OpSyncDir:  d.SyncDir,
			OpRead:     func() error { f, _ := d.Open("a"); _, err := f.ReadAt(make([]byte, 2), 0); return err },
			OpWrite:    func() error { f, _ := d.Open("a"); _, err := f.WriteAt([]byte("ab"), 0); return err },
			OpSync:     func() error { f, _ := d.Open("a"); return f.Sync() },
			OpTruncate: func() error { f, _ := d.Open("a"); return f.Truncate(3) },
		}
	}
	for op := range opCount {
		m := NewMemory()
		write(t, m, "a", "abc", 0)
		d := NewFaulty(m, Fault{Op: op, Nth: 2, Err: oops})
		d.Inject(Fault{Op: op, Nth: 4})
		do := ops(d)[op]
		for i, want := range []error{nil, oops, nil, ErrInjected, nil} {
			write(t, m, "c", "", 0)
			if err := do(); !errors.Is(err, want) {
				t.Errorf("operation %d, turn %d: %v, want %v", op, i+1, err, want)
			}
		}
		if d.Count(op) != 5 {
			t.Errorf("operation %d was counted %d times", op, d.Count(op))
		}
	}
}

func TestFaultKinds(t *testing.T) {
	m := NewMemory()
	d := NewFaulty(m,
		Fault{Op: OpWrite, Nth: 2, Kind: Short}, Fault{Op: OpRead, Nth: 1, Kind: Flip, Bit: 8 + 3},
		Fault{Op: OpSync, Nth: 1, Kind: Lose}, Fault{Op: OpSyncDir, Nth: 1, Kind: Stall})
	f := write(t, d, "a", "wxyz", 0)
	if n, err := f.WriteAt([]byte("1234"), 0); n != 2 || !errors.Is(err, ErrInjected) || content(t, m, "a") != "12yz" {
		t.Errorf("wrote %d bytes, %v: %q", n, err, content(t, m, "a"))
	}
	b := make([]byte, 4)
	if _, err := f.ReadAt(b, 0); err != nil || string(b) != "1:yz" {
		t.Errorf("read %q, %v", b, err)
	}
	if _, err := f.ReadAt(b, 0); err != nil || string(b) != "12yz" {
		t.Errorf("read %q, %v", b, err)
	}

	ended := make(chan error)
	go func() { ended <- d.SyncDir() }()
	<-d.Stalled()
	select {
	case err := <-ended:
		t.Errorf("it did not stall: %v", err)
	default:
	}
	d.Release()
	must(t, <-ended)

	if err := f.Sync(); !errors.Is(err, ErrInjected) {
		t.Errorf("sync: %v", err)
	}
	write(t, d, "a", "!", 3)
	must(t, f.Sync())
	crashed := content(t, m.Crash(func(Unsynced) bool { return true }), "a")
	if live := content(t, m, "a"); live != "12y!" || crashed != "\x00\x00\x00!" {
		t.Errorf("after a sync that failed there is %q, after a crash %q", live, crashed)
	}
}

func TestRoom(t *testing.T) {
	m := NewMemory()
	d := NewFaulty(m)
	f := write(t, d, "a", "abcd", 0)
	d.Room(6)
	for _, want := range []string{"4 <nil>", "2 no space left on device", "0 no space left on device"} {
		n, err := f.WriteAt([]byte("ABCD"), 4)
		if got := fmt.Sprint(n, " ", err); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if err != nil && !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("the error is %v", err)
		}
	}
	if got := content(t, m, "a"); got != "abcdABCD" {
		t.Errorf("a is %q", got)
	}
}
