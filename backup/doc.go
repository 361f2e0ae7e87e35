// Package backup is the form of a backup: what a store was at one timestamp,
// or what changed since an earlier one, as a stream that is written and read
// from its beginning to its end in bounded memory.
//
// A backup is a header, frames of records, and a frame that ends it. Integers
// of fixed size are little-endian, uvarints are those of encoding/binary in
// their shortest form, checksums are CRC-32C. Format version 1, frozen.
//
// The header has 68 bytes:
//
//	offset  bytes  field
//	     0      8  magic "TIDEBKUP"
//	     8      4  format version
//	    12      4  block size in bytes
//	    16     16  store id
//	    32      8  epoch of the server it was taken from
//	    40      8  the timestamp that it is of
//	    48      8  the timestamp since which it has what changed; 0: it is full
//	    56      8  the first block id that had never been leased
//	    64      4  checksum of bytes 0 to 63
//
// In every later version the magic and the version keep place and meaning. A
// frame is a head of 16 bytes and a payload:
//
//	offset  bytes  field
//	     0      4  kind: 1 records, 2 end
//	     4      4  length of the payload, at most 1,048,608
//	     8      4  number of the frame, from 0
//	    12      4  checksum of bytes 0 to 11 and the payload
//
// A frame of records holds at least one; each is
//
//	block uvarint   in the first record of a frame; then, how much larger
//	                it is than that before, at least 1
//	from uvarint    the timestamp at which this version of the block begins
//	size uvarint    bytes of data
//	data            without the zeros at the end of the block
//
// Blocks ascend through the whole backup, and from is above the timestamp of
// bytes 48 to 55 of the header and at most that of bytes 40 to 47. The frame
// that ends a backup has the payload
//
//	offset  bytes  field
//	     0      8  records
//	     8      8  bytes of data
//	    16     32  SHA-256 of the backup up to the head of this frame
//
// and nothing follows it.
package backup
