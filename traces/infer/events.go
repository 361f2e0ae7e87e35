package infer

import (
	"fmt"
	"io"
	"iter"

	"github.com/tidemark/tidemark/traces"
)

// Options say how to infer. The zero value is the usual way.
type Options struct {
	// PerOperation makes every operation a transaction of its own.
	PerOperation bool
	// MaxBuffered bounds the lines and ends that are held back plus the
	// opens under way, at about 200 bytes each. Beyond it the trace is
	// refused with a LookaheadError. 0 means 4,194,304, which is 120 s of
	// some 30,000 operations a second.
	MaxBuffered int
}

const defaultMaxBuffered = 1 << 22

// LookaheadError says that a trace has too much going on at one time for the
// classes of its transactions to be told in bounded memory.
type LookaheadError struct {
	Limit int   // Options.MaxBuffered
	Line  int64 // the line at which it was reached
}

func (e *LookaheadError) Error() string {
	return fmt.Sprintf("line %d: more than %d operations and opens within %d s", e.Line, e.Limit, Timeout/1_000_000)
}

// Events is the stream of what the transactions of a trace do.
type Events struct {
	src     *traces.Reorder
	limit   int
	machine machine
	srcDone error
	pending [3]Event // of the step at hand, those from next on are to come
	next    int
}

// NewEvents infers the transactions of the operations in src, which need not
// be in order of time.
func NewEvents(src traces.Stream, opt Options) *Events {
	limit := opt.MaxBuffered
	if limit <= 0 {
		limit = defaultMaxBuffered
	}
	return &Events{
		src:     traces.NewReorder(src),
		limit:   limit,
		machine: machine{perOperation: opt.PerOperation, opens: newTable()},
		next:    3,
	}
}

// Next returns the next event, and io.EOF after the last. An error of the
// source is final; it comes as soon as the source gives it, so that of a
// damaged trace the last transactions stay unfinished.
func (e *Events) Next() (Event, error) {
	for e.next == len(e.pending) {
		if err := e.advance(); err != nil {
			return Event{}, err
		}
	}
	ev := e.pending[e.next]
	e.pending[e.next] = Event{}
	e.next++
	return ev, nil
}

// All ranges over the rest of the events. It stops at the end or after the
// first error, which comes with a zero Event.
func (e *Events) All() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			ev, err := e.Next()
			if err == io.EOF {
				return
			}
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// Counts returns the counts so far.
func (e *Events) Counts() Counts {
	c := e.machine.counts
	c.ReorderCounts = e.src.Counts()
	return c
}

// advance takes one operation in, or lets one step out if the oldest is ready.
func (e *Events) advance() error {
	if e.srcDone != nil && e.srcDone != io.EOF {
		return e.srcDone
	}
	q := &e.machine.queue
	if q.size > 0 {
		if f := q.front(); f.what != openBegins || f.open.decided() {
			e.expand(q.pop())
			return nil
		}
	}
	if e.srcDone != nil {
		return e.srcDone
	}
	op, err := e.src.Next()
	switch {
	case err == io.EOF:
		e.srcDone = err
		e.machine.finish()
		return nil
	case err != nil:
		e.srcDone = err
		return err
	}
	e.machine.operation(op)
	e.machine.counts.MaxBuffered = max(e.machine.counts.MaxBuffered, q.size)
	if q.size+e.machine.openCount > e.limit {
		e.srcDone = &LookaheadError{Limit: e.limit, Line: op.Line}
		return e.srcDone
	}
	return nil
}

// expand makes the events of a step pending, up to three.
func (e *Events) expand(s step) {
	if s.what == single {
		ev := Event{Tx: s.id, Time: s.op.Time, Host: s.op.Host, Class: classOf(s.op), Origin: Single}
		e.emit(e.begin(ev, s.op, s.waits), do(ev, s.op), end(ev, Done))
		return
	}
	o := s.open
	ev := Event{Tx: o.id, Time: s.op.Time, Host: o.first.Host, Class: o.class(), Origin: o.orig}
	switch s.what {
	case openBegins:
		ev.Time = o.first.Time
		if o.empty {
			e.machine.counts.EmptyOpens++
			e.emit(e.begin(ev, o.first, nil), do(ev, o.first))
			return
		}
		e.emit(e.begin(ev, o.first, nil))
	case openDoes:
		e.emit(do(ev, s.op))
	default: // openEnds
		e.emit(end(ev, o.cause))
	}
}

func (e *Events) emit(events ...Event) {
	e.next = len(e.pending) - len(events)
	copy(e.pending[e.next:], events)
}

func (e *Events) begin(ev Event, op traces.Op, waits []TxID) Event {
	e.machine.counts.begun(ev.Class, ev.Origin)
	ev.Kind, ev.Op, ev.Waits = Begin, op, waits
	return ev
}

func do(ev Event, op traces.Op) Event {
	ev.Kind, ev.Op = Do, op
	return ev
}

func end(ev Event, cause Cause) Event {
	ev.Kind, ev.Cause = End, cause
	return ev
}
