package client

import (
	"context"
	"errors"

	"github.com/tidemark/tidemark/occ"
)

// View runs fn in a read-only transaction. It may run again from the start:
// when a version that it needs has left the retention window, and in
// Conventional mode after a conflict; so fn must have no effects that matter
// before View returns nil. If fn returns an error, View returns it.
func (db *DB) View(ctx context.Context, fn func(*Tx) error, opts ...TxOption) error {
	return db.run(ctx, true, fn, opts)
}

// Update runs fn in a read/write transaction and commits it. After a conflict
// it runs fn again, after a growing random pause, up to Options.MaxAttempts
// times in all; from the eighth run on it asks the server to hold back other
// clients' commits to what it read, for a moment, should it lose again; so fn must have no effects that matter before Update returns
// nil. If fn returns an error of its own, nothing is written and Update
// returns it.
func (db *DB) Update(ctx context.Context, fn func(*Tx) error, opts ...TxOption) error {
	return db.run(ctx, false, fn, opts)
}

func (db *DB) run(ctx context.Context, view bool, fn func(*Tx) error, opts []TxOption) error {
	for attempt := 1; ; attempt++ {
		err := db.attempt(ctx, view, !view && attempt >= urgentAttempt, fn, opts)
		if err == nil {
			return nil
		}
		var aborted *AbortError
		if !errors.As(err, &aborted) || !aborted.retriable() {
			return err
		}
		aborted.Attempts = attempt
		if attempt >= db.opts.MaxAttempts {
			return err
		}
		if attempt >= urgentAttempt && aborted.Reason == occ.AbortConflict {
			continue // what it read may be reserved, but not for long
		}
		if err := db.pause(ctx, attempt); err != nil {
			return err
		}
	}
}

// attempt is one run of fn with its commit.
func (db *DB) attempt(ctx context.Context, view, urgent bool, fn func(*Tx) error, opts []TxOption) error {
	tx, err := db.begin(ctx, view, opts)
	if err != nil {
		return err
	}
	tx.managed = true
	if urgent {
		db.mu.Lock()
		tx.t.Urgent()
		db.mu.Unlock()
	}
	ended := false
	defer func() {
		if !ended { // fn panicked
			tx.abort()
		}
	}()
	err = fn(tx)
	for restarts := 0; tx.t.Gone() && !tx.t.Fixed() && restarts < DefaultMaxRestarts; restarts++ {
		if err := tx.Restart(); err != nil {
			break
		}
		err = fn(tx)
	}
	ended = true
	if err != nil {
		tx.abort()
		return err
	}
	if err := tx.Err(); tx.t.Gone() {
		tx.abort()
		return err
	}
	return tx.commit()
}

// pause waits before the next attempt.
func (db *DB) pause(ctx context.Context, attempt int) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	d := backoff(attempt, db.rng)
	if d == 0 {
		return ctx.Err()
	}
	return db.await(ctx, nil, d)
}
