package infer

import "github.com/tidemark/tidemark/traces"

// Timeout is how long in microseconds an open lasts at most.
const Timeout int64 = 120_000_000

// machine turns operations in order of time into steps.
type machine struct {
	perOperation bool
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
		if mine == nil {
			mine = m.begin(op, ImplicitOpen)
		}
		mine.empty = false
		mine.write = mine.write || op.Action == traces.Write
		m.queue.push(step{what: openDoes, open: mine, op: op})
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

func (m *machine) nextID() TxID {
	m.lastID++
	return m.lastID
}

func (m *machine) begin(op traces.Op, orig Origin) *open {
	o := &open{id: m.nextID(), first: op, orig: orig, empty: true}
	m.opens.add(o)
	m.openCount++
	m.counts.MaxOpen = max(m.counts.MaxOpen, m.openCount)
	m.queue.push(step{what: openBegins, open: o})
	return o
}

func (m *machine) end(o *open, time int64, cause Cause) {
	m.opens.remove(o)
	m.openCount--
	o.ended, o.cause = true, cause
	m.counts.ended(cause)
	m.queue.push(step{what: openEnds, open: o, op: traces.Op{Time: time}})
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
	m.queue.push(step{what: single, id: m.nextID(), op: op, waits: waits})
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
