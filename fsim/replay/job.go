package replay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/fsim"
	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/infer"
)

// pendingOp is an operation of a job with the number of its event.
type pendingOp struct {
	traces.Op
	event int
}

// job is one transaction of the trace.
type job struct {
	r     *Runner
	id    infer.TxID
	host  *host
	class infer.Class
	line  traces.Op // that made the transaction
	call  client.Call

	// Guarded by r.mu:
	ops      []pendingOp
	ended    bool
	endEvent int
	waits    int    // earlier transactions that must end first
	next     []*job // those that wait for this one
	told     int    // operations whose events were reported as finished
	failed   bool   // given up before its End event

	busy time.Duration
}

// attempt is one try at a job's transaction.
type attempt struct {
	job         *job
	tx          *client.Tx
	changed     map[traces.FID]fsim.Handle
	moves       []move
	absent, odd int64
}

func (j *job) run() {
	err := j.waitForEarlier()
	tries := 0
	for err == nil {
		tries++
		if err = j.try(); err == nil {
			break
		}
		if !fatal(err) && !hopeless(err) && tries < j.r.opt.MaxAttempts {
			err = nil
			continue
		}
	}
	j.finish(tries, err)
}

func (j *job) waitForEarlier() error {
	for {
		j.r.mu.Lock()
		n := j.waits
		j.r.mu.Unlock()
		if n == 0 {
			return nil
		}
		if err := j.r.exec.Await(j.call); err != nil {
			return err
		}
	}
}

// try runs the transaction once, from its first operation on.
func (j *job) try() error {
	a := &attempt{job: j}
	begin := j.host.db.Begin
	if j.class == infer.ReadOnly {
		begin = j.host.db.BeginView
	}
	var err error
	if a.tx, err = begin(context.Background(), client.OnAbort(j.call.Wake)); err != nil {
		return err
	}
	defer a.tx.Abort()
	for done := 0; ; {
		j.r.mu.Lock()
		op, more, ended := pendingOp{}, done < len(j.ops), j.ended
		if more {
			op = j.ops[done]
		}
		j.r.mu.Unlock()
		switch {
		case more:
			err = j.timed(func() error { return a.perform(op.Op) })
			if err == nil {
				done++
				j.operationDone(done)
			}
		case ended:
			err = j.timed(a.tx.Commit)
			if err == nil {
				a.publish()
				return nil
			}
		default:
			if err = a.tx.Err(); err == nil {
				err = j.r.exec.Await(j.call)
			}
		}
		if errors.Is(err, client.ErrGone) {
			// Not an abort: the snapshot has become too old.
			j.r.mu.Lock()
			j.r.counts.Restarts++
			j.r.mu.Unlock()
			if err = a.tx.Restart(); err == nil {
				done, *a = 0, attempt{job: j, tx: a.tx}
				continue
			}
		}
		if err != nil {
			return err
		}
	}
}

// timed runs f and adds what it took to the job's busy time.
func (j *job) timed(f func() error) error {
	if j.r.opt.Now == nil {
		return f()
	}
	start := j.r.opt.Now()
	err := f()
	j.busy += j.r.opt.Now() - start
	return err
}

// operationDone reports the events of the first n operations as finished.
func (j *job) operationDone(n int) {
	if j.r.opt.Finished == nil {
		return
	}
	j.r.mu.Lock()
	defer j.r.mu.Unlock()
	for ; j.told < n; j.told++ {
		j.r.finished(j.ops[j.told].event)
	}
}

// publish makes known what a committed attempt created and deleted. Commits
// may be published in another order than they happened in: the newest wins.
func (a *attempt) publish() {
	r, at := a.job.r, a.tx.CommitTimestamp()
	r.mu.Lock()
	defer r.mu.Unlock()
	for fid, h := range a.changed {
		if r.volume.files[fid].since <= at {
			r.volume.files[fid] = file{h, at}
		}
	}
	for _, m := range a.moves {
		r.volume.moved(m.fid, m.place, m.there)
	}
	r.counts.Absent += a.absent
	r.counts.Odd += a.odd
}

func (j *job) finish(tries int, err error) {
	r := j.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if j.ended {
		delete(r.jobs, j.id)
	} else {
		j.failed = true
	}
	c := &r.counts
	c.Attempts += int64(tries)
	c.Operations += int64(len(j.ops))
	if tries > 1 {
		c.Aborted++
	}
	switch {
	case err != nil && fatal(err):
		c.Failed++
		if r.err == nil { // the first says most: others often follow from it
			r.err = fmt.Errorf("transaction %d: %w", j.id, err)
		}
	case err != nil:
		c.Failed++
	case j.class == infer.ReadOnly:
		c.ReadOnly++
	default:
		c.ReadWrite++
	}
	if err == nil && r.opt.Latency != nil {
		r.opt.Latency(j.class, j.busy)
	}
	r.order.leave(j)
	for _, n := range j.next {
		n.waits--
		n.call.Wake()
	}
	for ; j.told < len(j.ops); j.told++ {
		r.finished(j.ops[j.told].event)
	}
	if j.ended {
		r.finished(j.endEvent)
	}
}
