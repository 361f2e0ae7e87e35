// Package wal is the commit log: opaque payloads, durable in order.
//
// Log is what the server uses. Disk keeps the entries in files, by
// github.com/tidwall/wal behind a format of our own; Memory keeps them in
// memory.
//
// # Files
//
// A log directory holds segments and, once it has an entry, the file "bounds"
// (older programs wrote it when the log rolled). A segment is named by the
// index of its first entry in 20 decimal digits, and holds entries one after
// another, each as
//
//	varint(length of the entry)   written by the library
//	entry
//
// One entry is one group of the commit log. Integers are little-endian.
// Format version 1, frozen:
//
//	offset  bytes  field
//	     0      4  magic d7 54 4d 9c
//	     4      4  format version
//	     8     16  store id
//	    24      8  epoch of the writer, never less than the predecessor's
//	    32      8  log index; equal to the library's index of the entry
//	    40      4  payload length, at most MaxPayload
//	    44      4  checksum of the predecessor entry, 0 in the first
//	    48      4  checksum: CRC-32C of bytes 0 to 47 and the payload
//	    52         payload
//
// In every later version all fields of the header keep place and meaning, so
// that an old program can tell a newer log from a damaged one. The checksum of the predecessor makes the entries a chain: an
// entry that is whole proves which entries came before it.
//
// "bounds" says what a directory listing cannot: which segments must exist,
// and that the first of them has an entry.
//
//	 0      4  magic d7 54 4d b0
//	 4      4  format version
//	 8      8  no entry before this index was trimmed away
//	16      8  a segment that begins here, or later, exists
//	24      4  CRC-32C of bytes 0 to 23
//
// # Opening
//
// The library has no checksums and believes what it finds, so every byte is
// verified before it sees the directory. Verification streams: it holds one
// buffer, whatever lengths the files announce. It changes nothing on disk
// until it has seen everything.
//
// The library syncs a segment before it creates the next one. So damage in a
// segment that has a successor, a gap between segments, and a missing segment
// are corruption: entries that were durable are gone, and Open refuses with a
// CorruptError. Damage in the last segment is corruption if any whole entry
// that can belong to this log follows it; if none does, it is the torn end of
// an append that nobody was told of, and it is cut off. A flipped bit in the
// very last entry cannot be told from a torn append and is cut off too.
//
// What is kept of the last segment is written anew and synced before it is
// used: after a sync that failed, the operating system may show bytes that
// are not on disk.
//
// # What is not promised
//
// Nothing here locks the directory against a second process; package
// storedir does. A damaged file is refused, never repaired by guessing.
package wal
