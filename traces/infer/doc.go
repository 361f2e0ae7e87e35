// Package infer finds the transactions in a trace, and the files that must
// exist before it can be replayed. It is pure: streams of operations in,
// values out; the same operations give the same result.
//
// # Transactions
//
// Operations are first put in order of time (traces.Reorder). Then each line
// has this effect, where "the open" is the open of that file by that host:
//
//	Open         ends the open, if any, and begins an explicit one
//	Close        ends the open, explicit or implicit; with none it is counted
//	             as unmatched and ignored
//	Block        belongs to the open; with none it begins an implicit one
//	Attr READ    ends the open if it is implicit; a read-only transaction of
//	             its own
//	Attr WRITE   a read/write transaction of its own
//	Dir          a transaction of its own, of the class of its action
//	Delete       ends every host's open of that file; a read/write transaction
//	             of its own that waits for those
//	Lookup       as Attr READ: it brings the attributes with it
//	Rmdir        as Delete
//	Create, Mkdir, Symlink, Link, Rename, Truncate
//	             a read/write transaction of its own; ends nothing
//	Commit       ends the open if that is implicit and contains a Block WRITE,
//	             which makes the data durable; else it is counted as idle and
//	             ignored: an explicit open ends where it is closed, and what
//	             belongs to no open is durable already
//
// An open also ends by itself 120 s after it began, strictly after that
// instant, as a timer would: at the next microsecond. A Block at exactly
// +120 s still belongs to it. The end of the trace ends every open, at the
// time of the last operation.
//
// And it ends before a Block that would bring what is written in it, in whole
// pages of 4 KiB, above MaxWritten: that Block begins another open like it.
//
// An open is read/write if it contains a Block WRITE, else read-only. The
// actions of Open, Close and Delete lines do not count.
//
// With Options.PerOperation every operation is a transaction of its own, the
// Open and Close lines read-only ones that read the inode. Only Commit lines
// are none: what was written is durable already, so all of them are idle.
//
// # Order of events
//
// Events come in order of time. At equal times, ends by timer come first, then
// the events of each line in the order of the lines; of one line, first the
// ends of opens, in the order in which those began, then its own Begin, Do and
// End. Transactions are numbered from 1 in the order of their Begin events. A
// transaction has exactly one Begin and one End, and its Do events are between
// them.
//
// The class of an open is known at its Begin because events are held back
// until it is decided, at most 120 s of trace time.
package infer
