package blocks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/tidemark/tidemark/server/disk"
)

// faultRounds is shorter than crashRounds: here all faults are gone through.
const faultRounds = 14

// afterFault checks what must hold when a load has ended with err, which is
// because of cause: nothing is written any more, what is there can be read,
// and the last checkpoint is there whatever survives.
func afterFault(w *world, d *disk.Memory, err, cause error) error {
	if !errors.Is(err, cause) {
		return fmt.Errorf("the load ends with %v", err)
	}
	if w.s != nil {
		if !errors.Is(err, ErrPoisoned) {
			return fmt.Errorf("%w is no %v", err, ErrPoisoned)
		}
		operations := d.Operations()
		_, stepErr := w.s.Step()
		_, backErr := w.s.WriteBack()
		for i, again := range []error{stepErr, backErr, w.s.Begin(Moment{LogIndex: w.log, Stable: w.clock}, nil)} {
			if !errors.Is(again, ErrPoisoned) || !errors.Is(again, cause) {
				return fmt.Errorf("call %d after the fault: %v", i, again)
			}
		}
		w.put()
		w.drop(0)
		if err := w.verify(); err != nil && !errors.Is(err, errInBooks) {
			return fmt.Errorf("after the fault: %w", err)
		}
		if d.Operations() != operations {
			return errors.New("it wrote after the fault")
		}
	}
	for i, keep := range []func(disk.Unsynced) bool{keepAll, keepNone, keepSome(uint64(d.Operations()))} {
		if err := w.fork(uint64(i)).goOn(d.Crash(keep)); err != nil {
			return fmt.Errorf("choice %d: %w", i, err)
		}
	}
	// The machine has not crashed: its memory shows what was not synced, and
	// the process begins anew. Then it does crash.
	restarted := w.fork(9)
	if err := restarted.open(d); err != nil {
		return fmt.Errorf("restart: %w", err)
	}
	return restarted.goOn(d.Crash(keepNone))
}

// TestEveryFault makes each operation of a load fail.
func TestEveryFault(t *testing.T) {
	faults := 0
	for _, f := range []disk.Fault{
		{Op: disk.OpOpen}, {Op: disk.OpRemove}, {Op: disk.OpRename}, {Op: disk.OpList}, {Op: disk.OpSyncDir},
		{Op: disk.OpWrite}, {Op: disk.OpSync}, {Op: disk.OpTruncate}, {Op: disk.OpWrite, Kind: disk.Short},
		{Op: disk.OpSync, Kind: disk.Lose},
	} {
		for hit := true; hit; {
			f.Nth++
			d := disk.NewMemory()
			faulty := disk.NewFaulty(d, f)
			w := newWorld(11, tiny)
			err := w.run(faulty, faultRounds)
			if hit = faulty.Count(f.Op) >= f.Nth; !hit {
				must(t, err)
				break
			}
			faults++
			if err := afterFault(w, d, err, disk.ErrInjected); err != nil {
				t.Fatalf("%+v: %v", f, err)
			}
		}
		if f.Nth == 1 {
			t.Errorf("the load has no operation for %+v", f)
		}
	}
	t.Logf("%d faults", faults)
}

// TestStateFails makes the state of a checkpoint end in an error, at once or
// behind several frames: there is no such checkpoint, and there will be none.
func TestStateFails(t *testing.T) {
	cause := errors.New("no more of it")
	for _, whole := range []int{0, 300_000} {
		d := disk.NewMemory()
		w := newWorld(15, tiny)
		must(t, w.run(d, faultRounds))
		before := w.s.Durable()
		state := io.MultiReader(bytes.NewReader(make([]byte, whole)), iotest.ErrReader(cause))
		must(t, w.s.Begin(Moment{LogIndex: w.log + 1, Stable: w.clock}, state))
		if err := afterFault(w, d, w.finish(), cause); err != nil {
			t.Fatalf("behind %d bytes: %v", whole, err)
		}
		if w.s.Durable() != before {
			t.Fatalf("behind %d bytes: %+v is durable", whole, w.s.Durable())
		}
	}
}

// TestFullDisk lets a load run out of space after every number of bytes.
func TestFullDisk(t *testing.T) {
	for room, full := int64(0), true; full; room += 487 {
		d := disk.NewMemory()
		faulty := disk.NewFaulty(d)
		faulty.Room(room)
		w := newWorld(12, tiny)
		err := w.run(faulty, faultRounds)
		if full = err != nil; !full {
			break
		}
		if err := afterFault(w, d, err, syscall.ENOSPC); err != nil {
			t.Fatalf("room for %d bytes: %v", room, err)
		}
	}
}

// TestFailedReads makes reads fail once: the same read succeeds afterwards.
func TestFailedReads(t *testing.T) {
	for _, kind := range []disk.Kind{disk.Fail, disk.Flip} {
		d := disk.NewMemory()
		o := tiny
		o.CacheBytes = 1
		w := newWorld(13, o)
		must(t, w.run(d, faultRounds))
		for n := 1; ; n++ {
			faulty := disk.NewFaulty(d, disk.Fault{Op: disk.OpRead, Nth: n, Kind: kind, Bit: n * 37})
			f := w.fork(uint64(n))
			err := f.open(faulty)
			if faulty.Count(disk.OpRead) < n {
				must(t, err)
				break
			}
			var corrupt *CorruptError
			var io *IOError
			if kind == disk.Flip && err == nil {
				continue // in the older header
			}
			if kind == disk.Flip && !errors.As(err, &corrupt) || kind == disk.Fail && !errors.As(err, &io) {
				t.Fatalf("kind %d of read %d: %v", kind, n, err)
			}
			if err := w.fork(uint64(n)).goOn(d.Crash(keepAll)); err != nil {
				t.Fatalf("after kind %d of read %d: %v", kind, n, err)
			}
		}
	}
}

// TestStalledSync shows that while a sync takes its time, nothing waits for it.
func TestStalledSync(t *testing.T) {
	d := disk.NewMemory()
	w := newWorld(14, tiny)
	must(t, w.run(d, faultRounds))
	must(t, w.s.Close())
	faulty := disk.NewFaulty(d, disk.Fault{Op: disk.OpSync, Nth: 2, Kind: disk.Stall}) // the first is that of Open
	must(t, w.open(faulty))
	w.put()
	must(t, w.begin())
	ended := make(chan error)
	go func() { ended <- w.finish() }()
	<-faulty.Stalled()
	v := *w // what finish uses is not used here
	v.put()
	for r := range v.live {
		must(t, v.verifyOne(r))
	}
	for v.drop(50); v.s.Dirty() == 0; {
		v.put()
	}
	if !errors.Is(v.s.Begin(Moment{v.log, v.clock}, nil), ErrBusy) {
		t.Error("the checkpoint is not under way")
	}
	faulty.Release()
	must(t, <-ended)
	must(t, v.verify())
}
