package client

import "time"

// keepAlive is after which silence of its own a client pings, so that the
// server knows that it is there.
const keepAlive = 10 * time.Second

// startBackground starts what a DB does by itself while it is open.
func (db *DB) startBackground() {
	if !db.opts.NoBackground {
		db.background.Go(db.tend)
	}
}

// tend keeps the connection in use and, if asked, sync points young.
func (db *DB) tend() {
	period := keepAlive
	if r := db.opts.Refresh; r > 0 {
		period = min(period, r/2)
	}
	silent := time.Duration(0)
	for {
		db.mu.Lock()
		err := db.await(db.life, nil, period)
		if silent += period; db.sent {
			silent, db.sent = 0, false
		}
		age, known := db.core.SyncAge(db.clock())
		stale := db.opts.Refresh > 0 && (!known || age > db.opts.Refresh/2)
		if stale || silent >= keepAlive {
			db.core.Refresh(db.clock())
			db.flush()
		}
		db.mu.Unlock()
		if err != nil {
			return
		}
	}
}
