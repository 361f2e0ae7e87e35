package chaos

import (
	"context"
	"errors"
	"fmt"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ/history"
)

// Result is what a fleet did and saw.
type Result struct {
	Acknowledged int64 // commits
	Unknown      int64 // commits whose outcome the library could not tell
	Views        int64 // transactions of the readers
	Reconnects   uint64
	Resent       uint64 // commits that were sent again
	History      history.Result
}

// String returns one line.
func (r Result) String() string {
	return fmt.Sprintf("%d commits acknowledged, %d of unknown outcome, %d views; %d reconnections, %d commits sent again; %v",
		r.Acknowledged, r.Unknown, r.Views, r.Reconnects, r.Resent, r.History)
}

// Stop lets every client finish what it is at, compares the counters with the
// acknowledgements, closes the clients and judges the history. The error says
// what is wrong, first of all.
func (f *Fleet) Stop(ctx context.Context) (Result, error) {
	f.reached(func() { f.stopped = true })
	stop := context.AfterFunc(ctx, f.cancel)
	defer stop()
	f.running.Wait()
	var r Result
	for _, c := range f.counters {
		r.Acknowledged += c.acked
		r.Unknown += c.doubts
		r.add(c.db)
	}
	for _, l := range f.readers {
		r.Views += l.done
		r.add(l.db)
	}
	err := f.err
	if err == nil {
		err = f.compare(ctx)
	}
	err = errors.Join(err, f.end())
	r.History = f.check.Finish()
	return r, errors.Join(err, r.History.Err())
}

func (r *Result) add(db *client.DB) {
	s := db.Stats()
	r.Reconnects += s.Reconnects
	r.Resent += s.Resent
}

// end closes all clients.
func (f *Fleet) end() (err error) {
	f.cancel()
	for _, c := range f.counters {
		err = errors.Join(err, c.db.Close())
	}
	for _, r := range f.readers {
		err = errors.Join(err, r.db.Close())
	}
	return err
}

// compare reads every counter with a client that knows nothing yet. Each has
// to be exactly what the clients know to have happened.
func (f *Fleet) compare(ctx context.Context) error {
	db, err := f.dial(ctx, f.opts.Clients+len(f.opts.Bounds), 0)
	if err != nil {
		return err
	}
	shared := make([]uint64, f.opts.Shared)
	wrong := db.View(ctx, func(tx *client.Tx) error {
		for _, c := range f.counters {
			found, err := read(tx, c.block())
			if err != nil {
				return err
			}
			if found != c.own {
				return fmt.Errorf("the counter of client %d is %+v; acknowledged were %+v", c.number, found, c.own)
			}
			for i, n := range c.shared {
				shared[i] += n
			}
		}
		for i, want := range shared {
			found, err := read(tx, block(i))
			if err != nil {
				return err
			}
			if found.all != want {
				return fmt.Errorf("shared counter %d is %d; acknowledged were %d", i, found.all, want)
			}
		}
		return nil
	})
	return errors.Join(wrong, db.Close())
}
