// Package salvage makes a new store from what is whole in the directory of a
// damaged one, and says what is lost. It never writes to the old directory.
//
// # What a salvaged store is
//
// It holds one version of each block, the newest that could be had, under a
// raised epoch, by which clients notice. What the old store knew besides is
// gone: superseded versions, pinned timestamps, sessions with the outcomes of
// their transactions.
//
// The result is consistent if it is the state at one timestamp: every
// transaction up to it is in it, and none behind it. Timestamps have no gaps,
// so a missing transaction shows, whatever else is missing. The state comes
// from a base and the transactions in the log behind it. The base is, in this
// order,
//
//  1. the newest checkpoint whose index file is whole. A header need not name
//     it: its state says of which timestamp it is, and it was written when all
//     data that it names were durable;
//  2. nothing, for a log that begins with the first transaction.
//
// Transactions behind the first missing one are left out, unless
// Options.Beyond asks for them. With it, and if there is no base at all, each
// block gets its newest version of which whole data is found, in a slot of the
// block file or in the log, whatever became of other blocks. The result is not
// consistent then, and marked so. A block whose newest version has no bytes
// has no slot, and can come back with an older version.
//
// # Lost blocks
//
// Data that the base names and that are damaged are sought in all slots of the
// block file, where they may stand a second time, and in the log. If they are
// in neither, the block has an older version, or zeros if there is none, and is
// listed. It is not lost any more if a later transaction wrote all of it. A
// transaction that wrote only ranges of a block is applied only to the very
// version that it was made for; on any other, the result would be data that
// the block never had. So every block holds data that it had once, or zeros and
// is listed.
//
// Memory: some 50 MiB, 35 bytes for a block, and 50 for one that is lost.
package salvage
