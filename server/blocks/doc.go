// Package blocks keeps the data of a store's versions, on disk and in memory,
// and makes checkpoints of them, so that the commit log before a checkpoint
// can go. It decides nothing about versions: which of them there are is said
// by Put, PutDamaged and Drop.
//
// # What is promised
//
//  1. The data of a version that was put and not dropped can be read until
//     Close: the bytes that were put, or an error, never others.
//  2. After a crash at any moment Open finds the last checkpoint that Step
//     reported as done, or a newer one, exactly: log index, stable, state, and
//     the versions of its moment with their data.
//  3. What is damaged is reported as a *CorruptError; nothing else is lost by
//     it.
//
// What was put after the moment of the last checkpoint is lost in a crash. It
// is in the commit log, from which the caller puts it again.
//
// # Files
//
//	header                  two header slots, written in turn
//	blocks                  slots of one block each
//	index-0123456789abcdef  the index of the checkpoint of this number, and its state
//
// Package layout has their formats. A slot that a checkpoint names is not
// written again as long as that checkpoint can be opened. A checkpoint is made
// in this order, each a bounded number of bytes per Step:
//
//  1. the versions of its moment that are only in memory go to free slots;
//  2. if the block file has more than 7 slots for 4 versions, versions at its
//     end are copied to free slots at its beginning, damaged ones as they are:
//     they stay damaged, and all that is left of them is kept. A slot that
//     cannot be read at all stays where it is;
//  3. the block file is synced;
//  4. the index file is written, the state first, and synced, then the directory;
//  5. the header is written and synced: the checkpoint exists;
//  6. the index file of the one before is removed, and the directory synced:
//     the checkpoint is the only one. The log behind it may go;
//  7. what was dropped meanwhile is dropped, slots become free, and the free
//     end of the block file is cut off.
//
// So two checkpoints can be opened between 5 and 6, at all other times one.
// Opening takes the valid header with the highest number. If that one has been
// damaged, the header before it names an index file that 6 has removed, which
// is noticed. A header counts only after it was written again and synced: one
// that was written before a failed sync may be in the machine's memory alone.
//
// # Failures
//
// An error of writing, syncing, truncating or removing, or of the state that a
// Step reads, poisons the Store:
// Step, WriteBack and Begin return ErrPoisoned with the cause from then on,
// since after a failed sync nothing is known about what was to become
// durable, and trying again would prove nothing. The checkpoint before stays
// valid. Put, Drop, Get and Read go on working, so that the server can end in
// order; opening the store again begins from what the disk holds.
//
// # Concurrency
//
// All methods may be called from any goroutine. Put, Drop, Get and Begin never
// wait for the disk: one mutex guards what is in memory, and it is held for
// bounded moments without any I/O. Step and WriteBack exclude each other. Step
// reads the state of a checkpoint from the caller: whatever that waits for must
// not wait for a Step or a WriteBack, nor for Close.
// There are no goroutines here: whoever embeds the Store calls Step.
package blocks
