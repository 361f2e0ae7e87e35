package replay_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/bench/sim"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/fsim/replay"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/traces"
)

// at gives an operation a place, "name" in dir; a Rename is told by another.
func at(o traces.Op, dir traces.FID, name string, to ...any) traces.Op {
	o.Place = &traces.Place{Dir: dir, Name: name}
	if len(to) > 0 {
		o.Place.ToDir, o.Place.ToName = traces.FID(to[0].(int)), to[1].(string)
	}
	return o
}

const d = 0xd // a directory

// TestNames has a test for each type of operation that acts on names.
func TestNames(t *testing.T) {
	type ops = []traces.Op
	lookup := func(ms int64, fid traces.FID, dir traces.FID, name string) traces.Op {
		return at(op(ms, 1, traces.Lookup, rd, fid, 0, 0), dir, name)
	}
	on := func(ms int64, typ traces.Type, fid, dir traces.FID, name string, to ...any) traces.Op {
		return at(op(ms, 1, typ, wr, fid, 0, 0), dir, name, to...)
	}
	for name, c := range map[string]struct {
		ops         ops
		want        []string
		absent, odd int64
	}{
		"Lookup": {ops{lookup(0, 1, d, "a"), lookup(100, 2, 1, "b")}, []string{"d/", "d/a/", "d/a/b 0"}, 0, 0},
		"Create": {ops{on(0, traces.Create, 1, d, "a"), op(100, 1, block, wr, 1, 0, 100), lookup(200, 1, d, "a")},
			[]string{"d/", "d/a 100"}, 0, 0},
		"Create what is there": {ops{lookup(0, 1, d, "a"), op(50, 1, block, wr, 1, 0, 100), lookup(100, 1, d, "a"), on(200, traces.Create, 1, d, "a")},
			[]string{"d/", "d/a 0"}, 0, 0},
		"Create over a directory": {ops{lookup(0, 1, d, "a"), lookup(1, 2, 1, "b"), on(100, traces.Create, 3, d, "a")},
			[]string{"d/", "d/a/", "d/a/b 0"}, 0, 1},
		"Create without a place": {ops{op(0, 1, traces.Create, wr, 7, 0, 0)}, []string{"7 0"}, 0, 0},
		"Mkdir": {ops{on(0, traces.Mkdir, 1, d, "a"), on(100, traces.Mkdir, 2, 1, "b"), on(200, traces.Create, 3, 2, "c")},
			[]string{"d/", "d/a/", "d/a/b/", "d/a/b/c 0"}, 0, 0},
		"Mkdir what is there": {ops{on(0, traces.Mkdir, 1, d, "a"), on(100, traces.Mkdir, 2, d, "a"), on(200, traces.Create, 3, 2, "c")},
			[]string{"d/", "d/a/", "d/a/c 0"}, 0, 1},
		"Symlink": {ops{at(op(0, 1, traces.Symlink, wr, 1, 0, 30), d, "a"), op(100, 1, block, rd, 1, 0, 30)},
			[]string{"d/", "d/a -> 30"}, 0, 0},
		"Symlink that is too long": {ops{at(op(0, 1, traces.Symlink, wr, 1, 0, 1<<60), d, "a")}, []string{"d/"}, 0, 1},
		"Symlink written to": {ops{at(op(0, 1, traces.Symlink, wr, 1, 0, 0), d, "a"), op(100, 1, block, wr, 1, 0, 30)},
			[]string{"d/", "d/a -> 1"}, 0, 1},
		"Link": {ops{lookup(0, 1, d, "a"), on(100, traces.Link, 1, 0xe, "b"), op(200, 1, block, wr, 1, 0, 7)},
			[]string{"d/", "d/a 7", "e/", "e/b 7"}, 0, 0},
		"Link to a directory": {ops{lookup(0, 1, d, "a"), lookup(1, 2, 1, "b"), on(100, traces.Link, 1, d, "c")},
			[]string{"d/", "d/a/", "d/a/b 0"}, 0, 1},
		"Link onto a name": {ops{lookup(0, 1, d, "a"), lookup(1, 2, d, "b"), on(100, traces.Link, 1, d, "b")},
			[]string{"d/", "d/a 0", "d/b 0"}, 0, 1},
		"Rename": {ops{on(0, traces.Rename, 1, d, "a", d, "b"), on(100, traces.Rename, 1, d, "b", 0xe, "c"), lookup(200, 1, 0xe, "c")},
			[]string{"d/", "e/", "e/c 0"}, 0, 0},
		"Rename onto a file": {ops{lookup(0, 1, d, "a"), lookup(0, 2, d, "b"), on(100, traces.Rename, 2, d, "b", d, "a"),
			lookup(200, 2, d, "a"), op(300, 1, attr, rd, 1, 0, 0)}, []string{"d/", "d/a 0"}, 1, 0},
		"Rename below itself": {ops{lookup(0, 1, d, "a"), lookup(0, 2, 1, "b"), on(100, traces.Rename, 1, d, "a", 1, "c")},
			[]string{"d/", "d/a/", "d/a/b 0"}, 0, 1},
		"Rename of what is not there": {ops{on(0, traces.Delete, 1, d, "a"), on(100, traces.Rename, 1, d, "a", d, "b")}, []string{"d/"}, 1, 0},
		"Rename of another file": {ops{lookup(0, 1, d, "a"), lookup(0, 2, d, "b"), on(100, traces.Rename, 2, d, "a", d, "c")},
			[]string{"d/", "d/b 0", "d/c 0"}, 0, 1},
		"Delete with a place": {ops{lookup(0, 1, d, "a"), lookup(0, 1, d, "b"), on(100, del, 1, d, "a"), op(200, 1, block, wr, 1, 0, 9)},
			[]string{"d/", "d/b 9"}, 0, 0},
		"Delete of the last place": {ops{on(0, traces.Create, 1, d, "a"), on(100, del, 1, d, "a"), op(200, 1, attr, rd, 1, 0, 0)},
			[]string{"d/"}, 1, 0},
		"Delete of another file": {ops{lookup(0, 1, d, "a"), lookup(1, 2, d, "b"), on(100, del, 1, d, "b")}, []string{"d/", "d/a 0"}, 0, 1},
		"Delete without a place": {ops{lookup(0, 1, d, "a"), on(50, traces.Link, 1, d, "b"), on(100, traces.Rename, 1, d, "a", 0xe, "c"),
			op(200, 1, del, wr, 1, 0, 0)}, []string{"d/", "e/"}, 0, 0},
		"Delete without a place, linked": {ops{op(0, 1, attr, rd, 1, 0, 0), on(50, traces.Link, 1, d, "b"), op(200, 1, del, wr, 1, 0, 0)},
			[]string{"d/"}, 0, 0},
		"Rmdir": {ops{lookup(0, 1, d, "a"), on(1, traces.Create, 2, 1, "b"), on(100, traces.Rmdir, 1, d, "a"),
			on(200, del, 2, 1, "b"), on(300, traces.Rmdir, 1, d, "a")}, []string{"d/"}, 0, 1},
		"Rmdir of a listed directory": {ops{lookup(0, 1, d, "a"), op(1, 1, dir, rd, 1, 0, 512), on(100, traces.Rmdir, 1, d, "a")}, []string{"d/"}, 0, 0},
		"Rmdir of a file":             {ops{lookup(0, 1, d, "a"), op(1, 1, block, rd, 1, 0, 0), on(100, traces.Rmdir, 1, d, "a")}, []string{"d/", "d/a 0"}, 0, 1},
		"Rmdir without a place":       {ops{op(0, 1, traces.Rmdir, wr, 1, 0, 0)}, nil, 0, 0},
		"Truncate": {ops{lookup(0, 1, d, "a"), op(100, 1, traces.Truncate, wr, 1, 5000, 0), op(200, 1, traces.Truncate, wr, 2, 10, 0)},
			[]string{"2 10", "d/", "d/a 5000"}, 0, 0},
		"Truncate too far":     {ops{op(0, 1, traces.Truncate, wr, 1, 1<<62, 0)}, []string{"1 0"}, 0, 1},
		"Truncate a directory": {ops{lookup(0, 1, d, "a"), op(100, 1, traces.Truncate, wr, d, 0, 0)}, []string{"d/", "d/a 0"}, 0, 1},
		"Commit": {ops{on(0, traces.Create, 1, d, "a"), op(50, 1, block, wr, 1, 0, 100), op(60, 1, traces.Commit, wr, 1, 0, 0),
			op(70, 2, block, wr, 1, 100, 1), op(80, 1, traces.Commit, wr, 9, 0, 0)}, []string{"9 0", "d/", "d/a 101"}, 0, 0},
		"Open with a place": {ops{at(op(0, 1, open, rd, 1, 0, 0), d, "a"), op(1, 1, block, wr, 1, 0, 10), op(2, 1, clos, rd, 1, 0, 0)},
			[]string{"d/", "d/a 10"}, 0, 0},
		"in a directory that is gone": {ops{on(0, traces.Rmdir, 1, d, "a"), on(100, traces.Create, 2, 1, "b"), op(200, 1, attr, rd, 2, 0, 0)},
			[]string{"d/"}, 2, 0},
		"a circle": {ops{lookup(0, 1, 2, "a"), lookup(100, 2, 1, "a")}, []string{"2/", "2/a/"}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, c.ops, sim.Options{}, client.Options{})
			got := r.run(replay.Options{})
			if got.Absent != c.absent || got.Odd != c.odd || got.Failed != 0 {
				t.Errorf("%+v, want %d absent and %d odd", got, c.absent, c.odd)
			}
			if paths := r.paths(); !slices.Equal(paths, c.want) {
				t.Errorf("the tree is %q, want %q", paths, c.want)
			}
		})
	}
}

