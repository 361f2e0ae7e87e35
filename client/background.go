package client

import "time"

const (
	// keepAlive is after which silence of its own a client pings, so that the
	// server knows that it is there, and answers. It is less if
	// Options.Silence or the server asks for it.
	keepAlive = 10 * time.Second
	// minPeriod is the least time between two looks at the connection.
	minPeriod = time.Millisecond
)

// startBackground starts what a DB does by itself while it is open.
func (db *DB) startBackground() {
	if !db.opts.NoBackground {
		db.background.Go(db.tend)
	}
}

// quiet is after which silence of its own the client pings: three times in the
// silence that either side allows the other.
func (db *DB) quiet() time.Duration {
	silence := db.opts.silence()
	if s := db.core.Limits().Silence; s > 0 {
		silence = min(silence, s)
	}
	return min(keepAlive, max(silence/3, minPeriod))
}

// tend keeps the connection in use and, if asked, sync points young.
func (db *DB) tend() {
	silent := time.Duration(0)
	for {
		db.mu.Lock()
		quiet := db.quiet()
		period := quiet
		if r := db.opts.Refresh; r > 0 {
			period = min(period, max(r/2, minPeriod))
		}
		err := db.await(db.life, nil, period)
		if silent += period; db.sent {
			silent, db.sent = 0, false
		}
		age, known := db.core.SyncAge(db.clock())
		stale := db.opts.Refresh > 0 && (!known || age > db.opts.Refresh/2)
		if stale || silent >= quiet {
			db.core.Refresh(db.clock())
			db.flush()
		}
		db.mu.Unlock()
		if err != nil {
			return
		}
	}
}
