package exp

import (
	"fmt"
	"time"

	"github.com/tidemark/tidemark/fsim/replay"
	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/infer"
)

// Load is a trace that is ready to be replayed, any number of times.
type Load struct {
	Name string
	// Notes are its limits, to be told beside every figure.
	Notes  []string
	Source traces.Source
	Plan   *replay.Plan
	// PerOperation makes every operation a transaction of its own.
	PerOperation bool
}

// NewLoad makes the first pass over a trace. The volume will have blocks of
// blockSize bytes. Lines that were skipped or moved in time, and names that
// cannot be, become notes.
func NewLoad(name string, src traces.Source, blockSize int, perOperation bool, notes ...string) (*Load, error) {
	plan, err := replay.NewPlan(src, int64(blockSize))
	if err != nil {
		return nil, err
	}
	l := &Load{Name: name, Notes: notes, Source: src, Plan: plan, PerOperation: perOperation}
	if plan.Skipped > 0 {
		l.Notes = append(l.Notes, fmt.Sprintf("lines skipped: %d, the first: %v.", plan.Skipped, plan.FirstSkipped))
	}
	if n := plan.Image.Clamped; n > 0 {
		l.Notes = append(l.Notes, fmt.Sprintf("lines out of order by more than %[2]v, and given a later time: %[1]d.",
			n, time.Duration(traces.ReorderWindow)*time.Microsecond))
	}
	if n := plan.Image.Misplaced; n > 0 {
		l.Notes = append(l.Notes, fmt.Sprintf("names in directories that cannot be, so that others were kept: %d.", n))
	}
	return l, nil
}

// Events opens the trace for one replay.
func (l *Load) Events() (*Events, error) {
	in, err := l.Source.Open()
	if err != nil {
		return nil, err
	}
	return &Events{Events: infer.NewEvents(in, infer.Options{PerOperation: l.PerOperation}), in: in}, nil
}

// Events is the stream of a trace's transactions.
type Events struct {
	*infer.Events
	in traces.Input
}

// Close closes the trace.
func (e *Events) Close() error { return e.in.Close() }
