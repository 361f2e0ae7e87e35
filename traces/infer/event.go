package infer

import (
	"fmt"

	"github.com/tidemark/tidemark/traces"
)

// TxID numbers the transactions of a trace from 1, in the order in which they
// begin.
type TxID int64

// Kind says what happens to a transaction.
type Kind uint8

// The kinds of events.
const (
	Begin Kind = iota + 1 // the transaction begins
	Do                    // it carries out an operation
	End                   // it commits
)

// Class says whether a transaction writes.
type Class uint8

// The two classes.
const (
	ReadOnly Class = iota
	ReadWrite
)

// Origin says what made a transaction.
type Origin uint8

// The origins. Single covers all lines but Open, Close, Block and Commit, and
// every line but Commit in per-operation mode.
const (
	Single       Origin = iota // one line that is a transaction of its own
	ExplicitOpen               // an Open line
	ImplicitOpen               // a Block without an open
)

// Cause says why a transaction ended.
type Cause uint8

// The causes. Done is that of a transaction of one operation.
const (
	Done       Cause = iota
	Closed           // a Close line
	Reopened         // an Open line for the same file and host
	AttrRead         // an Attr READ or a Lookup, which ends an implicit open
	Deleted          // a Delete or Rmdir of the file
	Committed        // a Commit, which ends an implicit open that writes
	TimedOut         // 120 s have passed
	Full             // it would write more than MaxWritten
	EndOfTrace       // the trace is over
)

// Event is one step of one transaction.
type Event struct {
	Kind   Kind
	Tx     TxID
	Time   int64 // microseconds since 1970
	Host   uint32
	Class  Class
	Origin Origin
	Cause  Cause // End only

	// Op is what to do, in a Do event, and in a Begin event the line that
	// made the transaction. To be done, an operation of type Open or Close
	// means: read the file's inode. One comes as the only operation of an
	// explicit open without a Block, at its begin; an open that has Blocks
	// has only those. In per-operation mode each Open and Close comes. A
	// Commit never does.
	Op traces.Op

	// Waits, in the Begin of a Delete or Rmdir, are the opens that it ended
	// and whose commits it waits for, in ascending order.
	Waits []TxID
}

// name returns the one of names that n is the index of.
func name(n uint8, names ...string) string {
	if int(n) < len(names) {
		return names[n]
	}
	return fmt.Sprintf("unknown(%d)", n)
}

// String returns the kind in lower case.
func (k Kind) String() string { return name(uint8(k), "none", "begin", "do", "end") }

// String returns the class as it is usually written.
func (c Class) String() string { return name(uint8(c), "read-only", "read/write") }

// String returns the origin in words.
func (o Origin) String() string { return name(uint8(o), "single", "explicit open", "implicit open") }

// String returns the cause in words.
func (c Cause) String() string {
	return name(uint8(c), "done", "closed", "reopened", "attribute read", "deleted", "committed", "timed out", "full", "end of trace")
}

// String returns the event as one line, for tests and debugging.
func (e Event) String() string {
	s := fmt.Sprintf("%d.%06d %s tx %d", e.Time/1_000_000, e.Time%1_000_000, e.Kind, e.Tx)
	switch e.Kind {
	case Begin:
		s += fmt.Sprintf(" host %d %s, %s", e.Host, e.Class, e.Origin)
		if len(e.Waits) > 0 {
			s += fmt.Sprintf(", waits for %d", e.Waits)
		}
	case Do:
		s += fmt.Sprintf(" %s %s %s line %d", e.Op.Type, e.Op.Action, e.Op.FID, e.Op.Line)
	case End:
		s += " " + e.Cause.String()
	}
	return s
}
