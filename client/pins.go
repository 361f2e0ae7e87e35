package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// PinOptions say what is pinned and for how long.
type PinOptions struct {
	// At is the timestamp to pin: one that can be read now. 0 means the newest:
	// everything committed before the call.
	At occ.Timestamp
	// Lease is how long the server keeps the pin, by its own clock and from the
	// start again when it restarts; 0 means until Unpin. Pinning the same
	// timestamp under the same name again begins a lease anew.
	Lease time.Duration
}

// maxPinName is the longest name of a pin, in bytes.
const maxPinName = 255

// Pin has the server keep the store as it is at a timestamp, under a name, until
// Unpin or the end of a lease; it returns the timestamp once that is durable.
// Transactions read it by At or AtSnapshot, however old it becomes.
//
// It fails with ErrPinned if the name stands for another timestamp, with
// ErrPinName if it is none, with ErrGone if the timestamp has left the retention
// window, with a *FutureError if it is to come, and with a *core.Refusal if there
// are too many pins.
func (db *DB) Pin(ctx context.Context, name string, o PinOptions) (occ.Timestamp, error) {
	switch {
	case name == "":
		return 0, errors.New("a pin without a name")
	case o.Lease < 0:
		return 0, fmt.Errorf("a negative lease (%v)", o.Lease)
	}
	if err := checkLimit("name of a pin", uint64(len(name)), maxPinName); err != nil {
		return 0, err
	}
	at := o.At
	if at == 0 {
		m, err := db.query(ctx, db.opts.NoWait, db.core.Ping)
		if err != nil {
			return 0, err
		}
		at = m.(*wire.Pong).Stable
	} else if err := db.reach(ctx, at, db.opts.NoWait); err != nil {
		return 0, err
	}
	// Asked again after a lost connection it is the same pin.
	_, err := db.query(ctx, db.opts.NoWait, func(w core.Waker, now time.Duration) *core.Query {
		return db.core.Pin(w, name, at, o.Lease, now)
	})
	if err != nil {
		return 0, snapshotError(name, err)
	}
	return at, nil
}

// Unpin takes back a pin. It fails with ErrNoPin if there is none of that name.
func (db *DB) Unpin(ctx context.Context, name string) error {
	if name == "" {
		return &PinError{Cause: ErrNoPin}
	}
	asked := 0
	_, err := db.query(ctx, db.opts.NoWait, func(w core.Waker, now time.Duration) *core.Query {
		asked++
		return db.core.Unpin(w, name, now)
	})
	err = snapshotError(name, err)
	if asked > 1 && errors.Is(err, ErrNoPin) {
		return nil // a lost connection took the answer
	}
	return err
}

// Pin is a pinned timestamp.
type Pin = wire.PinInfo

// PinList are the pinned timestamps of a store.
type PinList struct {
	// Oldest is the oldest timestamp from which on all can be read.
	Oldest occ.Timestamp
	// Pins are in the order of their names.
	Pins []Pin
}

// Pins returns what is pinned.
func (db *DB) Pins(ctx context.Context) (PinList, error) {
	var list PinList
	for after, last := "", false; !last; {
		m, err := db.pinsBehind(ctx, after, db.opts.NoWait)
		if err != nil {
			return PinList{}, err
		}
		list.Oldest, list.Pins, last = m.Horizon, append(list.Pins, m.Pins...), m.Last
		if !last {
			after = m.Pins[len(m.Pins)-1].Name
		}
	}
	return list, nil
}

func (db *DB) pinsBehind(ctx context.Context, after string, noWait bool) (*wire.PinsReply, error) {
	m, err := db.query(ctx, noWait, func(w core.Waker, now time.Duration) *core.Query {
		return db.core.Pins(w, after, now)
	})
	if err != nil {
		return nil, err
	}
	return m.(*wire.PinsReply), nil
}

// pinned returns the timestamp that is pinned under a name.
func (db *DB) pinned(ctx context.Context, name string, noWait bool) (occ.Timestamp, error) {
	for after, last := name[:max(0, len(name)-1)], false; !last; { // the names behind include it
		m, err := db.pinsBehind(ctx, after, noWait)
		if err != nil {
			return 0, err
		}
		for _, p := range m.Pins {
			if p.Name == name {
				return p.At, nil
			}
			after = p.Name
		}
		last = m.Last || after > name
	}
	return 0, &PinError{Name: name, Cause: ErrNoPin}
}

// reach makes sure that the DB knows the store up to at, which costs a ping if
// it has not heard of it. If the server has not got there it is a *FutureError.
func (db *DB) reach(ctx context.Context, at occ.Timestamp, noWait bool) error {
	db.mu.Lock()
	glub := db.core.GLUB()
	db.mu.Unlock()
	if at > glub {
		m, err := db.query(ctx, noWait, db.core.Ping)
		if err != nil {
			return err
		}
		glub = m.(*wire.Pong).Stable
	}
	if at > glub {
		return &FutureError{At: at, Newest: glub}
	}
	return nil
}

// ChangesOptions say which changes are asked for.
type ChangesOptions struct {
	// Since and At are the timestamps that are compared. At must be readable:
	// inside the retention window, or pinned.
	Since, At occ.Timestamp
	// First is the first block that is looked at.
	First occ.BlockID
	// Limit is how many blocks are returned at most; 0 means as many as the
	// server gives at once.
	Limit uint64
}

// Changes are blocks whose version at one timestamp began after another.
type Changes struct {
	// Blocks are in ascending order, each with the start of its version.
	Blocks []occ.Read
	// Last says that there are no more; else they are to be asked for with
	// First = Next. There may be more although Blocks is empty.
	Last bool
	Next occ.BlockID
}

// Changes returns blocks that were written between two timestamps, with one
// request: what an incremental backup has to read. It fails with ErrGone if At
// cannot be read.
func (db *DB) Changes(ctx context.Context, o ChangesOptions) (Changes, error) {
	if err := db.reach(ctx, o.At, db.opts.NoWait); err != nil {
		return Changes{}, err
	}
	ask := wire.Changes{First: o.First, Since: o.Since, At: o.At, Limit: o.Limit}
	if ask.Limit == 0 {
		ask.Limit = wire.MaxEntries
	}
	m, err := db.query(ctx, db.opts.NoWait, func(w core.Waker, now time.Duration) *core.Query {
		return db.core.Changes(w, ask, now)
	})
	if err != nil {
		return Changes{}, snapshotError("", err)
	}
	r := m.(*wire.ChangesReply)
	return Changes{Blocks: r.Blocks, Last: r.Last, Next: r.Next}, nil
}
