package wal

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// watched is a log that notes its steps. The step whose number is fails, counted
// from 1, fails.
type watched struct {
	*Disk
	t     *testing.T
	dir   string
	steps []string
	fails int
	// look is called with the directory as it is before and after each step.
	look func(step string, img image)
}

var errStep = errors.New("this step fails")

func (w *watched) step(name string, do func() error) error {
	w.steps = append(w.steps, name)
	if w.look != nil {
		w.look(name, takeImage(w.t, w.dir))
	}
	if len(w.steps) == w.fails {
		return errStep
	}
	err := do()
	if w.look != nil {
		w.look(name, takeImage(w.t, w.dir))
	}
	return err
}

// prepare verifies the log of the directory.
func (w *watched) prepare() *Prepared {
	p, _, err := Prepare(w.dir, testStore)
	if err != nil {
		w.t.Fatal(err)
	}
	f := osFiles()
	p.files = files{
		sync: func(file *os.File) error {
			return w.step("sync "+filepath.Base(file.Name()), func() error { return f.sync(file) })
		},
		syncDir: func(dir string) error {
			name := "sync directory"
			if dir != w.dir {
				name = "sync parent"
			}
			return w.step(name, func() error { return f.syncDir(dir) })
		},
		replace: func(path string, data []byte) error {
			return w.step("replace "+filepath.Base(path), func() error { return f.replace(path, data) })
		},
	}
	return p
}

// open opens the log of the directory.
func (w *watched) open() (err error) {
	w.Disk, err = w.prepare().Open(small)
	if err == nil {
		w.t.Cleanup(func() { w.Close() })
	}
	return err
}

// wantSteps checks the steps since it was called last.
func (w *watched) wantSteps(steps ...string) {
	w.t.Helper()
	if !slices.Equal(w.steps, steps) {
		w.t.Errorf("the steps are %q, not %q", w.steps, steps)
	}
	w.steps = nil
}

// wantWhole checks that a crash that leaves img loses none of the entries
// from first on.
func wantWhole(t *testing.T, step string, img image, first, last uint64) {
	t.Helper()
	dir := t.TempDir()
	img.put(t, dir)
	d, _, err := Open(dir, testStore, small)
	if err != nil {
		t.Errorf("a crash at %q: %v", step, err)
		return
	}
	defer d.Close()
	next := first
	err = d.Read(first, func(index uint64, _ []byte) error {
		if index != next {
			t.Errorf("a crash at %q: entry %d in the place of %d", step, index, next)
		}
		next = index + 1
		return nil
	})
	if err != nil || next != last+1 {
		t.Errorf("a crash at %q: it ends before entry %d (%v)", step, next, err)
	}
}

// The log says durably where it begins before a segment goes, and the names
// are durable when Trim returns.
func TestStepsOfATrim(t *testing.T) {
	before, after, first := trimmedLog(t)
	w := &watched{t: t, dir: t.TempDir()}
	before.put(t, w.dir)
	if err := w.open(); err != nil {
		t.Fatal(err)
	}
	before, w.steps = takeImage(t, w.dir), nil
	looked := 0
	w.look = func(step string, img image) {
		want := []image{before, before.with(boundsName, after[boundsName]), after, after}[looked]
		if looked++; !img.equal(want) {
			t.Errorf("step %q meets other files", step)
		}
		wantWhole(t, step, img, first, 40)
	}
	if err := w.Trim(20); err != nil {
		t.Fatal(err)
	}
	w.wantSteps("replace bounds", "sync directory")

	w.look = nil
	for _, fails := range []int{1, 2} {
		w := &watched{t: t, dir: t.TempDir()}
		before.put(t, w.dir)
		if err := w.open(); err != nil {
			t.Fatal(err)
		}
		w.steps, w.fails = nil, fails
		if err := w.Trim(20); !errors.Is(err, errStep) {
			t.Errorf("step %d of a trim fails: %v", fails, err)
		}
		if old := takeImage(t, w.dir)[segmentName(1)] != nil; old != (fails == 1) {
			t.Errorf("step %d of a trim fails: the oldest segment is there: %v", fails, old)
		}
		mustFence(t, w)
		if _, err := w.Append(nil); !errors.Is(err, ErrPoisoned) {
			t.Errorf("step %d of a trim fails: append returns %v", fails, err)
		}
	}
}

