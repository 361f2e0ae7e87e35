package blocks

import (
	"errors"
	"testing"

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
