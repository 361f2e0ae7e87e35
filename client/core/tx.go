package core

import (
	"math"
	"time"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// Unbounded is the freshness bound ε = ∞: a read-only transaction may run at
// any timestamp that the cache can serve.
const Unbounded = time.Duration(math.MaxInt64)

// Waker is told that a wait is over. Wake is called with the Core in use: it
// must not block and must not call the Core.
type Waker interface{ Wake() }

// State is where a transaction stands.
type State uint8

// The states of a transaction.
const (
	Running    State = iota
	Committing       // queued: only the server decides now
	Committed
	Aborted
	InDoubt // the connection was lost between queueing and answer
)

// inlineReads is how many reads a transaction holds without a further
// allocation.
const inlineReads = 6

// mapReads is the read-set size from which a map replaces the linear search.
const mapReads = 24

// Tx is a transaction. Its fields are the Core's; callers read them through
// the methods.
type Tx struct {
	core     *Core
	readOnly bool // local, section 5; else validated, section 6
	state    State
	loKnown  bool
	gone     bool // a version it asked for has left the retention window
	fixed    bool // read-only, at the one timestamp that its owner chose
	recorded bool
	urgent   bool // asks the server to hold others back if it loses again
	doomed   bool // urgent, and a version that it read has been superseded
	suspect  bool // its commit may be what the server cannot read

	// A read-only transaction:
	snap    occ.Snapshot
	epsilon time.Duration
	begun   time.Duration
	closes  uint64 // Core.closes as of the last look at the read set

	// What the transaction saw and will write:
	reads     []*version
	readsBuf  [inlineReads]*version
	readIndex map[occ.BlockID]*version
	writes    []occ.Write
	writeAt   map[occ.BlockID]int

	// What it waits for:
	waiting int
	waker   Waker

	// How it ended:
	reason    occ.AbortReason
	conflicts []occ.Read
	refusal   *Refusal
	commitAt  occ.Timestamp
	goneAt    occ.Timestamp // what was gone,
	oldest    occ.Timestamp // and the oldest timestamp that was not
	commit    *wire.Commit  // once queued, to be sent again after a reconnection
	onAbort   func()

	beginSeq   uint64
	prev, next *Tx // the Core's list of running transactions
}

// ReadOnly reports whether the transaction is a local read-only one.
func (t *Tx) ReadOnly() bool { return t.readOnly }

// Fixed reports whether the transaction runs at a timestamp that its owner
// chose.
func (t *Tx) Fixed() bool { return t.fixed }

// State says where the transaction stands.
func (t *Tx) State() State { return t.state }

// LowerBoundKnown reports whether a read-only transaction knows the oldest
// timestamp at which it may run.
func (t *Tx) LowerBoundKnown() bool { return t.loKnown }

// Epsilon is the freshness bound of a read-only transaction.
func (t *Tx) Epsilon() time.Duration { return t.epsilon }

// Waiting reports whether something the transaction asked for is under way.
func (t *Tx) Waiting() bool { return t.waiting > 0 }

// Reason says why the transaction aborted.
func (t *Tx) Reason() occ.AbortReason { return t.reason }

// Conflicts names the blocks that changed, with what is known of their newest
// versions, after AbortConflict or AbortActive.
func (t *Tx) Conflicts() []occ.Read { return t.conflicts }

// Refusal says why the server would not take the commit, after AbortRefused.
func (t *Tx) Refusal() *Refusal { return t.refusal }

// CommitAt is the timestamp of a committed read/write transaction.
func (t *Tx) CommitAt() occ.Timestamp { return t.commitAt }

// Writes reports whether the transaction wrote anything.
func (t *Tx) Writes() bool { return len(t.writes) > 0 }

// Size is the number of blocks read and written, and an upper bound of the
// bytes that a commit of the transaction takes on the wire.
func (t *Tx) Size() (reads, writes, bytes int) {
	const entry = 20 // an id and a timestamp as varints
	bytes = entry * (len(t.reads) + len(t.writes))
	for _, w := range t.writes {
		bytes += len(w.Data)
	}
	return len(t.reads), len(t.writes), bytes
}

// Range is [lo, hi], the timestamps at which a read-only transaction may be
// said to have run so far.
func (t *Tx) Range() (lo, hi occ.Timestamp) {
	t.core.settle(t)
	return t.snap.Lo, t.snap.Hi(t.core.glub)
}

// SetWaker sets who is told when a wait of the transaction is over.
func (t *Tx) SetWaker(w Waker) { t.waker = w }

// OnAbort sets a function that is called once if the transaction is aborted
// by anything but its owner. It must not block and must not call the Core.
func (t *Tx) OnAbort(f func()) { t.onAbort = f }

// Urgent marks a read/write transaction that lost several times; call it right
// after Begin. Its commit asks the server to hold others back if it conflicts
// again. So that the server learns of its whole read set, it runs on when a
// version in that is superseded: from then on it reads at the newest timestamp
// at which all that it read is valid, as a read-only transaction does.
func (t *Tx) Urgent() { t.urgent = true }

// atSnapshot reports whether t reads within the range of its snapshot, and not
// always the newest version.
func (t *Tx) atSnapshot() bool { return t.readOnly || t.doomed }

// doom makes t, which will hardly commit any more, go on at a snapshot.
func (c *Core) doom(t *Tx) {
	if t.doomed {
		return // what closes later ends later
	}
	t.doomed, t.loKnown = true, true
	for _, v := range t.reads {
		t.snap.Admit(v.Interval)
	}
}

// Begin starts a transaction at local time now and puts it into t, which the
// caller allocated. A read-only one may run at most epsilon in the past;
// Unbounded lets it run anywhere.
func (c *Core) Begin(t *Tx, readOnly bool, epsilon, now time.Duration) {
	c.seq++
	*t = Tx{core: c, readOnly: readOnly, epsilon: epsilon, begun: now, beginSeq: c.seq, closes: c.closes}
	t.reads = t.readsBuf[:0]
	if readOnly {
		t.snap.Lo = c.floor
		if epsilon == Unbounded {
			t.loKnown = true
		} else {
			c.findLo(t)
		}
	}
	t.prev, t.next = c.running.prev, &c.running
	t.prev.next, t.next.prev = t, t
	c.runningCount++
}

// BeginAt starts a read-only transaction that runs at exactly at, which must
// not be above the GLUB, and puts it into t. It asks for no freshness, and the
// causality floor does not bound it; it raises the floor like any other.
func (c *Core) BeginAt(t *Tx, at occ.Timestamp, now time.Duration) {
	c.Begin(t, true, Unbounded, now)
	t.fixed, t.snap = true, occ.SnapshotAt(at)
}

// Restart begins t anew after it met "gone": its versions are given up and it
// runs at the GLUB or later, where every version exists.
func (c *Core) Restart(t *Tx) {
	c.raiseFloorSeen(t)
	c.release(t)
	c.seq++
	c.stats.Restarts++
	t.beginSeq = c.seq
	t.gone = false
	t.recorded = false
	t.closes = c.closes
	t.snap = occ.Snapshot{Lo: max(c.glub, c.floor)}
	t.loKnown = true
}

// findLo looks for a sync point that bounds t's age (section 4).
func (c *Core) findLo(t *Tx) {
	if t.loKnown {
		return
	}
	if lo, ok := c.syncs.after(t.begun - t.epsilon); ok {
		t.snap.Lo = max(t.snap.Lo, lo)
		t.loKnown = true
	}
}

// settle takes into account what has closed since t last looked.
func (c *Core) settle(t *Tx) {
	if !t.readOnly || t.closes == c.closes {
		return
	}
	t.closes = c.closes
	for _, v := range t.reads {
		if v.To != occ.Open {
			t.snap.Close(v.To)
		}
	}
}

// seen returns the version of b that t has read, or nil.
func (t *Tx) seen(b occ.BlockID) *version {
	if t.readIndex != nil {
		return t.readIndex[b]
	}
	for _, v := range t.reads {
		if v.block == b {
			return v
		}
	}
	return nil
}

// admit adds v to the read set.
func (c *Core) admit(t *Tx, v *version) {
	c.cache.pin(v)
	t.reads = append(t.reads, v)
	if t.readIndex != nil {
		t.readIndex[v.block] = v
	} else if len(t.reads) >= mapReads {
		t.readIndex = make(map[occ.BlockID]*version, 2*mapReads)
		for _, r := range t.reads {
			t.readIndex[r.block] = r
		}
	}
	if t.atSnapshot() {
		t.snap.Admit(v.Interval)
	}
}

// readSet is the read set in the order of the reads.
func (t *Tx) readSet() []occ.Read {
	set := make([]occ.Read, len(t.reads))
	for i, v := range t.reads {
		set[i] = occ.Read{Block: v.block, From: v.From}
	}
	return set
}

// release unpins what t has read.
func (c *Core) release(t *Tx) {
	for i, v := range t.reads {
		c.cache.unpin(v)
		t.reads[i] = nil
	}
	t.reads = t.reads[:0]
	t.readIndex = nil
}

// end takes t off the list of running transactions.
func (c *Core) end(t *Tx) {
	c.release(t)
	if t.prev != nil {
		t.prev.next, t.next.prev = t.next, t.prev
		t.prev, t.next = nil, nil
		c.runningCount--
	}
}

var stateNames = [...]string{"running", "committing", "committed", "aborted", "in doubt"}

// String names the state.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "unknown"
}
