package server

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server/disk"
	"github.com/tidemark/tidemark/server/wal"
)

// scripted are the options with which a script makes everything happen: early
// writing, checkpoints, moving and cutting of the block file.
func scripted(log *wal.Memory, d disk.Disk) Options {
	return Options{
		Log: log.Open(), Store: occ.StoreID{9}, Blocks: d, BlockSize: scriptBlock, CacheBytes: 4 * scriptBlock, dirty: 32 << 10,
		CheckpointBytes: 1500, Retention: time.Second, ExternalClock: true,
	}
}

// stop shuts a server down that may fail to.
func stop(s *Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return errors.Join(s.Shutdown(ctx), s.Err())
}

// run opens a server twice, takes steps each time and stops it in good order.
// An error is that of the first thing that did not work.
func (l *script) run(log *wal.Memory, d disk.Disk) error {
	for range 2 {
		s, err := Open(scripted(log, d))
		if err != nil {
			return err
		}
		c, err := l.connect(s)
		if err == nil {
			err = l.eventful(c)
			c.conn.Close()
		}
		st := s.storage.blocks.Stats()
		l.moved, l.checkpoints = l.moved+st.Moved, l.checkpoints+st.Checkpoints
		if err := errors.Join(stop(s), err); err != nil {
			return err
		}
	}
	return nil
}

// eventful takes steps between which the block file grows and has reason to
// shrink.
func (l *script) eventful(c *rawClient) error {
	for range 3 {
		if err := l.steps(c, 4); err != nil {
			return err
		}
		if err := l.commit(c, l.large()); err != nil {
			return err
		}
	}
	if err := l.moveHorizon(c); err != nil {
		return err
	}
	return l.steps(c, 8)
}

// A run of a script has more operations of the disk or fewer: checkpoints are
// made while commits go on. Tests that go through all of them begin with the
// most that so many runs have, and go on to the most that they meet.
const wholeRuns = 8

// leastOperations is how many every run has.
const leastOperations = 90

// most runs scripts that nothing happens to and returns the highest count.
func most(t *testing.T, seed uint64, count func(*disk.Memory, *disk.Faulty) int) (n int) {
	t.Helper()
	for range wholeRuns {
		d := disk.NewMemory()
		faulty := disk.NewFaulty(d)
		if err := newScript(t, seed).run(wal.NewMemory(occ.StoreID{9}, wal.DefaultMemoryLimit), faulty); err != nil {
			t.Fatal(err)
		}
		n = max(n, count(d, faulty))
	}
	return n
}

// TestCrashEverywhere stops the disk of the blocks in each of its operations,
// from the creation of the files to the end of a second server's last
// checkpoint, and goes on with what the crash left of what was not synced:
// all, nothing, or a part.
func TestCrashEverywhere(t *testing.T) {
	stride := 1
	if testing.Short() {
		stride = 15
	}
	for _, left := range []struct {
		name string
		seed uint64 // with which slots move, whenever checkpoints are made
		kept func(*rand.Rand) bool
	}{
		{"all", 31, func(*rand.Rand) bool { return true }},
		{"nothing", 20, func(*rand.Rand) bool { return false }},
		{"part", 9, func(r *rand.Rand) bool { return r.IntN(2) == 0 }},
	} {
		t.Run(left.name, func(t *testing.T) {
			var moved, checkpoints uint64
			crashes := 0
			end := most(t, left.seed, func(d *disk.Memory, _ *disk.Faulty) int { return d.Operations() })
			for n := 0; n < end; n += stride {
				l, operations, crashed := crashAt(t, n, left.seed, left.kept)
				moved, checkpoints = moved+l.moved, checkpoints+l.checkpoints
				if crashed {
					crashes++
				} else {
					end = max(end, operations)
				}
			}
			if crashes*stride < leastOperations {
				t.Errorf("crashes in %d operations of up to %d, %d apart", crashes, end, stride)
			}
			// Whether slots move depends on when checkpoints are made: few runs may do without.
			if checkpoints == 0 || moved == 0 && stride == 1 {
				t.Fatalf("%d checkpoints, %d slots moved: the script does too little", checkpoints, moved)
			}
		})
	}
}

// crashAt runs a script until operation n of the disk, counted from 0, and
// reports how many there were, and whether it came to that one.
func crashAt(t *testing.T, n int, seed uint64, kept func(*rand.Rand) bool) (l *script, operations int, crashed bool) {
	d, log := disk.NewMemory(), wal.NewMemory(occ.StoreID{9}, wal.DefaultMemoryLimit)
	l = newScript(t, seed)
	d.StopAfter(n)
	err := l.run(log, d)
	operations = d.Operations()
	if err == nil && operations > n {
		t.Fatalf("nothing was told of a crash in operation %d", n)
	}
	var refused *refusedError // a read that met the crash
	if err != nil && !errors.Is(err, disk.ErrCrashed) && !(errors.As(err, &refused) && refused.told.Code == wire.CodeDamaged) {
		t.Fatalf("crash in operation %d: %v", n, err)
	}
	rng := rand.New(rand.NewPCG(uint64(n), 11))
	after := d.Crash(func(disk.Unsynced) bool { return kept(rng) })
	for range 2 {
		s, err := Open(scripted(log, after))
		if err != nil {
			t.Fatalf("after a crash in operation %d: %v", n, err)
		}
		if err := errors.Join(l.steps(l.verify(s), 4), stop(s)); err != nil {
			t.Fatalf("after a crash in operation %d: %v", n, err)
		}
	}
	return l, operations, err != nil
}
