package blocks

import (
	"errors"
	"testing"

	"github.com/tidemark/tidemark/server/blocks/layout"
	"github.com/tidemark/tidemark/server/disk"
)

const crashRounds = 42

// TestCrashEverywhere stops the disk in every operation of a load, lets every
// kind of choice of what was not synced survive, and looks whether the last
// checkpoint is there, exactly, and the store goes on working.
func TestCrashEverywhere(t *testing.T) {
	const seed = 5
	points := 0
	for stopped := true; stopped; points++ {
		d := disk.NewMemory()
		d.StopAfter(points)
		w := newWorld(seed, tiny)
		err := w.run(d, crashRounds)
		if stopped = errors.Is(err, disk.ErrCrashed); !stopped {
			must(t, err)
			if w.moved == 0 || w.cuts == 0 {
				t.Errorf("the load moves %d versions and cuts the file %d times", w.moved, w.cuts)
			}
		}
		choice := uint64(points)
		for name, keep := range map[string]func(disk.Unsynced) bool{
			"all": keepAll, "none": keepNone, "some": keepSome(choice), "others": keepSome(choice + 1e6),
			"whole": keepWhole(choice), "other whole": keepWhole(choice + 1e6),
		} {
			if err := w.fork(choice).goOn(d.Crash(keep)); err != nil {
				t.Fatalf("seed %d, stopped in operation %d, kept %s: %v", seed, points, name, err)
			}
		}
	}
	t.Logf("%d crash points", points)
	if points < 350 {
		t.Errorf("only %d crash points", points)
	}
}

// TestCrashTwice crashes while the store recovers from a crash.
func TestCrashTwice(t *testing.T) {
	for seed := range uint64(40) {
		d := disk.NewMemory()
		w := newWorld(seed, tiny)
		d.StopAfter(20 + int(seed)*4)
		if err := w.run(d, crashRounds); !errors.Is(err, disk.ErrCrashed) {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for n, opening := 0, true; opening; n++ {
			second := d.Crash(keepSome(seed))
			second.StopAfter(n)
			f := w.fork(seed)
			err := f.open(second)
			if opening = errors.Is(err, disk.ErrCrashed); !opening {
				must(t, err)
			}
			for _, keep := range []func(disk.Unsynced) bool{keepAll, keepNone, keepSome(seed)} {
				if err := f.fork(seed).goOn(second.Crash(keep)); err != nil {
					t.Fatalf("seed %d, second crash in operation %d: %v", seed, n, err)
				}
			}
		}
	}
}

// TestTwin compares the store with a map under random loads and odd options.
func TestTwin(t *testing.T) {
	for seed := range uint64(40) {
		o := tiny
		switch seed % 5 {
		case 0:
			o.CacheBytes, o.DirtyBytes, o.StepBytes = 1, 1, 1
		case 1:
			o.BlockSize = 1
		case 2:
			o.CacheBytes, o.DirtyBytes, o.StepBytes = 0, 0, 0
		case 3:
			o.BlockSize, o.StepBytes = 480, 5000
		}
		w := newWorld(seed, o)
		if seed%2 == 0 {
			w.blocks = 5 // with many versions each
		}
		if err := w.run(disk.NewMemory(), 40); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := w.fork(seed).goOn(w.disk); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// TestCrashWhileMoving crashes in every operation of checkpoints that move
// versions, while others are written back to whatever is free.
func TestCrashWhileMoving(t *testing.T) {
	load := func(w *world, d disk.Disk) error {
		if err := w.open(d); err != nil {
			return err
		}
		for range 60 {
			w.put()
		}
		if err := errors.Join(w.begin(), w.finish()); err != nil {
			return err
		}
		w.drop(80)
		if err := errors.Join(w.begin(), w.finish(), w.begin()); err != nil {
			return err
		}
		for {
			if done, err := w.step(); done || err != nil {
				return err
			}
			for range 6 {
				w.put()
			}
			for done := w.moved == 0; !done; {
				var err error
				if done, err = w.s.WriteBack(); err != nil {
					return err
				}
			}
		}
	}
	for n, stopped := 0, true; stopped; n++ {
		d := disk.NewMemory()
		d.StopAfter(n)
		w := newWorld(6, tiny)
		err := load(w, d)
		if stopped = errors.Is(err, disk.ErrCrashed); !stopped {
			must(t, err)
			if w.moved == 0 {
				t.Error("nothing was moved")
			}
		}
		for i, keep := range []func(disk.Unsynced) bool{keepAll, keepNone, keepSome(uint64(n)), keepWhole(uint64(n))} {
			if err := w.fork(uint64(n)).goOn(d.Crash(keep)); err != nil {
				t.Fatalf("stopped in operation %d, choice %d: %v", n, i, err)
			}
		}
	}
}

// TestNoWayBack loses the newest header after a crash in which as little as
// possible survived: once a checkpoint is said to be durable, the one before
// it cannot be taken for the newest, since the log behind that may be gone.
func TestNoWayBack(t *testing.T) {
	spoil := func(w *world, d *disk.Memory) error {
		crashed := d.Crash(keepNone)
		f, err := crashed.Open(headerName)
		must(t, err)
		_, err = f.WriteAt([]byte("spoilt"), layout.HeaderOffset(w.s.Durable().Checkpoint))
		must(t, err)
		_, _, err = Open(crashed, w.opts)
		return err
	}
	var corrupt *CorruptError
	for n, stopped := 0, true; stopped; n++ {
		d := disk.NewMemory()
		w := newWorld(7, tiny)
		must(t, w.open(d))
		for range 3 {
			w.put()
			must(t, w.begin())
			must(t, w.finish())
		}
		if err := spoil(w, d); !errors.As(err, &corrupt) {
			t.Fatalf("opened with %v", err)
		}
		w.put()
		must(t, w.begin())
		d.StopAfter(n)
		if stopped = errors.Is(w.finish(), disk.ErrCrashed); !stopped {
			break
		}
		d = d.Crash(keepAll)
		must(t, w.open(d))
		if err := spoil(w, d); !errors.As(err, &corrupt) {
			t.Fatalf("stopped in operation %d, opened with %v", n, err)
		}
	}
}
