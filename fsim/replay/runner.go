package replay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/fsim"
	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/infer"
)

// Exec runs transactions side by side: on coroutines in the simulator, on
// goroutines in a live run.
type Exec interface {
	// Go runs f.
	Go(f func())
	// NewCall returns something to wait for, and Await waits for it.
	NewCall() client.Call
	Await(client.Call) error
}

// Options of a Runner.
type Options struct {
	// MaxAttempts is how often a transaction may begin before it counts as
	// failed; 0 means 100.
	MaxAttempts int
	// Now, if set, is read to measure how long transactions take.
	Now func() time.Duration
	// Finished, if set, is told the number (counted from 0 in the order of
	// Feed) of each event whose effect is done. It must not block.
	Finished func(event int)
	// Latency, if set, receives how long a committed transaction was busy:
	// the time inside its operations and its commit, all attempts.
	Latency func(class infer.Class, busy time.Duration)
}

// Counts is what a Runner counts.
type Counts struct {
	ReadOnly   int64 `json:"read_only"`  // committed transactions
	ReadWrite  int64 `json:"read_write"` // committed transactions
	Attempts   int64 `json:"attempts"`
	Aborted    int64 `json:"aborted"` // transactions that aborted at least once
	Failed     int64 `json:"failed"`  // transactions given up after MaxAttempts
	Restarts   int64 `json:"restarts"`
	Operations int64 `json:"operations"`
	Absent     int64 `json:"absent"` // operations on files that did not exist
	Odd        int64 `json:"odd"`    // operations that do not fit the kind of file, or too large for it
}

// Runner replays the events of a trace on a volume.
type Runner struct {
	volume *Volume
	exec   Exec
	opt    Options
	hosts  map[uint32]*host

	mu     sync.Mutex // guards what follows, the jobs' mailboxes and volume.files
	jobs   map[infer.TxID]*job
	fed    int
	counts Counts
	err    error
}

// host is one host of the trace with its client library instance.
type host struct {
	db       *client.DB
	affinity uint32
	mu       sync.Mutex
	spare    []byte
}

// buffer lends a buffer for one read.
func (h *host) buffer(n int64) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.spare
	h.spare = nil
	if int64(cap(p)) < n {
		p = make([]byte, n)
	}
	return p[:n]
}

func (h *host) release(p []byte) {
	h.mu.Lock()
	h.spare = p
	h.mu.Unlock()
}

// NewRunner returns a Runner on a volume that was built for the trace. dbs
// has a client for each host of the trace.
func NewRunner(v *Volume, dbs map[uint32]*client.DB, exec Exec, o Options) *Runner {
	if o.MaxAttempts == 0 {
		o.MaxAttempts = 100
	}
	r := &Runner{volume: v, exec: exec, opt: o, hosts: make(map[uint32]*host), jobs: make(map[infer.TxID]*job)}
	for i, id := range slices.Sorted(maps.Keys(dbs)) {
		r.hosts[id] = &host{db: dbs[id], affinity: uint32(i)}
	}
	return r
}

// Feed hands over the next event of the trace, whose time has come. It does
// not wait for its effect.
func (r *Runner) Feed(e infer.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	number := r.fed
	r.fed++
	if e.Kind == infer.Begin {
		h := r.hosts[e.Host]
		if h == nil {
			return fmt.Errorf("host %d has no client", e.Host)
		}
		j := &job{r: r, host: h, class: e.Class, call: r.exec.NewCall()}
		for _, id := range e.Waits {
			if earlier := r.jobs[id]; earlier != nil {
				j.waits++
				earlier.next = append(earlier.next, j)
			}
		}
		r.jobs[e.Tx] = j
		j.id = e.Tx
		r.exec.Go(j.run)
		r.finished(number)
		return nil
	}
	j := r.jobs[e.Tx]
	if j == nil {
		return fmt.Errorf("an event of transaction %d, which is not running", e.Tx)
	}
	if j.failed {
		r.finished(number)
		if e.Kind == infer.End {
			delete(r.jobs, e.Tx)
		}
		return nil
	}
	if e.Kind == infer.End {
		j.ended, j.endEvent = true, number
	} else {
		j.ops = append(j.ops, pendingOp{e.Op, number})
	}
	j.call.Wake()
	return nil
}

// finished tells the caller; it may be called with mu held.
func (r *Runner) finished(event int) {
	if r.opt.Finished != nil {
		r.opt.Finished(event)
	}
}

// Counts returns a snapshot of the counters.
func (r *Runner) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}

// Err is what went wrong: an error that is not part of replaying, such as a
// corrupt file system or a lost connection.
func (r *Runner) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

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
		if !fatal(err) && tries < j.r.opt.MaxAttempts {
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
				done, a.absent, a.odd = 0, 0, 0
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

// Add adds the counters of o.
func (c *Counts) Add(o Counts) {
	c.ReadOnly += o.ReadOnly
	c.ReadWrite += o.ReadWrite
	c.Attempts += o.Attempts
	c.Aborted += o.Aborted
	c.Failed += o.Failed
	c.Restarts += o.Restarts
	c.Operations += o.Operations
	c.Absent += o.Absent
	c.Odd += o.Odd
}
