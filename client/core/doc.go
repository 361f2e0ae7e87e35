// Package core decides everything that a Tidemark client decides: which
// cached version a transaction may read, what to ask the server, when a
// transaction must abort, and what it means when a message arrives
// (protocol, sections 3 to 6 and the client's half of 8).
//
// It is pure: no clock (local time is an argument), no network (messages go
// in through Receive and out through TakeMessages), no goroutine and no lock.
// The caller serializes all calls on one Core, and never waits inside one. A
// transaction that has to wait is told so by a result; when what it waits for
// has arrived, its Waker is called from inside Receive, Disconnect or
// whatever ended the wait.
//
// What must stay true, with the invariants of section 10 in brackets:
//
//   - A version whose To is occ.Open is its block's content at every
//     timestamp from From to the GLUB [3]. To becomes a number only through
//     a deprecation, an own commit, a To in a reply, or a disconnect.
//   - The GLUB rises only at the end of a message, after all its items [2, 9].
//   - Versions stay in the index while a running transaction has read them,
//     evicted or not, so that deprecations are matched against read sets.
//   - Until a read-only transaction knows its lower bound, nothing is read
//     from the cache on its behalf [4].
//   - A commit that was queued is decided by the server alone [8].
package core
