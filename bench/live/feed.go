package live

import (
	"cmp"
	"context"
	"io"
	"time"

	"github.com/tidemark/tidemark/traces/infer"
)

// replay feeds the trace to the runner. Events are read and inferred in
// batches and what was recorded is checked between batches, both with the
// meter paused and nothing under way.
func (r *round) replay() error {
	events, err := r.load.Events()
	if err != nil {
		return err
	}
	defer events.Close()
	stop := context.AfterFunc(r.ctx, r.gate.open)
	defer stop()
	var fed int64
	for more := true; more; {
		batch := make([]infer.Event, 0, 1024)
		for len(batch) < batchEvents {
			e, err := events.Next()
			if err == io.EOF {
				more = false
				break
			}
			if err != nil {
				return err
			}
			batch = append(batch, e)
		}
		r.meter.start()
		err := r.feed(batch, &fed)
		if err == nil {
			r.gate.drain()
			if !more {
				err = r.exec.wait(r.ctx)
			}
		}
		r.meter.pause()
		if err = cmp.Or(context.Cause(r.ctx), r.runner.Err(), err, r.meter.err); err != nil {
			return err
		}
		r.judge()
	}
	return nil
}

func (r *round) feed(batch []infer.Event, fed *int64) error {
	for _, e := range batch {
		at := time.Duration(e.Time-r.load.Plan.First) * time.Microsecond
		if err := r.pace(at); err != nil {
			return err
		}
		r.gate.enter(at)
		if err := r.runner.Feed(e); err != nil {
			return err
		}
		if at-r.clock >= clockStep {
			r.clock = at
			if err := r.builder.SetServerClock(r.ctx, at); err != nil {
				return err
			}
		}
		for len(r.kills) > 0 && at >= r.kills[0] {
			r.kills = r.kills[1:]
			if err := r.crash(); err != nil {
				return err
			}
		}
		if e.Kind == infer.Do {
			if *fed++; r.o.Progress != nil && *fed%1024 == 0 {
				r.o.Progress(r.number, *fed)
			}
		}
	}
	return nil
}

// pace waits until an event's time has come in a replay at a given speed.
func (r *round) pace(at time.Duration) error {
	if r.o.Speed <= 0 {
		return context.Cause(r.ctx)
	}
	left := time.Duration(float64(at)/r.o.Speed) - time.Since(r.began)
	if left <= 0 {
		return context.Cause(r.ctx)
	}
	wait := time.NewTimer(left)
	defer wait.Stop()
	select {
	case <-wait.C:
		return nil
	case <-r.ctx.Done():
		return context.Cause(r.ctx)
	}
}