// TestWhatIsMadeIsFound: operations that follow at once, before the store has
// committed what they build on, find it.
func TestWhatIsMadeIsFound(t *testing.T) {
	r := newRig(t, []traces.Op{
		at(op(0, 1, traces.Mkdir, wr, 1, 0, 0), d, "dir"),
		at(op(1, 1, traces.Create, wr, 2, 0, 0), 1, "tmp"),
		op(2, 1, block, wr, 2, 0, 5000), // line 3
		op(3, 1, traces.Commit, wr, 2, 0, 0),
		at(op(4, 1, traces.Rename, wr, 2, 0, 0), 1, "tmp", 1, "file"),
		at(op(5, 1, traces.Lookup, rd, 2, 0, 0), 1, "file"),
		at(op(6, 2, traces.Create, wr, 3, 0, 0), 1, "other"), // another host
		at(op(7, 1, traces.Mkdir, wr, 4, 0, 0), 1, "sub"),
		at(op(8, 1, traces.Create, wr, 5, 0, 0), 4, "gone"),
		at(op(9, 1, del, wr, 5, 0, 0), 4, "gone"),
		at(op(10, 1, traces.Rmdir, wr, 4, 0, 0), 1, "sub"),
	}, sim.Options{LogSync: 300 * time.Millisecond, Latency: 40 * time.Millisecond}, client.Options{})
	c := r.run(replay.Options{})
	if c.Absent != 0 || c.Odd != 0 || c.Failed != 0 {
		t.Errorf("%+v", c)
	}
	if got, want := r.paths(), []string{"d/", "d/dir/", "d/dir/file 5000", "d/dir/other 0"}; !slices.Equal(got, want) {
		t.Errorf("the tree is %q, want %q", got, want)
	}
}

