// Package inspect looks at the directory of a store while no server uses it:
// Check says whether a server would start, and names every damaged place;
// Dump prints what the directory holds. Neither creates, changes or removes
// anything, and both go on past damage as far as whole log entries can be
// found.
//
// Check sees what a server sees when it starts: the store file (package
// storedir), the newest checkpoint (package blockdir), the commit log (package
// wal), the records in its entries (package record), and whether each can
// follow those before it (package core). Besides it reads all data that the
// checkpoint names, which a server reads only when they are wanted. Its memory
// grows with the number of versions, not with their data: about 13 bytes for a
// block, and a bit for each slot. Dump holds one log entry.
package inspect
