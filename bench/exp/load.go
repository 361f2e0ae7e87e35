package exp

import (
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
// blockSize bytes.
func NewLoad(name string, src traces.Source, blockSize int, perOperation bool, notes ...string) (*Load, error) {
	plan, err := replay.NewPlan(src, int64(blockSize))
	if err != nil {
		return nil, err
	}
	return &Load{Name: name, Notes: notes, Source: src, Plan: plan, PerOperation: perOperation}, nil
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
