package infer

import "github.com/tidemark/tidemark/traces"

// Timeout is how long in microseconds an open lasts at most.
const Timeout int64 = 120_000_000

const (
	// MaxWritten is how many bytes an open writes at most, in whole pages of
	// pageSize: before a Block that would bring it above, it ends, and another
	// one begins. No server takes a transaction of any size.
	MaxWritten int64 = 8 << 20
	pageSize         = 4096
)

// machine turns operations in order of time into steps.
type machine struct {
	perOperation bool
	counting     bool // steps are counted, not kept
	opens        table
	openCount    int
	lastID       TxID
	now          int64 // time of the newest operation
	queue        queue
	counts       Counts
}

// operation takes the next operation.
func (m *machine) operation(op traces.Op) {
	m.counts.Operations++
	m.now = op.Time
	m.expire()
	if m.perOperation {
		if op.Type == traces.Commit {
			m.counts.IdleCommits++
			return
		}
		m.single(op, nil)
		return
	}
	mine := m.opens.of(op)
	switch op.Type {
	case traces.Open:
		if mine != nil {
			m.end(mine, op.Time, Reopened)
		}
		m.begin(op, ExplicitOpen)
	case traces.Close:
		if mine == nil {
			m.counts.UnmatchedCloses++
			return
		}
		m.end(mine, op.Time, Closed)
	case traces.Block:
		written := written(op)
		switch {
		case mine == nil:
			mine = m.begin(op, ImplicitOpen)
		case mine.written > 0 && mine.written+written > MaxWritten:
			m.end(mine, op.Time, Full)
			mine = m.begin(op, mine.orig)
		}
		mine.empty = false
		mine.write = mine.write || op.Action == traces.Write
		mine.written += written
		m.push(step{what: openDoes, open: mine, op: op})
	case traces.Attr, traces.Lookup:
		if op.Action == traces.Read && mine != nil && mine.orig == ImplicitOpen {
			m.end(mine, op.Time, AttrRead)
		}
		m.single(op, nil)
	case traces.Delete, traces.Rmdir:
		m.single(op, m.endFile(op))
	case traces.Commit:
		if mine == nil || mine.orig != ImplicitOpen || !mine.write {
			m.counts.IdleCommits++
			return
		}
		m.end(mine, op.Time, Committed)
	default: // Dir, Truncate, and what makes or renames files
		m.single(op, nil)
	}
}

// finish takes the end of the trace.
func (m *machine) finish() {
	for o := m.opens.all.head; o != nil; o = m.opens.all.head {
		m.end(o, m.now, EndOfTrace)
	}
}

// expire ends the opens whose time is over. Each began at least Timeout+1
// before now, so their ends are not in the future.
func (m *machine) expire() {
	for o := m.opens.all.head; o != nil && m.now-o.first.Time > Timeout; o = m.opens.all.head {
		m.end(o, o.first.Time+Timeout+1, TimedOut)
	}
}

// written is the size of the pages that a Block WRITE touches, 0 for a READ.
func written(op traces.Op) int64 {
	if op.Action != traces.Write || op.Size == 0 {
		return 0
	}
	return ((op.End()-1)/pageSize - op.Off/pageSize + 1) * pageSize
}

// push keeps a step until its turn, or counts it.
func (m *machine) push(s step) {
	switch {
	case !m.counting:
		m.queue.push(s)
	case s.what == single:
		m.counts.begun(classOf(s.op), Single)
	case s.what == openEnds:
		m.counts.begun(s.open.class(), s.open.orig)
		if s.open.empty {
			m.counts.EmptyOpens++
		}
	}
}

func (m *machine) nextID() TxID {
	m.lastID++
	return m.lastID
}

func (m *machine) begin(op traces.Op, orig Origin) *open {
	o := &open{id: m.nextID(), first: op, orig: orig, empty: true}
	m.opens.add(o)
	m.openCount++
	m.counts.MaxOpen = max(m.counts.MaxOpen, m.openCount)
	m.push(step{what: openBegins, open: o})
	return o
}

func (m *machine) end(o *open, time int64, cause Cause) {
	m.opens.remove(o)
	m.openCount--
	o.ended, o.cause = true, cause
	m.counts.ended(cause)
	m.push(step{what: openEnds, open: o, op: traces.Op{Time: time}})
}

// endFile ends every open of the operation's file, oldest first, and returns
// their ids.
func (m *machine) endFile(op traces.Op) []TxID {
	var ids []TxID
	for o := m.opens.files[op.FID].head; o != nil; o = m.opens.files[op.FID].head {
		ids = append(ids, o.id)
		m.end(o, op.Time, Deleted)
	}
	m.counts.LongestWaitList = max(m.counts.LongestWaitList, len(ids))
	return ids
}

func (m *machine) single(op traces.Op, waits []TxID) {
	m.push(step{what: single, id: m.nextID(), op: op, waits: waits})
}

// classOf returns the class of an operation that is a transaction of its own.
func classOf(op traces.Op) Class {
	switch op.Type {
	case traces.Delete:
		return ReadWrite
	case traces.Open, traces.Close:
		return ReadOnly
	}
	if op.Action == traces.Write {
		return ReadWrite
	}
	return ReadOnly
}