// TestLookupReadsTheDirectory: a lookup reads what a creation there writes.
func TestLookupReadsTheDirectory(t *testing.T) {
	r := newRig(t, []traces.Op{
		at(op(0, 1, traces.Lookup, rd, 1, 0, 0), d, "a"),
		op(100, 2, attr, rd, 1, 0, 0),
		at(op(200, 1, traces.Create, wr, 2, 0, 0), d, "b"),
	}, sim.Options{}, client.Options{})
	r.run(replay.Options{})
	looked, read, made := r.events[1][0], r.events[2][0], r.committed(1)[0]
	meets := slices.ContainsFunc(looked.Reads, func(rd occ.Read) bool { return slices.Contains(made.Writes, rd.Block) })
	if !meets || len(read.Reads) >= len(looked.Reads) {
		t.Errorf("the lookup read %v, the stat %v, the creation wrote %v", looked.Reads, read.Reads, made.Writes)
	}
}

// TestCreationsConflict: of two hosts that make files in one directory at once,
// one has to begin anew; both files are there.
func TestCreationsConflict(t *testing.T) {
	r := newRig(t, []traces.Op{
		at(op(0, 1, traces.Lookup, rd, 1, 0, 0), d, "a"),
		at(op(0, 2, traces.Lookup, rd, 1, 0, 0), d, "a"),
		at(op(100, 1, traces.Create, wr, 2, 0, 0), d, "b"),
		at(op(100, 2, traces.Create, wr, 3, 0, 0), d, "c"),
	}, sim.Options{}, client.Options{})
	c := r.run(replay.Options{})
	if c.Aborted != 1 || c.Attempts != 5 || c.Absent != 0 || c.Odd != 0 {
		t.Errorf("%+v", c)
	}
	if got, want := r.paths(), []string{"d/", "d/a 0", "d/b 0", "d/c 0"}; !slices.Equal(got, want) {
		t.Errorf("the tree is %q, want %q", got, want)
	}
}

