// Package record is the content of the commit log: what one group says, and
// its bytes. It is pure: bytes in, values or a typed error out.
//
// A reader that applies all groups in log order reaches the state of the
// server that wrote them; whatever such a reader must know is a record. The
// package knows nothing of files, checksums or log positions: those belong to
// the log entry that carries a group (package wal), whose header also names
// the store, the epoch, the log index and the predecessor.
//
// # Encoding
//
// The encoding is canonical: a group has exactly one, and the decoder refuses
// every other. Format versions 1 to 3, frozen:
//
//	group      = version records
//	version    = one byte: 3 if a record is a pin or an unpin, else 2 if one
//	             is a patch commit, else 1
//	records    = varint(count), then count times: kind, body
//	kind       = one byte
//
//	kind  record      body
//	   1  Commit      varint(At) session varint(Seq) varint(Acked) digest writes
//	   2  Session     session
//	   3  SessionEnd  session
//	   4  Lease       session varint(First) varint(Count)
//	   5  Trim        session varint(UpTo)
//	   6  Horizon     varint(At)
//	   7  Epoch       varint(Epoch)
//	   8  Commit      as kind 1, but with patches in place of writes; only if
//	                  a write is of ranges, and only from version 2 on
//	   9  Pin         varint(At) varint(Lease) name; only in version 3
//	  10  Unpin       name; only in version 3
//
//	session    = 16 bytes
//	name       = varint(length) and so many bytes: 1 to 255
//	digest     = 4 bytes, little-endian
//	writes     = varint(count), then count times: varint(block) varint(length) data
//	data       = length bytes, the last of which is not zero
//	patches    = varint(count), then count times: varint(block) and either
//	             varint(length * 2) data, for a whole block, or
//	             varint((number of ranges - 1) * 2 + 1) ranges
//	ranges     = for each: varint(gap) varint(length - 1) bytes
//	gap        = of the first range its offset, of each other the number of
//	             bytes between it and the one before, less 1
//	bytes      = length bytes, the last of which may be zero
//	varint     = base 128, least significant group first, the top bit of each
//	             byte says that another follows; at most 10 bytes, value below
//	             2^64, no superfluous zero group at the end
//
// The zeros at the end of a block are not stored: a block of zeros has length
// 0, and the reader pads with zeros to the block size of the store. Ranges
// stand for the block's version just before the commit, overwritten by them;
// they are in order of their offsets, do not touch, and end at 1 MiB at the
// latest. A reader that applies commits in order has that version at hand,
// because a version is dropped only by a horizon at or behind its end. Nothing
// may follow the last record. Kinds are never reused; a new kind or a changed
// body takes a new format version, and a reader refuses versions that it does
// not know, because skipping what it does not understand would leave it in
// another state than the writer.
//
// # State
//
// A State is what a reader knows besides the versions of blocks, so that it can
// begin at a checkpoint instead of the first group. Its encoding is canonical
// too. Format version 1, frozen:
//
//	state      = version varint(Stable) varint(Horizon) varint(Epoch)
//	             varint(Next) sessions pins
//	version    = one byte: 1
//	sessions   = varint(count), then count times: session varint(Mark)
//	             varint(Next - Mark - 1) outcomes
//	outcomes   = varint(count), then count times: varint(Seq - s - 1)
//	             varint(At - t - 1) digest, where s and t are Seq and At of
//	             the outcome before, of the first Mark and 0
//	pins       = varint(count), then count times, in the order of their
//	             names: name varint(At) varint(Lease)
//
// Next of a session is at least Mark + 1 and above all Seq.
package record
