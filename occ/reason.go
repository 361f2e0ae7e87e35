package occ

// AbortReason says why a read/write transaction did not commit. The values
// are counted apart in every report; the list is append-only.
type AbortReason uint8

const (
	// NotAborted is the zero value.
	NotAborted AbortReason = iota
	// AbortConflict: the server's backward validation found that a version
	// in the read set is no longer its block's newest.
	AbortConflict
	// AbortActive: the client learned of such an overwrite while the
	// transaction was still running, and ended it early.
	AbortActive
	// AbortDisconnected: the connection was lost before the commit was
	// queued, so the open versions it had read can no longer be trusted.
	AbortDisconnected
	// AbortByCaller: the owner of the transaction gave it up.
	AbortByCaller
	// AbortRefused: the server would not take the commit (a limit, a full
	// store).
	AbortRefused
	// AbortStoreChanged: after a reconnection the server turned out to have
	// another store, or an older state of it, so that nothing the client
	// knew holds any more.
	AbortStoreChanged

	// AbortReasons is how many values there are.
	AbortReasons = iota
)

var abortNames = [...]string{"none", "conflict", "active", "disconnected", "caller", "refused", "store changed"}

// String returns the reason as it is printed in reports.
func (r AbortReason) String() string {
	if int(r) < len(abortNames) {
		return abortNames[r]
	}
	return "unknown"
}

// Faults are switched on by tests only, to show that the history checker
// notices when a rule of the protocol is broken. The zero value breaks
// nothing.
type Faults struct {
	// ForgetPending makes validation ignore transactions that are validated
	// but not yet durable.
	ForgetPending bool
	// SkipReadCheck makes validation ignore the read set.
	SkipReadCheck bool
	// LoseDeprecation makes the server drop every deprecation.
	LoseDeprecation bool
	// StableAhead makes the server announce a new stable timestamp before
	// the deprecations that belong to it.
	StableAhead bool
	// FloorNotRaised makes the client forget its causality floor.
	FloorNotRaised bool
}
