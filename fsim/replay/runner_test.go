package replay_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/tidemark/tidemark/bench/sim"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/fsim/replay"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/history"
	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/infer"
)

const (
	attr  = traces.Attr
	block = traces.Block
	dir   = traces.Dir
	del   = traces.Delete
	open  = traces.Open
	clos  = traces.Close
	rd    = traces.Read
	wr    = traces.Write
)

// TestDeleteWaitsForOpens: the opens that a Delete ends commit before it
// begins, even if that takes long.
func TestDeleteWaitsForOpens(t *testing.T) {
	r := newRig(t, []traces.Op{
		op(0, 1, attr, rd, 5, 0, 0),
		op(100, 1, open, rd, 5, 0, 0),
		op(200, 1, block, wr, 5, 0, blockSize),
		op(200, 2, block, rd, 5, blockSize, blockSize),
		op(1000, 3, del, wr, 5, 0, 0), // closes both
	}, sim.Options{LogSync: 300 * time.Millisecond, Latency: 40 * time.Millisecond}, client.Options{})
	c := r.run(replay.Options{})
	if c.ReadOnly != 2 || c.ReadWrite != 2 || c.Attempts != 4 || c.Aborted != 0 {
		t.Errorf("%+v", c)
	}
	write, remove := r.committed(1), r.committed(3)
	if len(write) != 1 || len(remove) != 1 {
		t.Fatalf("committed: %v and %v", write, remove)
	}
	if write[0].End < r.at(1000)+300*time.Millisecond {
		t.Errorf("the write committed at %v: the test shows nothing", write[0].End)
	}
	if remove[0].Begin < write[0].End || remove[0].Commit < write[0].Commit {
		t.Errorf("the Delete began at %v, before the open ended at %v", remove[0].Begin, write[0].End)
	}
	if _, there := r.files()[5]; there {
		t.Error("the file is still there")
	}
}

// TestConflictRunsOperationsAgain: a transaction whose read was overwritten
// begins anew, does again what it has done, and goes on.
func TestConflictRunsOperationsAgain(t *testing.T) {
	for _, passive := range []bool{false, true} {
		r := newRig(t, []traces.Op{
			op(0, 2, block, rd, 5, 0, 2*blockSize), // makes an image of two blocks; ends at 150
			op(100, 1, block, rd, 5, 0, blockSize),
			op(110, 1, block, wr, 5, blockSize, blockSize), // line 3
			op(150, 2, open, rd, 5, 0, 0),
			op(160, 2, block, wr, 5, 0, blockSize), // line 5: overwrites what host 1 has read
			op(170, 2, clos, rd, 5, 0, 0),
			op(400, 1, block, wr, 5, 2*blockSize, 100), // line 7: after that
			op(500, 1, clos, rd, 5, 0, 0),
		}, sim.Options{}, client.Options{NoActiveAborts: passive})
		var latencies []infer.Class
		c := r.run(replay.Options{Now: r.w.Now, Latency: func(class infer.Class, busy time.Duration) {
			if busy <= 0 || busy > 100*time.Millisecond {
				t.Errorf("a transaction was busy for %v", busy)
			}
			latencies = append(latencies, class)
		}})
		if c.ReadOnly != 1 || c.ReadWrite != 2 || c.Attempts != 4 || c.Aborted != 1 || c.Failed != 0 || c.Operations != 5 {
			t.Errorf("passive %v: %+v", passive, c)
		}
		slices.Sort(latencies)
		if !slices.Equal(latencies, []infer.Class{infer.ReadOnly, infer.ReadWrite, infer.ReadWrite}) {
			t.Errorf("latencies of %v", latencies)
		}
		var mine []history.Kind
		for _, e := range r.events[1] {
			mine = append(mine, e.Kind)
		}
		if !slices.Equal(mine, []history.Kind{history.Aborted, history.Committed}) {
			t.Fatalf("host 1 recorded %v", mine)
		}
		first, second := r.events[1][0], r.events[1][1]
		abortedBy := r.at(300)
		if passive {
			abortedBy = r.at(600)
		}
		if first.End > abortedBy || passive && first.End < r.at(500) {
			t.Errorf("passive %v: aborted at %v", passive, first.End-r.start)
		}
		other := r.committed(2)
		newest := slices.ContainsFunc(other[0].Writes, func(b occ.BlockID) bool {
			return slices.Contains(second.Reads, occ.Read{Block: b, From: other[0].Commit})
		})
		if !newest {
			t.Errorf("passive %v: the second attempt does not read what host 2 wrote", passive)
		}
		content := slices.Concat(want(5, 0, blockSize, 5), want(5, blockSize, blockSize, 3), want(5, 2*blockSize, 100, 7))
		if !bytes.Equal(r.content(5), content) {
			t.Errorf("passive %v: the file has another content", passive)
		}
	}
}