// TestManyNames: a Delete without a place removes a bounded number of names.
func TestManyNames(t *testing.T) {
	var ops []traces.Op
	for i := range 70 {
		ops = append(ops, at(op(int64(i), 1, traces.Lookup, rd, 1, 0, 0), d, string(rune('A'+i))))
	}
	r := newRig(t, append(ops, op(200, 1, del, wr, 1, 0, 0)), sim.Options{}, client.Options{})
	if c := r.run(replay.Options{}); c.Absent != 0 || c.Odd != 0 {
		t.Errorf("%+v", c)
	}
	if paths := r.paths(); len(paths) != 1+70-64 {
		t.Errorf("the tree is %q", paths)
	}
}

// TestImageWithPlaces: entries, hard links and blocks of the image.
func TestImageWithPlaces(t *testing.T) {
	long := strings.Repeat("n", traces.MaxName)
	ops := []traces.Op{op(0, 2, dir, rd, d, 0, 3*blockSize)}
	for i := range traces.FID(60) {
		ops = append(ops, at(op(0, 1, traces.Lookup, rd, 100+i, 0, 0), d, long[:250]+string(rune('A'+i))))
	}
	ops = append(ops,
		at(op(1, 1, traces.Lookup, rd, 100, 0, 0), 0xe, "link"),
		at(op(1, 1, traces.Lookup, rd, 0xe, 0, 0), d, "0000000d00000001"), // a filler's name
		op(2, 1, block, rd, 100, 0, 5000),
		op(3, 1, dir, rd, 0xe, 0, 10*blockSize))
	r := newRig(t, ops, sim.Options{}, client.Options{})
	if c := r.run(replay.Options{}); c.Absent != 0 || c.Odd != 0 {
		t.Errorf("%+v", c)
	}
	paths := r.paths()
	for _, p := range []string{"d/", "d/0000000d00000001/", "d/0000000d00000001/link 5000", "d/" + long[:250] + "A 5000", "d/" + long[:250] + "B 0"} {
		if !slices.Contains(paths, p) {
			t.Errorf("%q is missing", p)
		}
	}
	if !bytes.Equal(r.contentAt("d/0000000d00000001/link"), want(100, 0, 5000, 0)) {
		t.Error("another content")
	}
}
