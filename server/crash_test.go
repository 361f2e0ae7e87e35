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
		kept func(*rand.Rand) bool
	}{
		{"all", func(*rand.Rand) bool { return true }},
		{"nothing", func(*rand.Rand) bool { return false }},
		{"part", func(r *rand.Rand) bool { return r.IntN(2) == 0 }},
	} {
		t.Run(left.name, func(t *testing.T) {
			var moved, checkpoints uint64
			for n, crashed := 0, true; crashed; n += stride {
				var l *script
				l, crashed = crashAt(t, n, left.kept)
				moved, checkpoints = moved+l.moved, checkpoints+l.checkpoints
				if n > 10_000 {
					t.Fatal("the script has no end")
				}
			}
			// Whether slots move depends on when checkpoints are made: few runs may do without.
			if checkpoints == 0 || moved == 0 && stride == 1 {
				t.Fatalf("%d checkpoints, %d slots moved: the script does too little", checkpoints, moved)
			}
		})
	}
}

// crashAt runs a script until operation n of the disk, and reports whether it
// came so far.
func crashAt(t *testing.T, n int, kept func(*rand.Rand) bool) (l *script, crashed bool) {
	d, log := disk.NewMemory(), wal.NewMemory(occ.StoreID{9}, wal.DefaultMemoryLimit)
	l = newScript(t, uint64(n%5))
	d.StopAfter(n)
	err := l.run(log, d)
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
	return l, err != nil
}
