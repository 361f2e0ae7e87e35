// Package binary reads and writes traces in a compact binary form, which is
// for replaying one trace many times: it is about a tenth of the text and
// several times faster to read. Nothing of an operation is lost, its place and
// its line number neither, so a replay, in which the line number decides what
// bytes are written, is the same to the byte as that of the original. What the
// original's reader counted on the side, such as skipped lines, is not kept.
//
// # The file
//
// All fixed-width numbers are little-endian. Checksums are CRC-32C
// (Castagnoli). A file is a header, any number of blocks, and the end:
//
//	header  magic     8 bytes  8f 54 4d 4f 50 53 0d 0a
//	        version   u32      1
//	        checksum  u32      of the 12 bytes before
//	block   length    u32      bytes of the payload, 1 to 65,536
//	        count     u32      operations in the payload, at least 1
//	        checksum  u32      of number (u64), length, count and payload
//	        payload
//	end     length    u32      0
//	        count     u64      operations in the whole file
//	        checksum  u32      of number (u64), length and count
//
// The number, which is not stored, is that of the block from 0; the end has
// that of the block that would come next. So a block that is missing, repeated
// or out of its place fails like one that is damaged. Nothing follows the end,
// and a file without it has been cut.
//
// # A payload
//
// A payload is the operations one after the other. Each block can be decoded
// without those before it. Numbers are varints as encoding/binary has them,
// signed ones in zigzag, differences in arithmetic modulo 2^64:
//
//	tag    1 byte   bits 0 to 4: the kind; 32: has a place; 64: the host is that
//	                of the operation before; 128: the line is one more than that
//	                of the operation before
//	time   signed   difference to the operation before, microseconds
//	line   signed   difference to the operation before, unless bit 128 is set
//	host   varint   unless bit 64 is set
//	file   handle
//	off    signed   difference to the end of the last operation on that handle
//	size   varint
//	place  place    if bit 32 is set
//
// The kinds are 2 (type - 1) + action for the six types of the Auspex format,
// from 0 to 11, and 12 to 20 for the types beyond it, whose action is given.
// Before the first operation of a block, time, line, host and all ends are 0.
//
// A handle is a varint n. If n is the number of handles that were new in this
// block so far, it is a new one and 8 bytes follow; if n is less, it is the
// one of that number. In the same way, a place is a varint that tells an
// earlier place of the block or a new one, which then follows:
//
//	dir    handle
//	name   varint length, bytes
//	todir  handle, only of a Rename
//	toname varint length, bytes, only of a Rename
package binary
