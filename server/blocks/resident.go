package blocks

import "github.com/tidemark/tidemark/occ"

// versionOverhead is what a version in memory counts besides its data.
const versionOverhead = 160

// resident is a version whose data are in memory.
type resident struct {
	ref
	data       []byte
	damage     *CorruptError // set: the version has no data, and never will
	dirty      bool          // not on disk yet
	next, prev *resident
}

func (r *resident) weight() int64 { return int64(len(r.data)) + versionOverhead }

// queue is a ring of residents through a head that holds none.
type queue struct {
	head  resident
	bytes int64
}

func (q *queue) init() {
	q.head.next, q.head.prev = &q.head, &q.head
	q.bytes = 0
}

// first returns the resident that came first, nil if there is none.
func (q *queue) first() *resident { return q.after(&q.head) }

// after returns the resident behind another, nil if that is the last.
func (q *queue) after(r *resident) *resident {
	if r.next == &q.head {
		return nil
	}
	return r.next
}

// push puts a resident at the end.
func (q *queue) push(r *resident) {
	r.prev, r.next = q.head.prev, &q.head
	r.prev.next, r.next.prev = r, r
	q.bytes += r.weight()
}

func (q *queue) remove(r *resident) {
	r.prev.next, r.next.prev = r.next, r.prev
	r.prev, r.next = nil, nil
	q.bytes -= r.weight()
}

// memory holds the data of versions: all that are not on disk yet, in the
// order in which they were put, and of the others those used last.
type memory struct {
	all    map[ref]*resident
	dirty  queue
	cached queue
	limit  int64 // of cached.bytes
}

func (m *memory) init(limit int64) {
	m.all = make(map[ref]*resident)
	m.dirty.init()
	m.cached.init()
	m.limit = limit
}

func (m *memory) of(r *resident) *queue {
	if r.dirty {
		return &m.dirty
	}
	return &m.cached
}

// get returns a version, nil if it is not here, and counts that as its last
// use.
func (m *memory) get(r ref) *resident {
	v := m.all[r]
	if v == nil {
		return nil
	}
	if !v.dirty {
		m.cached.remove(v)
		m.cached.push(v)
	}
	return v
}

// put adds a version, which is not here.
func (m *memory) put(v *resident) {
	m.all[v.ref] = v
	m.of(v).push(v)
	m.evict()
}

// drop forgets the data of a version, if it has any here.
func (m *memory) drop(r ref) {
	if v := m.all[r]; v != nil {
		m.of(v).remove(v)
		delete(m.all, r)
	}
}

// clean notes that a dirty version is on disk.
func (m *memory) clean(v *resident) {
	m.dirty.remove(v)
	v.dirty = false
	m.cached.push(v)
	m.evict()
}

func (m *memory) evict() {
	for m.cached.bytes > m.limit {
		m.drop(m.cached.first().ref)
	}
}

// batch returns the dirty versions that were put first and begin at or below
// stable, at most so many.
func (m *memory) batch(stable occ.Timestamp, most int) (batch []*resident) {
	for v := m.dirty.first(); v != nil && v.from <= stable && len(batch) < most; v = m.dirty.after(v) {
		batch = append(batch, v)
	}
	return batch
}