// TestGivenUp: a transaction that may not begin again is counted as failed;
// what comes for it later is ignored.
func TestGivenUp(t *testing.T) {
	ops := []traces.Op{
		op(0, 2, block, rd, 5, 0, blockSize),
		op(100, 1, block, rd, 5, 0, blockSize),
		op(110, 1, block, wr, 5, 0, 100),
		op(150, 2, attr, rd, 5, 0, 0),
		op(160, 2, block, wr, 5, 0, blockSize), // line 5
		op(170, 2, clos, rd, 5, 0, 0),
		op(400, 1, block, wr, 5, 0, blockSize), // line 7: for a transaction that has been given up
		op(500, 1, clos, rd, 5, 0, 0),
		op(600, 3, del, wr, 6, 0, 0),
	}
	r := newRig(t, ops, sim.Options{}, client.Options{})
	c := r.run(replay.Options{MaxAttempts: 1})
	if c.Failed != 1 || c.ReadWrite != 2 || c.ReadOnly != 2 || c.Attempts != 5 || c.Aborted != 0 {
		t.Errorf("%+v", c)
	}
	if !bytes.Equal(r.content(5), want(5, 0, blockSize, 5)) {
		t.Error("the transaction that was given up has left something")
	}
	r = newRig(t, ops, sim.Options{}, client.Options{})
	if c := r.run(replay.Options{MaxAttempts: 2}); c.Failed != 0 || c.ReadWrite != 3 || c.Aborted != 1 {
		t.Errorf("with a second attempt: %+v", c)
	}
	if !bytes.Equal(r.content(5), want(5, 0, blockSize, 7)) {
		t.Error("the second attempt has left something else")
	}
}

func TestFilesThatDoNotExist(t *testing.T) {
	r := newRig(t, []traces.Op{
		op(0, 1, block, rd, 5, 0, blockSize),
		op(100, 1, del, wr, 5, 0, 0),
		op(200, 1, attr, rd, 5, 0, 0),          // absent
		op(300, 2, block, rd, 5, 0, blockSize), // absent
		op(400, 1, del, wr, 5, 0, 0),           // absent
		op(500, 1, dir, rd, 5, 0, 512),         // absent
		op(600, 1, open, rd, 5, 0, 0),          // absent: an empty open reads the inode
		op(700, 1, clos, rd, 5, 0, 0),
	}, sim.Options{}, client.Options{})
	c := r.run(replay.Options{})
	if c.Absent != 5 || c.Odd != 0 || c.Failed != 0 || c.ReadOnly != 5 || c.ReadWrite != 2 || c.Operations != 7 {
		t.Errorf("%+v", c)
	}
}

// TestWritingRecreates: what is written after a Delete is a new file, also if
// another host writes it.
func TestWritingRecreates(t *testing.T) {
	for _, again := range []uint32{1, 2} {
		r := newRig(t, []traces.Op{
			op(0, 1, block, rd, 5, 0, 3*blockSize),
			op(100, again, attr, rd, 5, 0, 0),
			op(200, 1, del, wr, 5, 0, 0),
			op(300, again, block, wr, 5, 1000, 500), // line 4
			op(400, again, clos, rd, 5, 0, 0),
			op(500, 1, block, rd, 5, 0, 1500),
			op(600, 1, attr, wr, 6, 0, 0), // creates an empty file
		}, sim.Options{}, client.Options{})
		c := r.run(replay.Options{})
		if c.Absent != 0 || c.Odd != 0 || c.ReadOnly != 3 || c.ReadWrite != 3 || c.Aborted != 0 {
			t.Errorf("host %d: %+v", again, c)
		}
		content := slices.Concat(make([]byte, 1000), want(5, 1000, 500, 4))
		if !bytes.Equal(r.content(5), content) {
			t.Errorf("host %d: the file has another content", again)
		}
		if got := r.content(6); got == nil || len(got) > 0 {
			t.Errorf("host %d: the touched file has content %q", again, got)
		}
	}
}

func TestPartialBlocks(t *testing.T) {
	r := newRig(t, []traces.Op{
		op(0, 1, block, rd, 5, 0, 2*blockSize),
		op(100, 1, block, wr, 5, blockSize-50, 100), // line 2
		op(200, 1, clos, rd, 5, 0, 0),
	}, sim.Options{}, client.Options{})
	r.run(replay.Options{})
	content := want(5, 0, 2*blockSize, 0)
	copy(content[blockSize-50:], want(5, blockSize-50, 100, 2))
	if !bytes.Equal(r.content(5), content) {
		t.Error("the rest of the blocks did not stay as it was")
	}
}

