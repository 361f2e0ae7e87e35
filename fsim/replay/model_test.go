package replay_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tidemark/tidemark/bench/sim"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/fsim/replay"
	"github.com/tidemark/tidemark/traces"
)

// model is the file system that a trace was taken from, said simply. A trace
// shows only part of it: the entries that an operation has named are shown.
type model struct {
	rng     *rand.Rand
	nodes   map[traces.FID]*node
	entries map[entry]traces.FID
	shown   map[entry]bool
	lastFID traces.FID
	ops     []traces.Op
}

type entry struct {
	dir  traces.FID
	name string
}

type node struct {
	dir     bool
	link    int64 // length of a symbolic link's text
	content []byte
}

// newModel returns a file system with a few directories and files.
func newModel(seed uint64) *model {
	m := &model{
		rng: rand.New(rand.NewPCG(seed, 6)), nodes: map[traces.FID]*node{}, entries: map[entry]traces.FID{}, shown: map[entry]bool{},
	}
	for range 3 {
		m.node(true)
		for range 4 {
			e := entry{m.dir(), m.name()}
			if _, taken := m.entries[e]; !taken {
				m.entries[e] = m.node(m.rng.IntN(4) == 0)
			}
		}
	}
	for fid := traces.FID(1); fid <= m.lastFID; fid++ {
		if m.nodes[fid].dir { // which an entry in it shows
			e := entry{fid, "z"}
			m.entries[e] = m.node(false)
			m.show(e, m.entries[e])
		}
	}
	return m
}

func (m *model) node(dir bool) traces.FID {
	m.lastFID++
	m.nodes[m.lastFID] = &node{dir: dir}
	return m.lastFID
}

func (m *model) name() string { return string(rune('a' + m.rng.IntN(8))) }

// dir picks a directory that exists.
func (m *model) dir() traces.FID {
	for {
		fid := traces.FID(1 + m.rng.IntN(int(m.lastFID)))
		if n := m.nodes[fid]; n != nil && n.dir {
			return fid
		}
	}
}

// sorted returns the entries in a stable order.
func (m *model) sorted() (list []entry) {
	for e := range m.entries {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b entry) int { return bytes.Compare(fmt.Appendf(nil, "%v", a), fmt.Appendf(nil, "%v", b)) })
	return list
}

func (m *model) empty(dir traces.FID) bool {
	for e := range m.entries {
		if e.dir == dir {
			return false
		}
	}
	return true
}

// below reports whether a directory is top or in it.
func (m *model) below(dir, top traces.FID) bool {
	if dir == top {
		return true
	}
	for e, fid := range m.entries {
		if fid == dir {
			return m.below(e.dir, top)
		}
	}
	return false
}

// log adds an operation of some host to the trace.
func (m *model) log(typ traces.Type, a traces.Action, fid traces.FID, off, size int64, p *traces.Place) {
	o := op(int64(len(m.ops))*40, uint32(1+m.rng.IntN(3)), typ, a, fid, off, size)
	if len(m.ops) > 0 && typ == traces.Commit {
		o.Host = m.ops[len(m.ops)-1].Host
	}
	o.Place = p
	m.ops = append(m.ops, o)
}

func (m *model) drop(e entry) {
	fid := m.entries[e]
	delete(m.entries, e)
	for _, other := range m.entries {
		if other == fid {
			return
		}
	}
	delete(m.nodes, fid)
}

