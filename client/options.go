package client

import (
	"fmt"
	"time"

	"github.com/tidemark/tidemark/client/core"
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/history"
)

// Mode is the concurrency control of a DB's read-only transactions.
type Mode uint8

const (
	// ReadOptimized runs read-only transactions locally on a snapshot.
	ReadOptimized Mode = iota
	// Conventional validates read-only transactions at the server like all
	// others: conventional optimistic concurrency control, for comparison.
	Conventional
)

// String names the mode as reports do.
func (m Mode) String() string {
	if m == Conventional {
		return "occ"
	}
	return "rococc"
}

// Unbounded is the freshness bound of a read-only transaction that may run
// arbitrarily far in the past.
const Unbounded = core.Unbounded

// Defaults of Options.
const (
	DefaultCacheBytes  = 64 << 20
	DefaultMaxAttempts = 64
	DefaultMaxRestarts = 8
	DefaultSilence     = 30 * time.Second
	MaxTransactions    = 1 << 16 // running at once in one DB
)

// Options configure a DB. The zero value works: read-only transactions are
// local and see everything committed before they began.
type Options struct {
	// Mode is the concurrency control for read-only transactions.
	Mode Mode
	// Freshness is the default bound ε of read-only transactions: how far in
	// the past they may run. At most the server's published limit, or
	// Unbounded.
	Freshness time.Duration
	// CacheBytes bounds the cache, 0 for DefaultCacheBytes. Blocks that
	// running transactions have read are not counted once they are evicted.
	CacheBytes int64
	// MaxAttempts bounds how often Update runs its function, 0 for
	// DefaultMaxAttempts.
	MaxAttempts int
	// NoActiveAborts lets a doomed transaction run until the server refuses
	// it, for comparison. Its function may then see a torn state.
	NoActiveAborts bool
	// NoWait makes transactions fail at once when they need the server and
	// there is no connection; by default they wait for the next one. A commit
	// that was under way is then of unknown outcome, though it is still sent
	// again.
	NoWait bool
	// Refresh, if positive, pings in the background so that a sync point is
	// never much older than this: transactions with a larger freshness bound
	// then find one at hand. It costs a ping every Refresh/2 at most, counted
	// in Stats.Refreshes.
	Refresh time.Duration
	// Silence is how long the server may say nothing before the connection
	// counts as lost, 0 for DefaultSilence. A server answers the client's
	// pings, of which an idle client sends three in that time.
	Silence time.Duration
	// NoBackground starts no goroutine: the DB does not reconnect, refresh,
	// or keep an idle connection in use. Simulators want this.
	NoBackground bool
	// Clock gives the local time that freshness is counted in; it must never
	// go back. nil is the machine's monotonic clock, which keeps counting
	// while the machine sleeps.
	Clock func() time.Duration
	// Seed seeds the random part of the backoff; 0 takes a random one.
	Seed uint64
	// Recorder, if set, receives every finished transaction and attempt
	// under the number Client, for the history checker. It is called with
	// the DB locked and must not use it.
	Recorder history.Recorder
	Client   int
	// Faults breaks rules of the protocol on purpose, in tests of the
	// history checker.
	Faults occ.Faults
}

// silence is Silence or its default.
func (o *Options) silence() time.Duration {
	if o.Silence <= 0 {
		return DefaultSilence
	}
	return o.Silence
}

func (o *Options) fill() error {
	if o.CacheBytes == 0 {
		o.CacheBytes = DefaultCacheBytes
	}
	if o.MaxAttempts == 0 {
		o.MaxAttempts = DefaultMaxAttempts
	}
	if o.Clock == nil {
		o.Clock = processClock.now
	}
	if o.CacheBytes < 0 || o.MaxAttempts < 0 {
		return fmt.Errorf("client options: a negative limit (CacheBytes %d, MaxAttempts %d)", o.CacheBytes, o.MaxAttempts)
	}
	if o.Refresh < 0 || o.Silence < 0 {
		return fmt.Errorf("client options: a negative time (Refresh %v, Silence %v)", o.Refresh, o.Silence)
	}
	if o.Freshness < 0 {
		return fmt.Errorf("client options: a negative freshness bound (%v)", o.Freshness)
	}
	return nil
}

// TxOption sets something for one transaction.
type TxOption struct {
	freshness    time.Duration
	hasFreshness bool
	onAbort      func()
	token        *Token
	noWait       bool
	place        *place
}

// Freshness sets the bound ε of a read-only transaction: it sees everything
// that was committed longer than d before it began. 0 means everything
// committed before it began; Unbounded sets no limit.
func Freshness(d time.Duration) TxOption {
	return TxOption{freshness: d, hasFreshness: true}
}

// NoWait makes the transaction fail at once when it needs the server and there
// is no connection: with a *StaleError if that is for want of a young enough
// sync point.
func NoWait() TxOption { return TxOption{noWait: true} }

// OnAbort has f called once when the transaction is aborted by anything but
// its owner, at the moment the DB learns of it. f runs with the DB locked: it
// must not block and must not use the DB or the transaction.
func OnAbort(f func()) TxOption { return TxOption{onAbort: f} }
