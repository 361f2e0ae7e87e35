package history

import (
	"time"

	"github.com/tidemark/tidemark/occ"
)

// Kind is what a recorded transaction was and how it ended.
type Kind uint8

const (
	// ReadOnly is a finished local read-only transaction: it ran at every
	// timestamp in [Lo, Hi].
	ReadOnly Kind = iota
	// Validated is a transaction without writes that the server validated;
	// Commit is the stable timestamp that it was validated against.
	Validated
	// Committed is a read/write transaction with commit timestamp Commit.
	Committed
	// Aborted is an attempt that ended without effect. What it read is
	// still checked for opacity, unless NoOpacity is set.
	Aborted
	// InDoubt is an attempt to commit whose outcome the client never
	// learned: it is judged like Aborted, and forgives the history one
	// missing timestamp.
	InDoubt
)

// Event is one finished transaction or attempt, as a client saw it. Events
// of one client are recorded in the order in which they ended. The recorder
// owns nothing: Reads and Writes must not be changed after recording.
type Event struct {
	Client int
	Kind   Kind
	// Lo and Hi bound a read-only transaction; Commit is the timestamp of
	// the other kinds that have one.
	Lo, Hi, Commit occ.Timestamp
	Reads          []occ.Read
	Writes         []occ.BlockID
	// Begin and End are local times, for freshness. BeginSeq and EndSeq
	// count the begins and ends of the client in their order: a transaction
	// began after another ended when its BeginSeq is larger than the
	// other's EndSeq.
	Begin, End       time.Duration
	BeginSeq, EndSeq uint64
	// Epsilon is the freshness bound of a read-only transaction; negative
	// means unbounded.
	Epsilon time.Duration
	// Chosen is set when the program chose the timestamp of a read-only
	// transaction: Lo and Hi are it. How fresh it is, and whether it lies
	// before earlier transactions of the client, is then the program's affair.
	Chosen bool
	// NoOpacity is set when active aborts were switched off, so that an
	// attempt may have seen a torn state.
	NoOpacity bool
}

// Recorder receives the events of a run. Implementations that are shared by
// clients on several goroutines must lock.
type Recorder interface {
	Record(Event)
}