// step does one thing, if what the dice say is possible.
func (m *model) step() {
	to := entry{m.dir(), m.name()}
	old, taken := m.entries[to]
	list := m.sorted()
	from := list[m.rng.IntN(len(list))]
	fid := m.entries[from]
	n := m.nodes[fid]
	place := &traces.Place{Dir: from.dir, Name: from.name}
	there := &traces.Place{Dir: to.dir, Name: to.name}
	switch dice := m.rng.IntN(12); {
	case dice < 2:
		m.log(traces.Lookup, rd, fid, 0, 0, place)
		m.shown[from] = true
	case dice < 5 && !taken:
		typ := []traces.Type{traces.Create, traces.Mkdir, traces.Symlink}[dice-2]
		made := m.node(typ == traces.Mkdir)
		size := int64(0)
		if typ == traces.Symlink {
			size = 1 + m.rng.Int64N(100)
			m.nodes[made].link = size
		}
		m.entries[to], m.shown[to] = made, true
		m.log(typ, wr, made, 0, size, there)
	case dice == 5 && !taken && !n.dir:
		m.show(from, fid) // else it would keep a place of its own
		m.entries[to], m.shown[to] = fid, true
		m.log(traces.Link, wr, fid, 0, 0, there)
	case dice < 8 && old != fid:
		target := m.nodes[old]
		if taken && (n.dir != target.dir || target.dir && !m.empty(old)) || n.dir && m.below(to.dir, fid) {
			return
		}
		delete(m.entries, from)
		if taken {
			m.show(to, old) // else it would stay where it is
			m.drop(to)
		}
		m.entries[to], m.shown[to] = fid, true
		m.log(traces.Rename, wr, fid, 0, 0, &traces.Place{Dir: from.dir, Name: from.name, ToDir: to.dir, ToName: to.name})
	case dice == 8:
		typ := del
		if n.dir {
			if typ = traces.Rmdir; !m.empty(fid) {
				return
			}
		}
		m.drop(from)
		m.log(typ, wr, fid, 0, 0, place)
	case dice == 9 && !n.dir && n.link == 0:
		size := m.rng.Int64N(9000)
		n.content = append(n.content[:min(size, int64(len(n.content)))], make([]byte, max(0, size-int64(len(n.content))))...)
		m.show(from, fid)
		m.log(traces.Truncate, wr, fid, size, 0, nil)
	case dice < 12 && !n.dir && n.link == 0:
		m.show(from, fid)
		off, size := m.rng.Int64N(9000), 1+m.rng.Int64N(5000)
		m.log(block, wr, fid, off, size, nil)
		n.content = append(n.content, make([]byte, max(0, off+size-int64(len(n.content))))...)
		replay.Content(n.content[off:off+size], fid, off, int64(len(m.ops)))
		m.log(traces.Commit, wr, fid, 0, 0, nil)
	}
}

// show looks a file up, so that its place at the start is known.
func (m *model) show(e entry, fid traces.FID) {
	m.log(traces.Lookup, rd, fid, 0, 0, &traces.Place{Dir: e.dir, Name: e.name})
	m.shown[e] = true
}

// paths is what rig.paths must give: what was shown, each directory at its own
// entry if that was shown.
func (m *model) paths() (list []string, files map[string]*node) {
	parent := map[traces.FID]entry{}
	dirs := map[traces.FID]bool{}
	for e, fid := range m.entries {
		if m.shown[e] && m.nodes[fid].dir {
			parent[fid], dirs[fid] = e, true
		}
	}
	for _, o := range m.ops {
		if o.Place != nil {
			dirs[o.Place.Dir] = m.nodes[o.Place.Dir] != nil
			if o.Type == traces.Rename {
				dirs[o.Place.ToDir] = m.nodes[o.Place.ToDir] != nil
			}
		}
	}
	var path func(dir traces.FID) string
	path = func(dir traces.FID) string {
		if e, known := parent[dir]; known {
			return path(e.dir) + e.name + "/"
		}
		return fmt.Sprintf("%x/", uint64(dir))
	}
	for dir, exists := range dirs {
		if exists {
			list = append(list, path(dir))
		}
	}
	files = map[string]*node{}
	for e, fid := range m.entries {
		switch n := m.nodes[fid]; {
		case !m.shown[e] || n.dir:
		case n.link > 0:
			list = append(list, fmt.Sprintf("%s%s -> %d", path(e.dir), e.name, n.link))
		default:
			list = append(list, fmt.Sprintf("%s%s %d", path(e.dir), e.name, len(n.content)))
			files[path(e.dir)+e.name] = n
		}
	}
	slices.Sort(list)
	return list, files
}

// TestModel replays random traces of a file system under several settings. As
// each operation ends before the next begins, all must leave what the file
// system was left with.
func TestModel(t *testing.T) {
	for seed := range uint64(8) {
		m := newModel(seed)
		for range 150 {
			m.step()
		}
		want, files := m.paths()
		for i, o := range []client.Options{{}, {Freshness: 2 * time.Second}, {Mode: client.Conventional, CacheBytes: 1}} {
			r := newRig(t, m.ops, sim.Options{}, o)
			c := r.run(replay.Options{})
			if c.Odd != 0 || c.Failed != 0 || c.Absent != 0 && o.Freshness == 0 || r.plan.Image.Misplaced != 0 {
				t.Errorf("seed %d, setting %d: %+v, %d misplaced", seed, i, c, r.plan.Image.Misplaced)
			}
			if got := r.paths(); !slices.Equal(got, want) {
				t.Fatalf("seed %d, setting %d: the tree is\n%q, want\n%q", seed, i, got, want)
			}
			for path, n := range files {
				if i == 0 && !bytes.Equal(r.contentAt(path), n.content) {
					t.Errorf("seed %d: %s has another content", seed, path)
				}
			}
		}
	}
}
