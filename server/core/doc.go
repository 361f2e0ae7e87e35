// Package core decides everything that a Tidemark server decides: which
// transaction commits and at which timestamp, who is told what, and in which
// order. Inputs go in as method calls, effects come out of Take. The package
// is pure: no clock, network, goroutine, lock, randomness or dependence on
// map order. The same inputs in the same order give the same effects.
//
// Sections are those of the protocol text.
//
// # Contract with the embedding
//
// One goroutine at a time calls a Core. First Restore, if there is a checkpoint,
// and Recover, once for each group of the log (behind the checkpoint) in log
// order, then Start, then the other inputs in any order. After
// every input, or after several, the embedding takes the effects and carries
// them out one after another in the order given:
//
//	Send    queue a message on the connection's stream. Messages of one
//	        connection leave in the order of their effects. A StatusReply
//	        may be extended by counters of the embedding before it leaves.
//	Hangup  deliver what is queued if that is quick, then close the
//	        connection. The core has forgotten it already.
//	Append  make the records durable as one group, in order behind all earlier
//	        groups, and then call Durable. At most one is under way. If it
//	        fails, no further input but Take may follow: the server stops.
//	Put     keep a version's data until a Drop of the same version. With
//	        ranges, the data is made from that of the version before, which an
//	        earlier Put brought and no earlier Drop took: Put.Value does it. An
//	        embedding that may not have it at hand then passes it to
//	        ReceiveBased, with the commit.
//	Drop    forget a version's data.
//	Load    fetch the data of versions and call Loaded with one value for
//	        each, nil for no bytes. A version that is dropped meanwhile may
//	        get any value: it is not used. LoadFailed says that it cannot be
//	        had. What is loaded becomes part of a message to a connection,
//	        Blocks blocks in all: the embedding may let a Load wait until that
//	        message has room, and skip it when the connection has ended.
//
// Effects that belong to a connection which the embedding no longer has are
// skipped. A slice returned by Take is valid until the next Take.
//
// A checkpoint is the state that BeginState begins, which NextState returns in
// pieces between other inputs, and the versions that were put and not dropped up
// to BeginState.
//
// A group forms while another is on its way to disk: commits, new sessions,
// leases, pins and the retention horizon queue up until Flush, which the embedding
// calls whenever it has no more input at hand, or Durable closes the group.
// What a pin or the horizon lets go is dropped by Sweep, and most of what a
// connection was registered for when it ended; the embedding calls it until there is
// no more, after a Tick, say: other inputs may come in between.
//
// Data in messages passed to Receive belongs to the core from then on, data in
// effects to the embedding as well; neither ever changes it.
//
// # Invariants
//
// Numbers are those of section 10.
//
//  1. A block's versions have disjoint intervals that cover [0, ∞): package
//     occ keeps them, and apply is its only writer.
//  2. Items to one connection leave in timestamp order, and no message carries
//     a stable timestamp before every item up to it (section 3). Every stable
//     timestamp is stamped by one function, stamp, and apply sends nothing
//     before the items of its group.
//  3. A connection is in a block's holder set exactly if, by its stream, it
//     holds the current version open: registered when a read reply is queued
//     or its commit is applied, removed with the deprecation, with an
//     ItemDropped, or with the connection.
//  7. Nothing is answered or visible before it is durable: apply runs at
//     Durable only. What is assigned but not applied can be thrown away with
//     the connections.
//  8. A (session, number) is applied at most once: it has an entry in the
//     session's outcome table from validation on, and is acknowledged before
//     the entry is trimmed.
//  9. Stable never decreases.
//  10. Every queue has a limit: reads and leases under way per connection,
//     resends waiting per commit, commits per session, sessions, holders per
//     connection, bytes of values and of their index, pins, commits held back. A commit
//     is held back at most once, and for no longer than ReservationTime and two
//     Ticks (see fairness). What a pin or the horizon lets go is dropped in steps
//     of bounded size, and so are the registrations of connections that ended,
//     at least two of them whenever one is made.
//
// # Three numbers
//
// A commit timestamp counts transactions. Sessions, leases and horizons are
// records of the log as well, but take no timestamp. The position of a group
// in the log is a third number, which this package never sees.
package core
