package take

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tidemark/tidemark/backup"
	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
)

const (
	// DefaultLease is how long the pin of a backup outlives a program that
	// was killed.
	DefaultLease = 10 * time.Minute
	// maxBatchBytes is how much data is asked for at a time.
	maxBatchBytes = 4 << 20
	// unpinTime is how long the end of the pin may take.
	unpinTime = 5 * time.Second
)

// Options of Backup; the zero value makes a full backup.
type Options struct {
	// Since is the timestamp from which on changes are wanted, which may be
	// older than all that can be read; 0 makes a full backup.
	Since occ.Timestamp
	// Earlier, if set, is the backup that this one goes on from, in place of
	// Since.
	Earlier *backup.Header
	// Lease is for how long the timestamp is pinned at a time, 0 for
	// DefaultLease.
	Lease time.Duration
	// Progress is called every now and then with how many blocks have been
	// read, and how many the store has.
	Progress func(done, store uint64)

	renew <-chan time.Time // tells when to renew the lease; for tests
}

// Result is what was backed up.
type Result struct {
	backup.Header
	backup.Summary
	// Pinned is the name under which the timestamp is still pinned, if that
	// could not be ended: then it ends with its lease.
	Pinned string
}

// MismatchError says that the store is not the one, or no longer the one, that
// a backup is to go on from.
type MismatchError struct{ Reason string }

// Error returns one line.
func (e *MismatchError) Error() string {
	return "the backup cannot go on from the earlier one: " + e.Reason
}

// Backup writes a backup of the newest timestamp. That is pinned under a name
// of its own meanwhile, whose lease is renewed. Errors are those of the DB,
// *backup.HeaderError, *MismatchError, *DamagedError, and those of w; what was written then
// has no end and is no backup.
func Backup(ctx context.Context, db *client.DB, w io.Writer, o Options) (result Result, err error) {
	lease := o.Lease
	if lease <= 0 {
		lease = DefaultLease
	}
	name := fmt.Sprintf("backup-%s-%.8s", time.Now().UTC().Format("20060102T150405Z"), rand.Text())
	at, err := db.Pin(ctx, name, client.PinOptions{Lease: lease})
	if err != nil {
		return Result{}, fmt.Errorf("pin a timestamp: %w", err)
	}
	ctx, fail := context.WithCancelCause(ctx)
	renewing := make(chan struct{})
	go func() {
		defer close(renewing)
		renew(ctx, fail, db, name, client.PinOptions{At: at, Lease: lease}, o.renew)
	}()
	defer func() {
		fail(nil)
		<-renewing
		unpinned, done := context.WithTimeout(context.WithoutCancel(ctx), unpinTime)
		defer done()
		if db.Unpin(unpinned, name) != nil {
			result.Pinned = name
		}
	}()
	j := job{db: db, o: o}
	if err := j.begin(ctx, at); err != nil {
		return Result{}, err
	}
	if result, err = j.run(ctx, w); err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = context.Cause(ctx)
	}
	return result, err
}

// renew begins the lease of a pin anew until ctx ends. If it cannot, it makes
// ctx end, with the reason.
func renew(ctx context.Context, fail context.CancelCauseFunc, db *client.DB, name string, o client.PinOptions, ticks <-chan time.Time) {
	if ticks == nil {
		t := time.NewTicker(max(1, o.Lease/4))
		defer t.Stop()
		ticks = t.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		if _, err := db.Pin(ctx, name, o); err != nil && ctx.Err() == nil {
			fail(fmt.Errorf("keep the timestamp pinned: %w", err))
			return
		}
	}
}
