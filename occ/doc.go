// Package occ is the vocabulary of the protocol and its decisions, as pure
// functions of their arguments: block ids, timestamps, intervals, the index
// of versions with backward validation, and the rule by which a read-only
// transaction narrows the timestamps at which it can have run.
//
// It imports nothing of Tidemark; everything else may import it. The protocol
// is docs/protocol.md, whose section 10 numbers the invariants that comments
// refer to:
//
//  1. At the server, a block's versions have disjoint intervals that cover
//     [0, ∞).
//  2. On every connection, items come in timestamp order, and no message shows
//     a stable timestamp before every item up to it.
//  3. A version that a client holds open is the server's version at every
//     timestamp from its start to the client's GLUB.
//  4. Every version that a finished read-only transaction read is valid at
//     every timestamp of [lo, hi], and lo is no older than its bound allows.
//  5. Every version that a committed transaction read was valid just before
//     it.
//  6. Through one client, a transaction that began after another ended has a
//     timestamp at least as large.
//  7. Acknowledged commits survive any crash; others survive wholly or not.
//  8. A commit is applied at most once, and never told to have failed.
//  9. GLUB and stable never decrease.
//  10. No client delays another one's commit without bound.
//  11. What a running read/write transaction has read is valid at one
//     timestamp.
package occ
