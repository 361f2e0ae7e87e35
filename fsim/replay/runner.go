package replay

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tidemark/tidemark/client"
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

// Runner replays the events of a trace on a volume.
type Runner struct {
	volume *Volume
	exec   Exec
	opt    Options
	hosts  map[uint32]*host

	mu     sync.Mutex // guards what follows, the jobs' mailboxes and volume.files and names
	jobs   map[infer.TxID]*job
	order  order
	fed    int
	counts Counts
	err    error
}

// NewRunner returns a Runner on a volume that was built for the trace. dbs
// has a client for each host of the trace.
func NewRunner(v *Volume, dbs map[uint32]*client.DB, exec Exec, o Options) *Runner {
	if o.MaxAttempts == 0 {
		o.MaxAttempts = 100
	}
	r := &Runner{volume: v, exec: exec, opt: o, hosts: make(map[uint32]*host), jobs: make(map[infer.TxID]*job), order: newOrder()}
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
		j := &job{r: r, host: h, class: e.Class, line: e.Op, call: r.exec.NewCall()}
		for _, id := range e.Waits {
			j.waitFor(r.jobs[id])
		}
		r.arrange(j)
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
