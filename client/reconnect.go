package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ/wire"
)

// helloTimeout bounds how long a server may take to welcome the client on a
// connection that replaces a lost one.
const helloTimeout = 10 * time.Second

// connection is the Receiver of one connection. What comes from one that has
// been replaced is discarded (protocol, section 3).
type connection struct {
	db        *DB
	blockSize int // as of the welcome; only the receiving goroutine uses it
}

// errReplaced ends a connection that is no longer the DB's.
var errReplaced = errors.New("another connection has taken over")

// Receive implements Receiver.
func (c *connection) Receive(body []byte) error {
	m, err := wire.DecodeWith(body, c.blockSize)
	if err != nil {
		return err
	}
	db := c.db
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.conn != c {
		return errReplaced
	}
	db.traffic.count(&db.traffic.Received, m.Type(), len(body))
	if err := db.core.Receive(m); err != nil {
		return err
	}
	if _, ok := m.(*wire.Welcome); ok {
		c.blockSize = db.core.BlockSize()
		db.lost = nil
	}
	db.flush() // commits that are sent again, before anything else, or were held back
	return nil
}

// Lost implements Receiver.
func (c *connection) Lost(cause error) {
	db := c.db
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.conn != c {
		return
	}
	db.conn = nil
	wasOnline := db.core.Online()
	db.core.Disconnect()
	db.lost = cause
	switch {
	case db.closed || db.opts.NoBackground:
		db.core.GiveUp()
	case wasOnline:
		db.background.Go(db.reconnect)
	}
}

// open makes a connection and has the server welcome the client on it. After
// an error nothing of the attempt is left, and nobody else will reconnect.
func (db *DB) open(ctx context.Context) error {
	conn := &connection{db: db}
	db.mu.Lock()
	if db.conn != nil { // whatever it vouched for ends here
		db.core.Disconnect()
	}
	db.conn = conn // a server may refuse the connection before it is asked
	db.mu.Unlock()
	tr, err := db.connect(ctx, conn)
	db.mu.Lock()
	var old Transport
	switch {
	case err != nil:
	case db.conn != conn:
		err = db.lost
	default:
		old, db.tr = db.tr, tr
		call := tr.NewCall()
		if _, err = db.answer(ctx, call, db.core.Hello(call, db.clock())); errors.Is(err, core.ErrOffline) {
			err = db.lost
		}
	}
	if err != nil && db.conn == conn {
		db.conn = nil // so that its end starts nothing
		db.core.Disconnect()
	}
	db.mu.Unlock()
	if old != nil {
		old.Close() // it has ended; how does not matter any more
	}
	if err != nil && tr != nil {
		tr.Close()
	}
	return err
}

// settled is how long a connection must have lived for the next one to be made
// without a pause.
const settled = time.Second

// reconnect replaces a lost connection. It tries until the DB is closed or
// the server has another store. Connections that are lost again at once count
// as failed attempts.
func (db *DB) reconnect() {
	db.mu.Lock()
	attempt := 0
	if time.Since(db.welcomed) < settled {
		attempt = db.attempts
	}
	tr, pause := db.tr, time.Duration(0)
	if attempt > 0 {
		pause = reconnectPause(attempt, db.rng)
	}
	db.mu.Unlock()
	if pause > 0 && tr.Await(db.life, nil, pause) != nil {
		return
	}
	for attempt++; db.life.Err() == nil; attempt++ {
		ctx, cancel := context.WithTimeout(db.life, helloTimeout)
		err := db.open(ctx)
		cancel()
		db.mu.Lock()
		if err == nil {
			db.attempts, db.welcomed = attempt, time.Now()
			db.mu.Unlock()
			return
		}
		var refused *core.Refusal
		if errors.As(err, &refused) && refused.Code == wire.CodeWrongStore {
			db.core.LeaveStore()
		}
		db.lost = err
		pause := reconnectPause(attempt, db.rng)
		tr := db.tr
		db.mu.Unlock()
		if tr.Await(db.life, nil, pause) != nil {
			return
		}
	}
}

// awaitServer waits until there is a connection on which the server has
// welcomed the client. The caller holds mu, which is released meanwhile.
func (db *DB) awaitServer(ctx context.Context, call Call, noWait bool) error {
	for {
		switch {
		case db.closed:
			return ErrClosed
		case db.core.Changed() != nil:
			return &StoreChangedError{*db.core.Changed()}
		case db.core.Online():
			return nil
		case db.opts.NoBackground || noWait:
			return db.disconnected()
		}
		db.core.AwaitServer(call)
		if err := db.await(ctx, call, 0); err != nil {
			db.core.StopAwaiting(call)
			return err
		}
	}
}

// disconnected is the error of something that needs the server now.
func (db *DB) disconnected() error {
	if db.lost == nil {
		return ErrDisconnected
	}
	return fmt.Errorf("%w: %w", ErrDisconnected, db.lost)
}

// AcceptStore goes on after an *StoreChangedError, with the store as the
// server has it now. Nothing of what the DB knew before is kept.
func (db *DB) AcceptStore() {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.core.Accept()
}
