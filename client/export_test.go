package client

import "time"

// BootClock is the clock of a DB whose options name none.
var BootClock = processClock.now

// LocalPipe is how Local connects.
func LocalPipe(b Backend) Connect { return localPipe(b, DefaultSilence) }

// Transport is that of the DB's newest connection.
func (db *DB) Transport() Transport { return db.tr }

// Quiet is after which silence of its own the DB pings.
func (db *DB) Quiet() time.Duration {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.quiet()
}