func TestDirectories(t *testing.T) {
	r := newRig(t, []traces.Op{
		op(0, 1, dir, rd, 8, 0, 2000),
		op(100, 2, dir, wr, 8, 700, 24),
		op(200, 1, dir, rd, 8, 0, 512),
		op(300, 1, dir, rd, 8, 1<<40, 512), // a position beyond its end
		op(400, 2, dir, rd, 9, 0, 512),
		op(500, 2, del, wr, 9, 0, 0), // with all its entries
	}, sim.Options{}, client.Options{})
	before := r.files()
	c := r.run(replay.Options{})
	if c.ReadOnly != 4 || c.ReadWrite != 2 || c.Absent != 0 || c.Odd != 0 || c.Attempts != 6 {
		t.Errorf("%+v", c)
	}
	if w := r.committed(2); len(w) != 2 || len(w[0].Writes) == 0 {
		t.Errorf("committed %v", w)
	}
	after := r.files()
	if _, there := after[9]; there || len(before) != 2 || len(after) != 1 || before[8] != after[8] {
		t.Errorf("before %v, after %v", before, after)
	}
}

func TestOperationsThatDoNotFit(t *testing.T) {
	r := newRig(t, []traces.Op{
		op(0, 1, block, rd, 5, 0, blockSize),
		op(100, 1, dir, rd, 5, 0, 512), // odd: a file
		op(200, 1, dir, wr, 5, 0, 24),  // odd
		op(300, 1, dir, rd, 8, 0, 512),
		op(400, 1, block, rd, 8, 0, 100),     // odd: a directory
		op(500, 2, block, wr, 8, 0, 100),     // odd
		op(600, 2, block, wr, 5, 1<<61, 100), // odd: too large
		op(700, 2, attr, wr, 8, 0, 0),        // fits
	}, sim.Options{}, client.Options{})
	c := r.run(replay.Options{})
	if c.Odd != 5 || c.Absent != 0 || c.Failed != 0 || c.ReadOnly != 4 || c.ReadWrite != 4 {
		t.Errorf("%+v", c)
	}
	if !bytes.Equal(r.content(5), want(5, 0, blockSize, 0)) {
		t.Error("the file was changed")
	}
}

// TestReadBeyondTheLargestFile: what no file can hold is not in the image, and
// ends no replay.
func TestReadBeyondTheLargestFile(t *testing.T) {
	r := newRig(t, []traces.Op{
		op(0, 1, block, rd, 5, 0, blockSize),
		op(100, 1, block, rd, 5, 1<<61, blockSize),
	}, sim.Options{}, client.Options{})
	if c := r.run(replay.Options{}); c.ReadOnly != 1 || c.Failed != 0 {
		t.Errorf("%+v", c)
	}
}

// TestFeedRefuses: events that cannot be of the trace that the runner was made
// for.
func TestFeedRefuses(t *testing.T) {
	r := newRig(t, []traces.Op{op(0, 1, attr, rd, 5, 0, 0)}, sim.Options{}, client.Options{})
	runner := replay.NewRunner(r.volume, r.hosts, exec{r}, replay.Options{})
	if err := runner.Feed(infer.Event{Kind: infer.Begin, Tx: 1, Host: 9}); err == nil {
		t.Error("a host without a client is no error")
	}
	if err := runner.Feed(infer.Event{Kind: infer.End, Tx: 7}); err == nil {
		t.Error("the end of a transaction that has not begun is no error")
	}
}

// TestRestartCountsOnce: a read-only transaction begins anew, since a block of
// when it first read is no longer kept. What it missed the first time was made
// meanwhile, so that nothing was absent in the end.
func TestRestartCountsOnce(t *testing.T) {
	ops := []traces.Op{
		op(0, 2, block, rd, 5, 0, blockSize),
		op(50, 2, del, wr, 5, 0, 0),
		op(100, 1, open, rd, 5, 0, 0),
		op(110, 1, block, rd, 5, 0, 100), // absent
		op(200, 2, open, wr, 5, 0, 0),
		op(210, 2, block, wr, 5, 0, 2*blockSize),
		op(220, 2, clos, rd, 5, 0, 0),
		op(300, 1, block, rd, 5, 0, 100), // the first of two blocks
	}
	for i := range int64(5) {
		ops = append(ops, op(400+600*i, 2, open, wr, 5, 0, 0), op(410+600*i, 2, block, wr, 5, 0, 2*blockSize), op(420+600*i, 2, clos, rd, 5, 0, 0))
	}
	ops = append(ops, op(3500, 1, block, rd, 5, blockSize, 100), op(3600, 1, clos, rd, 5, 0, 0)) // the second one of then is gone
	r := newRig(t, ops, sim.Options{Retention: 10 * time.Millisecond}, client.Options{Freshness: client.Unbounded})
	if c := r.run(replay.Options{}); c.Restarts != 1 || c.Absent != 0 || c.Odd != 0 || c.Failed != 0 {
		t.Errorf("%+v", c)
	}
}
