// Package disk is the file system as the store of blocks sees it: one flat
// directory of files that are read and written at offsets.
//
// OS is a real directory. Memory is a directory in memory that forgets what
// was not synced when it crashes, and can crash at any operation. Faulty is a
// wrapper around either that makes chosen operations go wrong. Memory and
// Faulty serve tests; they are ordinary code, so that tests of every package
// may use them.
//
// What may be relied on, and what Memory models:
//
//   - What was written to a file survives a crash once Sync of that file has
//     returned nil. Before that, each aligned sector of SectorSize bytes of
//     each write survives or not by itself, as does a change of the file's
//     size; a sector is never torn.
//   - That a file was created, renamed or removed survives a crash once
//     SyncDir has returned nil. Before that, each such change survives or
//     not by itself. Syncing a file does not sync its name.
//   - Changes survive in the order in which they were made: a later write to
//     a sector, if both survive, wins.
//   - After a failed Sync nothing is known about what it was to make durable,
//     and a later Sync that succeeds says nothing about it.
//
// Files and directories may be used by several goroutines.
package disk
