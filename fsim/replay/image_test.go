package replay_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/bench/sim"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/fsim"
	"github.com/tidemark/tidemark/fsim/replay"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/gen"
	"github.com/tidemark/tidemark/traces/sample"
	"github.com/tidemark/tidemark/traces/survey"
)

// TestImageHoldsWhatItPromises reads every block of the image back.
func TestImageHoldsWhatItPromises(t *testing.T) {
	ops := []traces.Op{
		op(0, 1, traces.Attr, traces.Read, 1, 0, 0),
		op(0, 1, traces.Block, traces.Read, 2, 0, 10_000),
		op(0, 1, traces.Block, traces.Read, 3, 5<<20, 4096), // behind the doubly indirect pointer, after a hole
		op(0, 2, traces.Block, traces.Write, 4, 0, 4096),    // created, so not in the image
		op(0, 2, traces.Dir, traces.Read, 5, 0, 512),
		op(0, 2, traces.Dir, traces.Read, 6, 1<<40, 512), // a position, not a size
		op(0, 2, traces.Delete, traces.Write, 7, 0, 0),
		op(0, 2, traces.Block, traces.Read, 2, 100, 50),
	}
	r := newRig(t, ops, sim.Options{}, client.Options{})
	files := r.files()
	if len(files) != len(r.plan.Image.Files) || len(files) != 6 {
		t.Errorf("%d files of %d are there", len(files), len(r.plan.Image.Files))
	}
	if _, there := files[4]; there {
		t.Error("a file that the trace creates is there")
	}
	r.view(func(tx *client.Tx) error { return checkImage(t, r.volume, tx, r.plan, files) })
	r.do(func() error {
		_, err := r.volume.Verify(context.Background(), r.builder)
		return err
	})
}

func checkImage(t *testing.T, v *replay.Volume, tx *client.Tx, plan *replay.Plan, files map[traces.FID]fsim.Handle) error {
	for _, f := range plan.Image.Files {
		info, err := v.FS.Stat(tx, files[f.FID])
		if err != nil {
			return err
		}
		if f.Dir {
			if info.Kind != fsim.Dir || info.Size < min(f.Size, 64<<10) {
				t.Errorf("directory %v: %+v, want %+v", f.FID, info, f)
			}
			continue
		}
		if info.Kind != fsim.File || info.Size != f.Size {
			t.Errorf("file %v: %+v, want %+v", f.FID, info, f)
		}
		got := make([]byte, f.Size)
		if _, err := v.FS.Read(tx, files[f.FID], 0, got); err != nil {
			return err
		}
		promised := make([]byte, f.Size)
		for _, e := range f.Extents {
			from := e.First * blockSize
			to := min(from+e.Count*blockSize, f.Size)
			replay.Content(promised[from:to], f.FID, from, 0)
		}
		if !bytes.Equal(got, promised) {
			t.Errorf("file %v has another content", f.FID)
		}
	}
	return nil
}

func TestPlan(t *testing.T) {
	src := sample.Source()
	plan, err := replay.NewPlan(src, blockSize)
	if err != nil {
		t.Fatal(err)
	}
	info, err := survey.Collect(src)
	if err != nil {
		t.Fatal(err)
	}
	if plan.Operations != info.Operations || len(plan.Hosts) != info.Hosts || !slices.IsSorted(plan.Hosts) ||
		plan.First != info.First || plan.Last != info.Last || plan.Skipped != 0 || plan.FirstSkipped != nil {
		t.Errorf("the plan is for %d operations of hosts %v, %d to %d; the trace holds %+v",
			plan.Operations, plan.Hosts, plan.First, plan.Last, info)
	}
	if plan.WriteBlocks < info.BytesWritten/blockSize {
		t.Errorf("room for %d written blocks, but %d bytes", plan.WriteBlocks, info.BytesWritten)
	}
	skipping := traces.Bytes("t", []byte("?\n1.0 Attr READ FID: 1 OFF: 0 SIZE: 0 HOST: 1\n?\n"), traces.Options{SkipUnknown: true})
	if plan, err = replay.NewPlan(skipping, blockSize); err != nil || plan.Skipped != 2 || plan.FirstSkipped.Line != 1 {
		t.Errorf("%+v, %v", plan, err)
	}
}

// TestHostsDoNotShareInodes: writing to their own files, old and new, brings
// no two hosts to one block.
func TestHostsDoNotShareInodes(t *testing.T) {
	var ops []traces.Op
	const hosts, files = 5, 6
	for h := range uint32(hosts) {
		for i := range files {
			// Handles of different hosts alternate, as a server gives them out.
			fid := traces.FID(i*hosts) + traces.FID(h)
			ops = append(ops, op(0, h, traces.Attr, traces.Read, fid, 0, 0),
				// All hosts at once change files of the image ...
				op(1000+20*int64(i), h, traces.Attr, traces.Write, fid, 0, 0),
				// ... but create others in turn: these share directories.
				op(2000+20*int64(i*hosts+int(h)), h, traces.Attr, traces.Write, fid+1000, 0, 0))
		}
	}
	slices.SortStableFunc(ops, func(a, b traces.Op) int { return int(a.Time - b.Time) })
	r := newRig(t, ops, sim.Options{}, client.Options{})
	c := r.run(replay.Options{})
	if c.ReadWrite != hosts*files*2 || c.Aborted > 0 {
		t.Errorf("%+v", c)
	}
	// To write an attribute is to write the inode's block alone.
	owner := make(map[occ.BlockID]uint32)
	attrs := 0
	for h := range uint32(hosts) {
		for _, e := range r.committed(h) {
			if len(e.Writes) > 1 {
				continue // it created a file, with an entry in a directory of all
			}
			attrs++
			for _, b := range e.Writes {
				if o, taken := owner[b]; taken && o != h {
					t.Errorf("hosts %d and %d write block %d", o, h, b)
				}
				owner[b] = h
			}
		}
	}
	if attrs != hosts*files {
		t.Errorf("%d transactions wrote one block", attrs)
	}
}

func TestImageOfASyntheticLoad(t *testing.T) {
	p := gen.DefaultDense()
	p.Hosts, p.Duration = 3, p.Duration/20
	ops := p.Ops()
	for i := range ops {
		ops[i].Time = (ops[i].Time - ops[0].Time) / 1000
	}
	ops[0].Time = 0
	r := newRig(t, ops, sim.Options{}, client.Options{})
	files := r.files()
	r.view(func(tx *client.Tx) error { return checkImage(t, r.volume, tx, r.plan, files) })
}

func TestVolumesThatCannotBe(t *testing.T) {
	var ops []traces.Op
	for i := range int64(1 << 16) { // 1 TiB in blocks of 512 bytes, twice over
		ops = append(ops, op(i, 1, traces.Block, traces.Write, 1, i*traces.MaxTransfer, traces.MaxTransfer))
	}
	plan, err := replay.NewPlan(source(ops), 512)
	if err != nil {
		t.Fatal(err)
	}
	w := sim.NewWorld()
	defer w.Stop()
	s := sim.NewServer(w, sim.Options{})
	w.Go(func() {
		var db *client.DB
		if db, err = client.Open(context.Background(), s.Connect, client.Options{Clock: w.Now, Seed: 1, NoBackground: true}); err == nil {
			_, err = replay.Build(context.Background(), db, plan)
		}
	})
	if stuck := w.Run(); stuck != nil {
		t.Fatal(stuck)
	}
	if err == nil || !strings.Contains(err.Error(), "more than 32-bit pointers reach") {
		t.Errorf("a volume of more than 2^32 blocks: %v", err)
	}
}
