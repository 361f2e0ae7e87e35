package client

import (
	"context"
	"errors"

	"github.com/tidemark/tidemark/occ"
)

// place is the timestamp that a transaction is to run at, or the name of it.
type place struct {
	at    occ.Timestamp
	named bool
	name  string // of a pin
}

// At makes a read-only transaction run at exactly the timestamp at, however
// old: it reads the store as it was directly after the transaction that
// committed at at. What is cached and was valid then is read from the cache,
// even if the server has forgotten it meanwhile; everything else must be inside
// the server's retention window, or at must be pinned, else reads fail with a
// *GoneError. View does not run its function again for that.
//
// Freshness and Token do not apply to such a transaction, and it may lie before
// others that the DB has finished: going back is what it is for. Later
// transactions see what it saw. A timestamp that the server has not reached is
// a *FutureError.
func At(at occ.Timestamp) TxOption { return TxOption{place: &place{at: at}} }

// AtSnapshot is At for the timestamp that is pinned under a name, which costs a
// round trip to find out. If there is none, the error matches ErrNoPin.
func AtSnapshot(name string) TxOption { return TxOption{place: &place{named: true, name: name}} }

var errNotReadOnly = errors.New("only a read-only transaction runs at a chosen timestamp")

// find returns the timestamp of p, which the DB knows of then.
func (db *DB) find(ctx context.Context, p *place, noWait bool) (occ.Timestamp, error) {
	at := p.at
	if p.named {
		var err error
		if at, err = db.pinned(ctx, p.name, noWait); err != nil {
			return 0, err
		}
	}
	return at, db.reach(ctx, at, noWait)
}