// The name of a segment is durable before the log says that it is there, and
// both before the entry that began it, or filled the one before, is
// acknowledged.
func TestStepsOfABeginningSegment(t *testing.T) {
	w := &watched{t: t, dir: t.TempDir()}
	if err := w.open(); err != nil {
		t.Fatal(err)
	}
	mustFence(t, w)
	w.steps = nil
	fill(t, w, 1)
	w.wantSteps("replace bounds") // there are entries now
	for range 3 {
		segments := len(w.mu.starts)
		fillUntil(t, w, "the log notes that a segment begins", func() bool {
			if len(w.mu.starts) > segments {
				return true
			}
			w.wantSteps()
			return false
		})
		w.wantSteps("sync directory", "replace bounds")
	}
	segments := len(w.mu.starts)
	w.fails = 1
	var err error
	for n := 0; err == nil && n < plenty; n++ {
		_, err = w.Append(payload(w.Head().Index + 1))
	}
	if !errors.Is(err, ErrUnknown) || !errors.Is(err, errStep) || len(w.mu.starts) != segments+1 {
		t.Errorf("the directory is not synced, and append returns %v", err)
	}
}

// Opening a log replaces the tail only by a copy that is synced, and makes
// names durable before an entry is read.
func TestStepsOfOpening(t *testing.T) {
	img := pristine(t, entries)
	tail := last(img.spans()).segment
	w := &watched{t: t, dir: t.TempDir()}
	img.put(t, w.dir)
	setByte(t, filepath.Join(w.dir, tail), len(img[tail])-1, img[tail][len(img[tail])-1]^1) // torn
	kept := img[tail][:last(img.spans()).at]
	looked := 0
	w.look = func(step string, now image) {
		if looked++; looked <= 2 && (len(now[tail]) != len(img[tail]) || string(now[tailTemp]) != string(kept)) {
			t.Errorf("step %q meets %d bytes beside %d of the tail", step, len(now[tailTemp]), len(now[tail]))
		} else if looked > 2 && (now[tailTemp] != nil || string(now[tail]) != string(kept)) {
			t.Errorf("step %q meets %d bytes of the tail", step, len(now[tail]))
		}
		wantWhole(t, step, now, 1, entries-1)
	}
	if err := w.open(); err != nil {
		t.Fatal(err)
	}
	w.wantSteps("sync "+tailTemp, "sync directory", "sync directory")
	for fails := range 3 {
		w := &watched{t: t, dir: t.TempDir(), fails: fails + 1}
		img.put(t, w.dir)
		if err := w.open(); !errors.Is(err, errStep) {
			t.Errorf("step %d fails: %v", fails, err)
		}
		if now := takeImage(t, w.dir); string(now[tail]) != string(img[tail]) {
			t.Errorf("step %d fails: %d bytes of the tail are left", fails, len(now[tail]))
		}
	}
	w = &watched{t: t, dir: filepath.Join(t.TempDir(), "new")}
	if err := w.open(); err != nil {
		t.Fatal(err)
	}
	w.wantSteps("sync parent", "sync directory", "sync directory")
}

// A log that was created has its entry, and its names are durable, as is that
// of its directory: a crash at the end loses nothing. A step that fails is told.
func TestStepsOfCreating(t *testing.T) {
	steps := []string{"sync parent", "sync directory", "sync directory", "replace bounds"}
	for fails := range len(steps) + 1 {
		w := &watched{t: t, dir: filepath.Join(t.TempDir(), "new"), fails: fails}
		err := w.prepare().create(7, payload(1))
		if fails > 0 {
			if !errors.Is(err, errStep) {
				t.Errorf("step %d fails: %v", fails, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		w.wantSteps(steps...)
		wantWhole(t, "the end", takeImage(t, w.dir), 1, 1)
		if _, report, err := Prepare(w.dir, testStore); err != nil || report.Epoch != 7 {
			t.Errorf("created with %+v, %v", report, err)
		}
	}
}
