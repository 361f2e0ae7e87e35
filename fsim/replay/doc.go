// Package replay turns the transactions that package infer finds in a trace
// into transactions of a Tidemark client on a file system.
//
// A Plan says what has to exist before the trace begins; Build makes it. A
// Runner is then fed the trace's events at the times that its caller chooses:
// the simulator at the simulated times, a live run as fast as its hosts
// keep up. Each transaction of the trace runs as one coroutine or goroutine,
// which the caller's Exec provides.
//
// When a transaction aborts, it begins anew at once, runs the operations that
// it has had so far again, and goes on with those that come.
//
// Files are named by handles, as an NFS server does: an operation goes
// straight to the inode. Names exist too, those that the trace tells and else
// /hh/fid with 256 directories hh, but only what looks up, makes, renames or
// removes entries touches them.
package replay
